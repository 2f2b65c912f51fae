internal import LodestoreFormat

/// The author of a write, and the part of the program, for the history.
struct WriteOrigin: Sendable {
  var author: String?
  var context: String?
}

/// The records changed by one step of a write, such as a page of an import.
///
/// The history records a step as a separate write.
struct WriteStep: Sendable {
  var entity: EntityNumber
  var ids: IDRuns
  var context: String
}
