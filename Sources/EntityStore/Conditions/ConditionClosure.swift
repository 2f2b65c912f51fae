internal import LodestoreBytes

/// A part of a condition that only Swift code can evaluate, on the decoded entity.
///
/// Such parts of a `#Predicate` cannot be expressed by ``ConditionTree``. A closure equals only
/// itself. Its `text` is printed in angle brackets, which do not parse as a format string.
final class ConditionClosure: Sendable, Hashable {
  private typealias Test =
    @Sendable (ByteView, UInt64, StoredEntity, any RecordDecoding)
    throws(StoreError) -> Bool

  /// The known part of the closure's source, for plans and errors.
  let text: String
  /// Decodes the entity and calls the program's closure with it.
  private let test: Test

  /// Creates a test of decoded entities of type `E`.
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

  /// Returns whether the closure is true for a record.
  func evaluate(
    _ bytes: ByteView, id: UInt64, of entity: StoredEntity, core: any RecordDecoding
  ) throws(StoreError) -> Bool {
    try test(bytes, id, entity, core)
  }

  static func == (a: ConditionClosure, b: ConditionClosure) -> Bool { a === b }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A transaction that decodes records for closures.
protocol RecordDecoding: AnyObject {
  /// Decodes a record of any layout.
  func decode<E: Entity>(
    _: E.Type, _ bytes: ByteView, id: UInt64, of entity: StoredEntity
  ) throws(StoreError) -> E
}
