internal import LMDB
internal import LodestoreFormat

/// The attributes of an entity by key path, as predicates name them.
///
/// The attributes are collected once for each entity, since going through a long schema takes as
/// long as lowering a small predicate. The `Sendable` conformance is unchecked, because only key
/// path literals are known to be `Sendable`. The key paths of a schema are such literals.
final class PredicateAttributes: @unchecked Sendable {
  private let byKeyPath: [AnyKeyPath: PredicateAttribute]

  private init<E: Entity>(_ schema: EntitySchema<E>) {
    var byKeyPath: [AnyKeyPath: PredicateAttribute] = [:]
    for attribute in schema.attributes {
      let path = attribute.keyPath as AnyKeyPath
      // If two attributes have the same key path, the first one is used, as in other lookups by key
      // path.
      guard byKeyPath[path] == nil else { continue }
      byKeyPath[path] = PredicateAttribute(
        name: attribute.name, type: attribute.storage.type, keyPath: path)
    }
    self.byKeyPath = byKeyPath
  }

  subscript(path: AnyKeyPath) -> PredicateAttribute? { byKeyPath[path] }

  private static let known = Guarded<[ObjectIdentifier: PredicateAttributes]>([:])

  static func of<E: Entity>(_ type: E.Type) -> PredicateAttributes {
    let key = ObjectIdentifier(type)
    if let attributes = known.withLock({ $0[key] }) { return attributes }
    // The schema is created outside the lock, since it runs code of the program.
    let attributes = PredicateAttributes(E.schema)
    known.withLock { $0[key] = attributes }
    return attributes
  }
}
