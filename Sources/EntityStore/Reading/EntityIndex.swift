internal import LodestoreFormat

/// An index of `E` over the attributes with values `Value`, for looking up and walking.
///
///     let byName = Pod.index(\.name, \.version)
///     let pod = try snapshot.fetch(byName, key: "AFNetworking", "2.0.0")
///
/// Made once and kept; it does not belong to a store. That the entity has such an index is checked
/// when it is used.
public struct EntityIndex<E: Entity, each Value: IndexableValue>: Sendable {
  /// The positions of the attributes in the schema; `nil` where a key path is no attribute.
  @usableFromInline let positions: [Int?]

  /// The names of the attributes, joined by `+`.
  var name: String {
    let attributes = E.schema.attributes
    return positions.map { $0.map { attributes[$0].name } ?? "?" }.joined(separator: "+")
  }
}

extension Entity {
  /// The index over exactly these attributes, in this order.
  public static func index<each Value: IndexableValue>(
    _ path: repeat KeyPath<Self, each Value>
  ) -> EntityIndex<Self, repeat each Value> {
    var positions: [Int?] = []
    repeat positions.append(schema.index(of: each path))
    return EntityIndex(positions: positions)
  }
}

extension TransactionCore {
  /// The stored index that `index` means.
  func resolve<E: Entity, each Value: IndexableValue>(
    _ index: EntityIndex<E, repeat each Value>
  ) throws(StoreError) -> (StoredEntity, StoredIndex) {
    let entity = try entity(E.self)
    guard let stored = schema.index(over: index.positions, of: entity) else {
      throw .unknownIndex(
        entity: entity.name, attributes: index.name, known: entity.indexes.map(\.name))
    }
    return (entity, stored)
  }
}
