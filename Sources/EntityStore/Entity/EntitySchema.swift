internal import LodestoreFormat

/// The name, attributes and indexes under which entity `E` is stored.
///
/// Opening a store compares the schema with the catalogue in the file. A schema that contradicts
/// itself is refused with ``StoreError/Code/badSchema``. Examples are a repeated name, and an index
/// on a property that is not an attribute.
public struct EntitySchema<E: Entity>: Sendable {
  /// The entity's name in the file.
  ///
  /// A name is a letter or `_`, followed by letters, digits and `_`, in ASCII and with at most 64
  /// bytes.
  public let name: String
  /// The stored attributes, in the order in which they are encoded.
  public let attributes: [AttributeDefinition<E>]
  /// The attributes of each unique index.
  let unique: [[any PartialKeyPath<E> & Sendable]]
  /// The attributes of each other index.
  let indexes: [[any PartialKeyPath<E> & Sendable]]
  /// The indexes on the elements of documents.
  let elementIndexes: [ElementIndex<E>]
  /// The indexes on the words of texts.
  let searchIndexes: [SearchIndex<E>]
  /// The indexes on places.
  let placeIndexes: [PlaceIndex<E>]
  /// The indexes on vectors.
  let vectorIndexes: [VectorIndex<E>]
  /// The to-many relationships.
  let relationships: [RelationshipDefinition<E>]
  /// The conditions that every record must match when it is written.
  let rules: [RecordRule<E>]
  /// The history policy; `nil` leaves it to the store's options and the file.
  let history: HistoryPolicy<E>?
  /// The attribute whose date ends a record's life; empty when records do not expire.
  let expires: [any PartialKeyPath<E> & Sendable]
  /// The limit on the number and size of records; `nil` for no limit.
  let limit: EntityLimit<E>?
  /// The names of attributes and relationships to be removed from the file.
  let removed: [String]
  /// The cases of the attributes that hold enumerations, by the attributes' names.
  let cases: [String: any EnumerationCases]

  /// Declares an entity.
  ///
  /// - Parameters:
  ///   - unique: the unique indexes. No two records may have equal values in all attributes of a
  ///     unique index; null values do not collide.
  ///   - indexes: the other indexes. An index on a single attribute that holds an array or JSON is
  ///     an index on its elements.
  ///   - elementIndexes: the indexes on values at a path in arrays and JSON.
  ///   - searchIndexes: the indexes on the words of texts. See <doc:Search>.
  ///   - placeIndexes: the indexes on places by latitude and longitude. See <doc:Places>.
  ///   - vectorIndexes: the indexes on vectors. See <doc:Vectors>.
  ///   - relationships: the to-many relationships. To-one relationships are attributes; see
  ///     `AttributeDefinition.toOne`.
  ///   - rules: conditions that every record must match when it is written.
  ///   - history: whether and how the history records changes; `nil` leaves it to
  ///     ``StoreOptions/history`` and the file.
  ///   - expires: at most one attribute, a date. After this date no read returns the record, and
  ///     the store removes it. A record with null never expires. The declaration creates an index
  ///     for the attribute. See <doc:Expiry>.
  ///   - limit: the maximum number and size of the records; the oldest records beyond it are
  ///     removed. See <doc:EntityLimits>.
  ///   - removed: names of attributes and relationships to remove from the file, with their values.
  ///     Attributes and relationships of the file that are neither declared nor named here stay.
  public init(
    _ name: String, attributes: [AttributeDefinition<E>],
    unique: [[any PartialKeyPath<E> & Sendable]] = [],
    indexes: [[any PartialKeyPath<E> & Sendable]] = [], elementIndexes: [ElementIndex<E>] = [],
    searchIndexes: [SearchIndex<E>] = [], placeIndexes: [PlaceIndex<E>] = [],
    vectorIndexes: [VectorIndex<E>] = [],
    relationships: [RelationshipDefinition<E>] = [], rules: [RecordRule<E>] = [],
    history: HistoryPolicy<E>? = nil, expires: [any PartialKeyPath<E> & Sendable] = [],
    limit: EntityLimit<E>? = nil, removed: [String] = []
  ) {
    self.name = name
    self.attributes = attributes
    self.unique = unique
    self.indexes = indexes
    self.elementIndexes = elementIndexes
    self.searchIndexes = searchIndexes
    self.placeIndexes = placeIndexes
    self.vectorIndexes = vectorIndexes
    self.relationships = relationships
    self.rules = rules
    self.history = history
    self.expires = expires
    self.limit = limit
    self.removed = removed
    let cases = attributes.compactMap { attribute in attribute.cases.map { (attribute.name, $0) } }
    self.cases = Dictionary(cases, uniquingKeysWith: { first, _ in first })
  }
}

