internal import LMDB
internal import LodestoreFormat

/// The attributes of an entity as predicates name them: by key path.
///
/// Made once for each entity: going through a long schema takes as long as lowering a predicate of a
/// few clauses.
///
/// Unchecked because key paths are Sendable only where they are written; those of a schema are.
final class PredicateAttributes: @unchecked Sendable {
  private let byKeyPath: [AnyKeyPath: PredicateAttribute]

  private init<E: Entity>(_ schema: EntitySchema<E>) {
    var byKeyPath: [AnyKeyPath: PredicateAttribute] = [:]
    for attribute in schema.attributes {
      let path = attribute.keyPath as AnyKeyPath
      // The first, as everywhere.
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
    // Outside the lock: a schema is the author's code.
    let attributes = PredicateAttributes(E.schema)
    known.withLock { $0[key] = attributes }
    return attributes
  }
}
