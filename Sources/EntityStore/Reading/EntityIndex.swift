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
  public func key(_ value: repeat each Value) -> EntityKey<E> {
    var parts: [_KeyPart] = []
    parts.reserveCapacity(ordinals.count)
    repeat parts.append((each attributes)._part(each value))
    return EntityKey(parts)
  }

  /// The names of the attributes, joined by `+`.
  var name: String { Self.name(of: ordinals) }

  static func name(of ordinals: [Int?]) -> String {
    let attributes = E.schema.attributes
    return ordinals.map { $0.map { attributes[$0].name } ?? "?" }.joined(separator: "+")
  }
}

/// The values of a record in all attributes of an index: what ``ReadableTransaction/fetch(_:)`` finds it
/// by.
///
/// `@Entity` writes a function that makes one for each unique index: `Pod.key(name: "AF", version: "1")`.
public struct EntityKey<E: Entity>: Sendable {
  @usableFromInline let parts: [_KeyPart]

  @inlinable
  init(_ parts: [_KeyPart]) { self.parts = parts }

  /// A key of these attributes' values; what `@Entity` writes.
  @inlinable
  public init(_parts part: _KeyPart...) { self.init(part) }
}

/// The value of one attribute in a key.
public struct _KeyPart: Sendable {
  /// Index in the schema's attributes; `nil` for what is no stored attribute.
  @usableFromInline let ordinal: Int?
  @usableFromInline let stored: StoredValue
  /// Why there is no value.
  @usableFromInline let failure: (any Error)?

  @inlinable
  init(_ ordinal: Int?, _ stored: StoredValue, _ failure: (any Error)? = nil) {
    self.ordinal = ordinal
    self.stored = stored
    self.failure = failure
  }

  @inlinable
  func value() throws(StoreError) -> StoredValue {
    if failure != nil { throw refused() }
    return stored
  }

  @usableFromInline
  func refused() -> StoreError { failure.map { StoreError(wrapping: $0) } ?? .badQuery("") }
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

  /// The attribute's value in a key.
  @inlinable
  public func _part(_ value: Value) -> _KeyPart {
    do throws(StoreError) {
      return _KeyPart(storedOrdinal, try stored(value))
    } catch {
      return _KeyPart(storedOrdinal, .noValue, error)
    }
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
    try resolve(E.self, over: index.ordinals)
  }

  func resolve<E: Entity>(
    _: E.Type, over ordinals: [Int?]
  ) throws(StoreError) -> (StoredEntity, StoredIndex) {
    let entity = try entity(E.self)
    guard let stored = schema.index(of: entity, count: ordinals.count, { ordinals[$0] }) else {
      throw unknownIndex(E.self, over: ordinals, of: entity)
    }
    return (entity, stored)
  }

  func resolve<E: Entity>(
    _: E.Type, with key: [_KeyPart]
  ) throws(StoreError) -> (StoredEntity, StoredIndex) {
    let entity = try entity(E.self)
    guard let stored = schema.index(of: entity, count: key.count, { key[$0].ordinal }) else {
      throw unknownIndex(E.self, over: key.map(\.ordinal), of: entity)
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