/// One stored attribute of entity `E`.
public struct AttributeDefinition<E: Entity>: Sendable {
  /// The name in the file.
  public let name: String
  /// The property that holds the value.
  let keyPath: any PartialKeyPath<E> & Sendable
  /// The name under which the attribute was stored before it was renamed.
  let originalName: String?
  /// The member from which imports fill the attribute; `nil` leaves the name stored in the file.
  private(set) var member: String?
  /// The limits on the values, checked before a record is written.
  let constraints: [AttributeConstraint]
  let storage: AttributeStorage
  let initial: StoredValue
  /// The cases of the enumeration that the attribute holds.
  ///
  /// Raw values that come without their Swift type, as from expressions, are checked against them.
  let cases: (any EnumerationCases)?
  /// The declaration that makes the attribute a to-one relationship.
  let toOne: ToOneDeclaration?
  /// The rule by which the store computes the values; `nil` when the program sets them.
  let derivation: DerivationDeclaration?

  init(
    name: String, keyPath: any PartialKeyPath<E> & Sendable, originalName: String?,
    storage: AttributeStorage, initial: StoredValue, constraints: [AttributeConstraint],
    cases: (any EnumerationCases)? = nil, toOne: ToOneDeclaration? = nil,
    derivation: DerivationDeclaration? = nil
  ) {
    self.name = name
    self.keyPath = keyPath
    self.originalName = originalName
    self.storage = storage
    self.initial = initial
    self.constraints = constraints
    self.cases = cases
    self.toOne = toOne
    self.derivation = derivation
  }

  /// Returns the attribute with the name of the member from which imports fill it.
  ///
  ///     .init("title", \.title).member("film title")
  ///
  /// The file stores the name with the attribute, so `kvdump import` uses it too. An attribute
  /// without this call keeps the member name in the file. When the file has none, imports use the
  /// attribute's own name. To remove the member name from the file, pass the attribute's own name.
  ///
  /// - Parameter name: at most 1,024 bytes of UTF-8. If two attributes of an entity have one
  ///   member, opening throws ``StoreError/Code/badSchema``.
  public func member(_ name: String) -> AttributeDefinition {
    var definition = self
    definition.member = name
    return definition
  }

  /// Declares the attribute `name`, whose value is in the property at `keyPath`.
  ///
  /// The call also takes enumerations, which are stored as their raw values. Arrays, dictionaries
  /// and nested structs that are `Codable` are stored as documents. Each may be optional.
  ///
  /// - Parameters:
  ///   - originalName: the attribute's name in older versions of the entity.
  ///   - initial: the value for records that are older than the attribute. Required when a
  ///     non-optional attribute is added to an entity that has records.
  ///   - constraints: limits on the values: at most one range, one length and one pattern.
  public init<V: AttributeValue>(
    _ name: String, _ keyPath: any KeyPath<E, V> & Sendable, originalName: String? = nil,
    initial: V? = nil, constraints: [AttributeConstraint] = []
  ) {
    self.init(
      name: name, keyPath: keyPath, originalName: originalName, storage: V._storage,
      initial: initial?._storedValue ?? .null, constraints: constraints)
  }

  /// Declares an attribute that holds an enumeration, stored as its raw value.
  @_documentation(visibility: internal)
  public init<V: RawRepresentable>(
    _ name: String, _ keyPath: any KeyPath<E, V> & Sendable, originalName: String? = nil,
    initial: V? = nil, constraints: [AttributeConstraint] = []
  ) where V.RawValue: AttributeValue {
    self.init(
      name: name, keyPath: keyPath, originalName: originalName, storage: V.RawValue._storage,
      initial: initial?.rawValue._storedValue ?? .null,
      constraints: constraints, cases: RawCases<V>())
  }

