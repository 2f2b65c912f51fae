/// A part of a condition that only Swift code can tell, on the decoded entity.
///
/// What `#Predicate` can say and ``ConditionTree`` cannot. Equal only to itself; a format string
/// cannot hold one, so it prints as its `text` in angle brackets, which does not parse.
package class ConditionClosure: @unchecked Sendable, Hashable {
  // Unchecked only because it is not final: everything in it and its one subclass is a constant.

  /// The source as well as it is known, for plans and errors.
  package let text: String

  init(text: String) { self.text = text }

  /// Whether the closure is true for a record.
  func evaluate(
    _ bytes: UnsafeRawBufferPointer, id: UInt64, of entity: StoredEntity, core: TransactionCore
  ) throws(StoreError) -> Bool { false }

  package static func == (a: ConditionClosure, b: ConditionClosure) -> Bool { a === b }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A closure on entities of type `E`.
final class EntityClosure<E: Entity>: ConditionClosure, @unchecked Sendable {
  private let test: @Sendable (E) throws -> Bool

  init(text: String, _ test: @escaping @Sendable (E) throws -> Bool) {
    self.test = test
    super.init(text: text)
  }

  override func evaluate(
    _ bytes: UnsafeRawBufferPointer, id: UInt64, of entity: StoredEntity, core: TransactionCore
  ) throws(StoreError) -> Bool {
    let value = try core.decode(E.self, bytes, id: id, of: entity)
    do {
      return try test(value)
    } catch {
      throw .conditionFailed(entity: entity.name, recordID: id, text: text, error)
    }
  }
}
