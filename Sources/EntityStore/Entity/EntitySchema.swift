internal import LodestoreFormat

/// The name, attributes and indexes under which entity `E` is stored.
///
/// The store compares it with what the file says when it is opened. A schema that contradicts
/// itself (a name twice, an index on something that is not an attribute) is refused there, with
/// ``StoreError/Code/badSchema``.
public struct EntitySchema<E: Entity>: Sendable {
  /// The entity's name in the file: a letter or `_`, then letters, digits and `_`, ASCII, at most
  /// 64 bytes.
  public let name: String
  /// The stored attributes, in the order in which they are encoded.
  public let attributes: [AttributeDefinition<E>]
  /// The attributes of each unique index.
  let unique: [[any PartialKeyPath<E> & Sendable]]
  /// The attributes of each other index.
  let indexes: [[any PartialKeyPath<E> & Sendable]]
  /// The indexes over the elements of documents.
  let elementIndexes: [ElementIndex<E>]
  /// The to-many relationships.
  let relationships: [RelationshipDefinition<E>]
  /// The conditions that every record fulfils when it is written.
  let rules: [RecordRule<E>]
  /// `nil` where the store's options and the file say it.
  let history: HistoryPolicy<E>?
  /// The attribute whose date ends a record's life; none where records do not expire.
  let expires: [any PartialKeyPath<E> & Sendable]
  /// `nil` where the number and the size of the records are not limited.
  let limit: EntityLimit<E>?
  /// Names of attributes and relationships that are to go from the file.
  let removed: [String]
  /// The cases of the attributes that hold enumerations, by the attributes' names.
  let cases: [String: any EnumerationCases]

  /// Declares an entity.
  ///
  /// - Parameters:
  ///   - unique: the unique indexes: no two records have the same values in all attributes of
  ///     one. Nulls do not collide.
  ///   - indexes: the other indexes. One over a single attribute that holds an array or JSON is an
  ///     index over its elements.
  ///   - elementIndexes: the indexes over what a path leads to in arrays and JSON.
  ///   - relationships: the to-many relationships; those to one are attributes, see
  ///     `AttributeDefinition.toOne`.
  ///   - rules: conditions that every record fulfils when it is written.
  ///   - history: whether and how changes are told in the history; `nil` leaves that to
  ///     ``StoreOptions/history`` and the file.
  ///   - expires: at most one attribute, a date, after which a record is in no read and is removed. A record with
  ///     null there never expires. The declaration gives the attribute an index of its own. See
  ///     <doc:Expiry>.
  ///   - limit: the highest number and size of the records; the oldest records beyond it are removed. See
  ///     <doc:EntityLimits>.
  ///   - removed: names of attributes and relationships that are to go, with their values, from a
  ///     file that has them. What the file has and is neither declared nor named here stays.
  public init(
    _ name: String, attributes: [AttributeDefinition<E>],
    unique: [[any PartialKeyPath<E> & Sendable]] = [],
    indexes: [[any PartialKeyPath<E> & Sendable]] = [],
    elementIndexes: [ElementIndex<E>] = [],
    relationships: [RelationshipDefinition<E>] = [], rules: [RecordRule<E>] = [],
    history: HistoryPolicy<E>? = nil, expires: [any PartialKeyPath<E> & Sendable] = [],
    limit: EntityLimit<E>? = nil, removed: [String] = []
  ) {
    self.name = name
    self.attributes = attributes
    self.unique = unique
    self.indexes = indexes
    self.elementIndexes = elementIndexes
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
  /// The property.
  let keyPath: any PartialKeyPath<E> & Sendable
  /// The name under which the attribute was stored before it was renamed.
  let originalName: String?
  /// The name of the member that imports fill the attribute from; `nil` leaves the one of the file.
  private(set) var member: String?
  /// What values must be beyond having the type, checked before a record is written.
  let constraints: [AttributeConstraint]
  let storage: AttributeStorage
  let initial: StoredValue
  /// Of an enumeration; raw values that come without their type are compared with them.
  let cases: (any EnumerationCases)?
  /// What makes the attribute a relationship.
  let toOne: ToOneDeclaration?
  /// How the store works out the values; `nil` where the program gives them.
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

  /// Returns the attribute with the name of the member that imports fill it from.
  ///
  ///     .init("title", \.title).member("film title")
  ///
  /// The file keeps the name with the attribute, so that `kvdump import` takes the same member. An
  /// attribute without a stated member keeps the one in the file, and is filled from the member of
  /// its own name when the file has none. To remove the name from the file, state the attribute's
  /// own name.
  ///
  /// - Parameter name: at most 1,024 bytes of UTF-8; two attributes of an entity cannot have the
  ///   same member, or opening throws ``StoreError/Code/badSchema``.
  public func member(_ name: String) -> AttributeDefinition {
    var definition = self
    definition.member = name
    return definition
  }

  /// Declares the attribute `name`, kept in the property at `keyPath`.
  ///
  /// The same call takes enumerations, stored as their raw values, and arrays, dictionaries and
  /// nested structs that are `Codable`, stored as documents; each may be optional.
  ///
  /// - Parameters:
  ///   - originalName: the name it had in older versions of the entity.
  ///   - initial: the value of records that are older than the attribute; needed when an
  ///     attribute that is not optional is added to an entity that has records.
  ///   - constraints: what values must be beyond having the type: one range, length and pattern
  ///     at most.
  public init<V: AttributeValue>(
    _ name: String, _ keyPath: any KeyPath<E, V> & Sendable, originalName: String? = nil,
    initial: V? = nil, constraints: [AttributeConstraint] = []
  ) {
    self.init(
      name: name, keyPath: keyPath, originalName: originalName, storage: V._storage,
      initial: initial?._storedValue ?? .null,
      constraints: constraints)
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

  /// Declares an attribute that holds an enumeration that is declared to be indexable.
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

  /// Declares an attribute that holds an optional enumeration that is declared to be indexable.
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
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public init<V: Codable & Sendable>(
    _ name: String, _ keyPath: any KeyPath<E, V> & Sendable, originalName: String? = nil,
    initial: V? = nil, constraints: [AttributeConstraint] = []
  ) {
    self.init(
      name: name, keyPath: keyPath, originalName: originalName,
      storage: AttributeStorage(documentsOf: V.self),
      initial: initial.map(StoredValue.init(document:)) ?? .null,
      constraints: constraints)
  }

  /// Declares an attribute that holds an optional array, dictionary or nested struct.
  @_disfavoredOverload
  @_documentation(visibility: internal)
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

/// The cases of the enumeration that an attribute holds.
protocol EnumerationCases: Sendable {
  var name: String { get }

  /// The raw values of all of them, where the enumeration tells its cases.
  var rawValues: [StoredValue]? { get }

  /// Whether `raw` is the raw value of one of them, or null.
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
