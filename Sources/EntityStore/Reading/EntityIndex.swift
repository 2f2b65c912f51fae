internal import LodestoreFormat

/// An index of `E` over attributes with values `Value`, for lookups and walks.
///
///     let byName = Pod.index(\.name, \.version)
///     let pod = try snapshot.fetch(byName.key("AFNetworking", "2.0.0"))
///
/// Create the value once and keep it; it belongs to no store. A call that uses it throws if the
/// entity has no such index.
public struct EntityIndex<E: Entity, each Value: Sendable>: Sendable {
  @usableFromInline let attributes: (repeat IndexedAttribute<E, each Value>)
  /// The positions of the attributes in the schema; `nil` for an attribute that is not stored.
  @usableFromInline let ordinals: [Int?]

  @inlinable
  init(_ attribute: repeat Attribute<E, each Value>) {
    attributes = (repeat IndexedAttribute(each attribute))
    var ordinals: [Int?] = []
    repeat ordinals.append((each attribute).storedOrdinal)
    self.ordinals = ordinals
  }

  /// Returns the key of the records with these values.
  @inlinable
  public func key(_ value: repeat each Value) -> EntityKey<E> {
    var key = EntityKey<E>()
    repeat key.append(each value, of: each attributes)
    return key
  }

  /// The names of the attributes, joined by `+`.
  static func name(of ordinals: [Int?]) -> String {
    ordinals.map(E.attributeName(at:)).joined(separator: "+")
  }
}

/// An attribute of an index: its place in the schema, and how its values are stored.
@usableFromInline
struct IndexedAttribute<E: Entity, Value>: Sendable {
  /// The position of the attribute in the schema; `nil` for an attribute that is not stored.
  @usableFromInline let ordinal: Int?
  @usableFromInline let coding: any AttributeCoding<Value>.Type

  @inlinable @inline(__always)
  init(_ attribute: Attribute<E, Value>) {
    ordinal = attribute.storedOrdinal
    coding = attribute.coding
  }

  /// Returns a value as it is stored.
  @inlinable @inline(__always)
  func stored(_ value: Value) throws(StoreError) -> StoredValue {
    do { return try coding.store(value) } catch { throw E.unstorableValue(at: ordinal, error) }
  }
}

extension Entity {
  /// Returns the index over exactly these attributes, in this order.
  @inlinable
  public static func index<each Value: Sendable>(
    _ path: repeat KeyPath<Attributes, Attribute<Self, each Value>>
  ) -> EntityIndex<Self, repeat each Value> {
    let attributes = attributes
    return EntityIndex(repeat attributes[keyPath: each path])
  }
}

extension Attribute {
  /// Returns a value as it is stored.
  func stored(_ value: Value) throws(StoreError) -> StoredValue {
    try IndexedAttribute(self).stored(value)
  }
}

extension Entity {
  @usableFromInline
  static func unstorableValue(at ordinal: Int?, _ error: any Error) -> StoreError {
    let name = attributeName(at: ordinal)
    return StoreError(
      .unstorableValue, "a value of \(schema.name)'s '\(name)' cannot be encoded: \(error)",
      cause: error, entity: schema.name, attribute: name)
  }
}

extension Entity {
  /// Returns the name in the schema; a question mark for an attribute that is not stored.
  fileprivate static func attributeName(at ordinal: Int?) -> String {
    let attributes = schema.attributes
    guard let ordinal, attributes.indices.contains(ordinal) else { return "?" }
    return attributes[ordinal].name
  }
}

extension TransactionCore {
  func resolve<E: Entity, each Value: Sendable>(
    _ index: EntityIndex<E, repeat each Value>
  ) throws(StoreError) -> (StoredEntity, StoredIndex) {
    try resolve(E.self, over: index.ordinals)
  }

  func resolve<E: Entity>(
    _: E.Type, over ordinals: [Int?]
  ) throws(StoreError) -> (StoredEntity, StoredIndex) {
    let entity = try entity(E.self)
    guard let stored = entity.index(count: ordinals.count, { ordinals[$0] }) else {
      throw unknownIndex(E.self, over: ordinals, of: entity)
    }
    return (entity, stored)
  }

  func resolve<E: Entity>(
    _: E.Type, with key: KeyTuple
  ) throws(StoreError) -> (StoredEntity, StoredIndex) {
    let entity = try entity(E.self)
    guard let stored = entity.index(count: key.partCount, key.ordinal(at:)) else {
      throw unknownIndex(E.self, over: (0..<key.partCount).map(key.ordinal(at:)), of: entity)
    }
    return (entity, stored)
  }

  private func unknownIndex<E: Entity>(
    _: E.Type, over ordinals: [Int?], of entity: StoredEntity
  ) -> StoreError {
    .unknownIndex(
      entity: entity.name, attributes: EntityIndex<E>.name(of: ordinals),
      known: entity.indexes.map(\.name))
  }
}
