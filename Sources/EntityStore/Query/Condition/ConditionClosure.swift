internal import LodestoreBytes

/// A part of a condition that only Swift code can tell, on the decoded entity.
///
/// What `#Predicate` can say and ``ConditionTree`` cannot. Equal only to itself; a format string
/// cannot hold one, so it prints as its `text` in angle brackets, which does not parse.
final class ConditionClosure: Sendable, Hashable {
  private typealias Test =
    @Sendable (ByteView, UInt64, StoredEntity, TransactionCore)
    throws(StoreError) -> Bool

  /// The source as well as it is known, for plans and errors.
  let text: String
  /// The closure behind the decoding of its entity.
  private let test: Test

  /// A closure on entities of type `E`.
  init<E: Entity>(text: String, _ test: @escaping @Sendable (E) throws -> Bool) {
    self.text = text
    self.test = { (bytes, id, entity, core) throws(StoreError) in
      let value = try core.decode(E.self, bytes, id: id, of: entity)
      do {
        return try test(value)
      } catch {
        throw .conditionFailed(entity: entity.name, recordID: id, text: text, error)
      }
    }
  }

  /// Whether the closure is true for a record.
  func evaluate(
    _ bytes: ByteView, id: UInt64, of entity: StoredEntity, core: TransactionCore
  ) throws(StoreError) -> Bool {
    try test(bytes, id, entity, core)
  }

  static func == (a: ConditionClosure, b: ConditionClosure) -> Bool { a === b }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
