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
  private let byName: [String: StoredEntity]
  /// Declared entities whose attributes are no longer those of the file: their types must not read
  /// or write records, whose layout they do not know.
  let misfits: Set<String>
  /// Of each declared entity, the numbers of its attributes in the order of its declaration; 0 where
  /// the file has none of the name.
  private let declaredNumbers: [String: [UInt32]]
  /// The relationships of each entity, as seen from it; those to itself twice.
  private let ends: [EntityNumber: [RelationshipEnd]]

  init(
    number: SchemaNumber, entities: [StoredEntity], relationships: [StoredRelationship] = [],
    declared: [DeclaredEntity] = [], optionalTrees: [TreeName: Tree] = [:]
  ) {
    self.number = number
    self.relationships = relationships
    ends = Dictionary(
      grouping: relationships.flatMap { [$0.end(.from), $0.end(.to)] }, by: \.source.number)
    self.optionalTrees = optionalTrees
    self.entities = entities
    let byName = Dictionary(
      entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.byName = byName
    misfits = Set(entities.filter(\.isMisfit).map(\.name))
    declaredNumbers = Dictionary(
      declared.map { entity in
        let stored = byName[entity.name]?.description
        return (
          entity.name, entity.attributes.map { stored?.attribute(named: $0.name)?.number ?? 0 }
        )
      }, uniquingKeysWith: { first, _ in first })
  }

  /// The index of `entity` over `count` attributes, of which `ordinal` gives the index in the declaration by
  /// the position in the index; a unique one before another.
  @inline(__always)
  func index(
    of entity: StoredEntity, count: Int, _ ordinal: (Int) -> Int?
  ) -> StoredIndex? {
    guard let numbers = declaredNumbers[entity.name] else { return nil }
    var found: StoredIndex?
    for index in entity.indexes {
      let attributes = index.description.attributes
      guard attributes.count == count,
        attributes.indices.allSatisfy({ position in
          guard let declared = ordinal(position), numbers.indices.contains(declared) else {
            return false
          }
          return numbers[declared] == attributes[position]
        })
      else { continue }
      if index.isUnique { return index }
      found = found ?? index
    }
    return found
  }

  func entity(named name: String) -> StoredEntity? { byName[name] }

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
  /// - Parameter declared: by the program's type, if there is one.
  convenience init(
    description: EntityDescription, declared: DeclaredEntity?,
    tree: (TreeName, Bool) throws -> Tree
  ) throws {
    let isMisfit = declared.map { !$0.fits(description) } ?? false
    try self.init(
      description: description, part: isMisfit ? nil : declared?.part(of: description),
      isMisfit: isMisfit, tree: tree)
  }
}

extension StoredSchema {
  /// The numbers of the attributes of `entity` that hold relationships.
  func heldAttributes(of entity: StoredEntity) -> Set<UInt32> {
    Set(
      relationships.lazy.filter { $0.from.number == entity.number }
        .compactMap(\.description.attribute))
  }
}
