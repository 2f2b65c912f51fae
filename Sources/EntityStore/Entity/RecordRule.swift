/// A condition on several attributes of a record, which every record must match when it is written.
///
///     @Entity struct Event {
///       var start: Date
///       var end: Date
///       static let rules = [RecordRule<Event>("the end is after the start") { $0.end >= $0.start }]
///     }
///
/// Without macros, pass the rules to the schema: `rules: rules`. The file stores the rules.
/// Inserts, updates, batches and imports check them in every program, together with the
/// constraints. A write that breaks rules throws ``StoreError/Code/invalidValue`` with all broken
/// rules in ``StoreError/violations``. Adding a rule does not check stored records.
public struct RecordRule<E: Entity>: Sendable {
  /// The requirement in words, for error messages.
  public let name: String
  /// Returns the condition as a format string; throws when the file cannot store the condition.
  let condition: @Sendable () throws(StoreError) -> String

  init(name: String, _ condition: @escaping @Sendable () throws(StoreError) -> String) {
    self.name = name
    self.condition = condition
  }
}
