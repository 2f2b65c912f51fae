internal import LodestoreFormat

/// Who writes, for the history.
struct WriteOrigin: Sendable {
  var author: String?
  var context: String?
}

/// Records that one step of a write has changed, to be told as a write of their own: a page of an import.
struct WriteStep: Sendable {
  var entity: EntityNumber
  var ids: IDRuns
  var context: String
}