  /// Declares an attribute that holds an optional enumeration, stored as its raw value.
  @_documentation(visibility: internal)
  public init<V: RawRepresentable>(
    _ name: String, _ keyPath: any KeyPath<E, V?> & Sendable, originalName: String? = nil,
    initial: V?? = nil, constraints: [AttributeConstraint] = []
  ) where V.RawValue: AttributeValue {
    self.init(
      name: name, keyPath: keyPath, originalName: originalName,
      storage: V.RawValue._storage.optional,
      initial: initial.flatMap { $0 }?.rawValue._storedValue ?? .null,
      constraints: constraints, cases: RawCases<V>())
  }

  /// Declares an attribute that holds an enumeration that is declared as indexable.
  @_documentation(visibility: internal)
  public init<V: AttributeValue & RawRepresentable>(
    _ name: String, _ keyPath: any KeyPath<E, V> & Sendable, originalName: String? = nil,
    initial: V? = nil, constraints: [AttributeConstraint] = []
  ) where V.RawValue: AttributeValue {
    self.init(
      name: name, keyPath: keyPath, originalName: originalName, storage: V._storage,
      initial: initial?._storedValue ?? .null,
      constraints: constraints, cases: RawCases<V>())
  }

  /// Declares an attribute that holds an optional enumeration that is declared as indexable.
  @_documentation(visibility: internal)
  public init<V: AttributeValue & RawRepresentable>(
    _ name: String, _ keyPath: any KeyPath<E, V?> & Sendable, originalName: String? = nil,
    initial: V?? = nil, constraints: [AttributeConstraint] = []
  ) where V.RawValue: AttributeValue {
    self.init(
      name: name, keyPath: keyPath, originalName: originalName, storage: V?._storage,
      initial: initial.flatMap { $0 }?._storedValue ?? .null,
      constraints: constraints, cases: RawCases<V>())
  }

  /// Declares an attribute that holds an array, a dictionary or a nested struct, stored as a
  /// document.
  @_disfavoredOverload @_documentation(visibility: internal)
  public init<V: Codable & Sendable>(
    _ name: String, _ keyPath: any KeyPath<E, V> & Sendable, originalName: String? = nil,
    initial: V? = nil, constraints: [AttributeConstraint] = []
  ) {
    self.init(
      name: name, keyPath: keyPath, originalName: originalName,
      storage: AttributeStorage(documentsOf: V.self),
      initial: initial.map(StoredValue.init(document:)) ?? .null, constraints: constraints)
  }

  /// Declares an attribute that holds an optional array, dictionary or nested struct.
  @_disfavoredOverload @_documentation(visibility: internal)
  public init<V: Codable & Sendable>(
    _ name: String, _ keyPath: any KeyPath<E, V?> & Sendable, originalName: String? = nil,
    initial: V?? = nil, constraints: [AttributeConstraint] = []
  ) {
    self.init(
      name: name, keyPath: keyPath, originalName: originalName,
      storage: AttributeStorage(documentsOf: V.self).optional,
      initial: initial.flatMap { $0 }.map(StoredValue.init(document:)) ?? .null,
      constraints: constraints)
  }
}

extension EntitySchema {
  /// Returns the index in ``attributes`` of the attribute at `path`, or `nil` if none exists.
  func index(of path: AnyKeyPath) -> Int? {
    attributes.firstIndex { ($0.keyPath as AnyKeyPath) == path }
  }
}

/// The cases of the enumeration that an attribute holds.
protocol EnumerationCases: Sendable {
  var name: String { get }

  /// The raw values of all cases; `nil` when the enumeration is not `CaseIterable`.
  var rawValues: [StoredValue]? { get }

  /// Returns whether `raw` is null or the raw value of a case.
  func contain(_ raw: StoredValue) -> Bool
}

struct RawCases<V: RawRepresentable>: EnumerationCases where V.RawValue: AttributeValue {
  var name: String { "\(V.self)" }

  var rawValues: [StoredValue]? {
    func values<C: CaseIterable>(_ type: C.Type) -> [StoredValue] {
      type.allCases.compactMap { ($0 as? V)?.rawValue._storedValue }
    }
    guard let type = V.self as? any CaseIterable.Type else { return nil }
    return values(type)
  }

  func contain(_ raw: StoredValue) -> Bool {
    raw.value == .null || V.RawValue._value(from: raw).flatMap { V(rawValue: $0) } != nil
  }
}
