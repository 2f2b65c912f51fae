internal import LodestoreFormat

/// An index of `E` over the attributes with values `Value`, for looking up and walking.
///
///     let byName = Pod.index(\.name, \.version)
///     let pod = try snapshot.fetch(byName.key("AFNetworking", "2.0.0"))
///
/// Made once and kept; it does not belong to a store. That the entity has such an index is checked
/// when it is used.
public struct EntityIndex<E: Entity, each Value: Sendable>: Sendable {
  @usableFromInline let attributes: (repeat Attribute<E, each Value>)
  /// Indexes in the schema's attributes; `nil` for what is no stored attribute.
  @usableFromInline let ordinals: [Int?]

  @inlinable
  init(_ attribute: repeat Attribute<E, each Value>) {
    attributes = (repeat each attribute)
    var ordinals: [Int?] = []
    repeat ordinals.append((each attribute).storedOrdinal)
    self.ordinals = ordinals
  }

  /// The key that leads to the records with these values.
  @inlinable
  public func key(_ value: repeat each Value) -> EntityKey<E, repeat each Value> {
    EntityKey(self, repeat each value)
  }

  /// The names of the attributes, joined by `+`.
  var name: String {
    let attributes = E.schema.attributes
    return ordinals.map { $0.map { attributes[$0].name } ?? "?" }.joined(separator: "+")
  }
}

/// The values of a record in all attributes of an index: what ``ReadableTransaction/fetch(_:)`` finds it
/// by.
///
/// `@Entity` writes a function that makes one for each unique index: `Pod.key(name: "AF", version: "1")`.
public struct EntityKey<E: Entity, each Value: Sendable>: Sendable {
  // Not the index itself: a stored generic type with a pack ends the process when the metadata is made
  // (Swift 6.3).
  @usableFromInline let attributes: (repeat Attribute<E, each Value>)
  @usableFromInline let ordinals: [Int?]
  @usableFromInline let values: (repeat each Value)

  @inlinable
  init(_ index: EntityIndex<E, repeat each Value>, _ value: repeat each Value) {
    attributes = index.attributes
    ordinals = index.ordinals
    values = (repeat each value)
  }

  /// The index that the key is of.
  var index: EntityIndex<E, repeat each Value> { EntityIndex(repeat each attributes) }
}

extension Entity {
  /// The index over exactly these attributes, in this order.
  @inlinable
  public static func index<each Value: Sendable>(
    _ path: repeat KeyPath<Attributes, Attribute<Self, each Value>>
  ) -> EntityIndex<Self, repeat each Value> {
    let attributes = attributes
    return EntityIndex(repeat attributes[keyPath: each path])
  }
}

extension Attribute {
  /// Its index in the schema's attributes, if it is stored itself.
  @usableFromInline
  var storedOrdinal: Int? { derived == nil && ordinal >= 0 ? ordinal : nil }

  /// A value as it is stored.
  @inlinable
  func stored(_ value: Value) throws(StoreError) -> StoredValue {
    do { return try coding.store(value) } catch { throw unstorable(error) }
  }

  @usableFromInline
  func unstorable(_ error: any Error) -> StoreError {
    StoreError(
      .unstorableValue, "a value of \(E.schema.name)'s '\(name)' cannot be encoded: \(error)",
      cause: error, entity: E.schema.name, attribute: name)
  }
}

extension TransactionCore {
  func resolve<E: Entity, each Value: Sendable>(
    _ index: EntityIndex<E, repeat each Value>
  ) throws(StoreError) -> (StoredEntity, StoredIndex) {
    let entity = try entity(E.self)
    guard let stored = schema.index(over: index.ordinals, of: entity) else {
      throw .unknownIndex(
        entity: entity.name, attributes: index.name, known: entity.indexes.map(\.name))
    }
    return (entity, stored)
  }
}
