internal import LMDB
internal import LodestoreFormat

/// The catalogue at one schema number.
///
/// An object never changes: after a change of the catalogue, a new object is created.
final class StoredSchema: Sendable {
  let number: SchemaNumber
  let entities: [StoredEntity]
  let relationships: [StoredRelationship]
  /// The handles of those optional trees, such as the history, that the file contains.
  let optionalTrees: [TreeName: Tree]
  /// The derived attributes that depend on related records.
  let derived: [RelatedDerivation]
  let hasComputedIndexes: Bool
  /// Whether some index of the file is under construction while the store is in use.
  let isBuilding: Bool
  /// Whether the history records changes of the records of an entity.
  let keepsHistory: Bool
  /// The entities whose records expire.
  let expiring: [StoredEntity]
  /// Whether the records of an entity expire.
  let hasExpiry: Bool
  /// The entities whose number or size of records is limited.
  let limited: [StoredEntity]
  /// Whether records may be evicted, because they expire or are limited.
  let evicts: Bool
  /// The eviction orders that follow an index, by the index.
  private let indexOrders: [ObjectIdentifier: [EvictionOrder]]
  /// Whether records are evicted in the order of an index.
  let evictsByIndex: Bool
  private let byName: [String: StoredEntity]
  /// The names of declared entities whose attributes no longer fit those of the file.
  ///
  /// Their types must not read or write records.
  let misfits: Set<String>
  /// The relationships of each entity, from its side.
  ///
  /// A relationship of an entity with itself is listed twice.
  private let ends: [EntityNumber: [RelationshipEnd]]

  init(
    number: SchemaNumber, entities: [StoredEntity], relationships: [StoredRelationship] = [],
    optionalTrees: [TreeName: Tree] = [:]
  ) {
    self.number = number
    self.relationships = relationships
    derived = relationships.isEmpty ? [] : RelatedDerivation.all(entities, relationships)
    ends = Dictionary(
      grouping: relationships.flatMap { [$0.end(.from), $0.end(.to)] }, by: \.source.number)
    self.optionalTrees = optionalTrees
    self.entities = entities
    isBuilding = entities.contains(where: \.isBuilding)
    keepsHistory = entities.contains { $0.description.history != nil }
    expiring = entities.filter { $0.description.expiry != nil }
    hasExpiry = !expiring.isEmpty
    limited = entities.filter { $0.description.limit != nil }
    evicts = hasExpiry || !limited.isEmpty
    var orders: [ObjectIdentifier: [EvictionOrder]] = [:]
    func add(_ index: StoredIndex?, _ entity: StoredEntity, _ cause: EvictionCause) {
      guard let index else { return }
      let order = EvictionOrder(entity: entity.number, cause: cause)
      orders[ObjectIdentifier(index), default: []].append(order)
    }
    for entity in expiring { add(entity.expiryIndex, entity, .expiry) }
    for entity in limited { add(entity.limitIndex, entity, .limit) }
    indexOrders = orders
    evictsByIndex = !orders.isEmpty
    hasComputedIndexes = entities.contains { !$0.computedIndexes.isEmpty }
    byName = Dictionary(
      entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    misfits = Set(entities.filter(\.isMisfit).map(\.name))
  }

  /// Returns the eviction orders that follow `index`, or `nil` if no order does.
  func evictionOrders(by index: StoredIndex) -> [EvictionOrder]? {
    indexOrders[ObjectIdentifier(index)]
  }

  func entity(named name: String) -> StoredEntity? { byName[name] }

  func entity(_ number: EntityNumber) -> StoredEntity? { entities.first { $0.number == number } }

  func relationship(_ number: UInt32) -> StoredRelationship? {
    relationships.first { $0.description.number == number }
  }

  /// Returns the relationships of `entity`, from its side.
  @inline(__always)
  func ends(of entity: StoredEntity) -> [RelationshipEnd] {
    relationships.isEmpty ? [] : ends[entity.number] ?? []
  }

  /// Returns the relationship that `entity` calls `name`, or `nil` if none exists.
  func end(named name: String, of entity: StoredEntity) -> RelationshipEnd? {
    ends(of: entity).first { $0.name == name }
  }
}

extension StoredEntity {
  /// Creates an entity from its description.
  ///
  /// - Parameters:
  ///   - declared: the declaration of the program's type, if there is one.
  ///   - defersFunctions: whether attributes derived by functions are computed later.
  convenience init(
    description: EntityDescription, declared: DeclaredEntity?, defersFunctions: Bool = false,
    tree: (TreeName) throws -> Tree
  ) throws {
    let isMisfit = declared.map { !$0.fits(description) } ?? false
    // A type that does not fit the file cannot read the records, so its functions are not used.
    let functions = isMisfit ? [:] : declared?.functions(of: description) ?? [:]
    try self.init(
      description: description, part: isMisfit ? nil : declared?.part(of: description),
      decodingLayout: isMisfit ? nil : declared?.decodingLayout(of: description),
      declared: declared?.attributes(in: description) ?? [],
      functions: defersFunctions ? nil : functions, isMisfit: isMisfit, tree: tree)
  }
}

extension StoredSchema {
  /// Creates a schema from the descriptions in the catalogue.
  ///
  /// - Parameters:
  ///   - declared: the entities that the program declares.
  ///   - defersFunctions: whether attributes derived by functions are computed later.
  convenience init(
    number: SchemaNumber, _ descriptions: [EntityDescription],
    _ relationships: [RelationshipDescription], declared: [DeclaredEntity],
    defersFunctions: Bool = false, optionalTrees: [TreeName: Tree] = [:],
    tree: (TreeName) throws -> Tree
  ) throws {
    let entities = try descriptions.map { description in
      try StoredEntity(
        description: description, declared: declared.first { $0.name == description.name },
        defersFunctions: defersFunctions, tree: tree)
    }
    self.init(
      number: number, entities: entities,
      relationships: try relationships.map {
        try StoredRelationship($0, entities: entities, tree: tree)
      }, optionalTrees: optionalTrees)
  }

  /// Returns the numbers of the attributes of `entity` that hold ids of relationships.
  func linkAttributes(of entity: StoredEntity) -> Set<UInt32> {
    Set(
      relationships.lazy.filter { $0.from.number == entity.number }
        .compactMap(\.description.attribute))
  }
}
