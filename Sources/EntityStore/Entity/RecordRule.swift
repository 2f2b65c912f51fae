/// A condition across the attributes of a record, which every record fulfils when it is written.
///
///     @Entity struct Event {
///       var start: Date
///       var end: Date
///       static let rules = [RecordRule<Event>("the end is after the start") { $0.end >= $0.start }]
///     }
///
/// Without macros the schema takes them: `rules: rules`. Checked wherever constraints are, by inserts,
/// updates, batches and imports, in any program, as they are kept in the file; a write that breaks some
/// throws ``StoreError/Code/invalidValue`` with all of them in ``StoreError/violations``. Records that are
/// stored already are not checked when a rule is added.
public struct RecordRule<E: Entity>: Sendable {
  /// What must be, for messages.
  public let name: String
  /// The condition as a format string.
  let condition: @Sendable () throws(StoreError) -> String

  init(name: String, _ condition: @escaping @Sendable () throws(StoreError) -> String) {
    self.name = name
    self.condition = condition
  }
}
