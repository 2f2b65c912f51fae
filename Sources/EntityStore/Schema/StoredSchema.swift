internal import LMDB
internal import LodestoreFormat

/// The catalogue as of one number of the schema.
///
/// Never changes; a newer one replaces it.
final class StoredSchema: Sendable {
  let number: SchemaNumber
  let entities: [StoredEntity]
  let relationships: [StoredRelationship]
  /// The handles of the optional trees that the store has.
  let optionalTrees: [TreeName: Tree]
  /// The derived attributes that depend on related records.
  let derived: [RelatedDerivation]
  let hasElementIndexes: Bool
  /// Whether an index is being built.
  let isBuilding: Bool
  /// Whether changes of the records of an entity are told in the history.
  let keepsHistory: Bool
  /// The entities whose records expire.
  let expiring: [StoredEntity]
  /// Whether there is one.
  let hasExpiry: Bool
  /// The entities whose number or size of records is limited.
  let limited: [StoredEntity]
  /// Whether records may leave the file by themselves.
  let evicts: Bool
  /// The orders that are those of an index, by the index.
  private let indexOrders: [ObjectIdentifier: [EvictionOrder]]
  /// Whether records leave in the order of an index.
  let evictsByIndex: Bool
  private let byName: [String: StoredEntity]
  /// Declared entities whose attributes are no longer those of the file: their types must not read
  /// or write records, whose layout they do not know.
  let misfits: Set<String>
  /// The relationships of each entity, as seen from it; those to itself twice.
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
    isBuilding = entities.contains { !$0.building.isEmpty }
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
    hasElementIndexes = entities.contains { !$0.elementIndexes.isEmpty }
    byName = Dictionary(
      entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    misfits = Set(entities.filter(\.isMisfit).map(\.name))
  }

  /// The orders that are those of `index`; `nil` where no records leave by it.
  func evictionOrders(by index: StoredIndex) -> [EvictionOrder]? {
    indexOrders[ObjectIdentifier(index)]
  }

  func entity(named name: String) -> StoredEntity? { byName[name] }

  func entity(_ number: EntityNumber) -> StoredEntity? { entities.first { $0.number == number } }

  func relationship(_ number: UInt32) -> StoredRelationship? {
    relationships.first { $0.description.number == number }
  }

  /// The relationships of `entity`, as seen from it.
  @inline(__always)
  func ends(of entity: StoredEntity) -> [RelationshipEnd] {
    relationships.isEmpty ? [] : ends[entity.number] ?? []
  }

  /// The relationship that `entity` knows as `name`.
  func end(named name: String, of entity: StoredEntity) -> RelationshipEnd? {
    ends(of: entity).first { $0.name == name }
  }
}

extension StoredEntity {
  /// - Parameters:
  ///   - declared: by the program's type, if there is one.
  ///   - defersFunctions: whether what functions derive is worked out later.
  convenience init(
    description: EntityDescription, declared: DeclaredEntity?, defersFunctions: Bool = false,
    tree: (TreeName) throws -> Tree
  ) throws {
    let isMisfit = declared.map { !$0.fits(description) } ?? false
    // The functions of a type that does not fit cannot read the records.
    let functions = isMisfit ? [:] : declared?.functions(of: description) ?? [:]
    try self.init(
      description: description, part: isMisfit ? nil : declared?.part(of: description),
      readLayout: isMisfit ? nil : declared?.readLayout(of: description),
      declared: declared?.attributes(in: description) ?? [],
      functions: defersFunctions ? nil : functions, isMisfit: isMisfit, tree: tree)
  }
}

extension StoredSchema {
  /// - Parameters:
  ///   - declared: the entities that the program declares.
  ///   - defersFunctions: whether what functions derive is worked out later.
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

  /// The numbers of the attributes of `entity` that hold relationships.
  func heldAttributes(of entity: StoredEntity) -> Set<UInt32> {
    Set(
      relationships.lazy.filter { $0.from.number == entity.number }
        .compactMap(\.description.attribute))
  }
}
