internal import LMDB
internal import LodestoreFormat

/// The catalogue as of one number of the schema.
///
/// Never changes; a newer one replaces it.
final class StoredSchema: Sendable {
  let number: SchemaNumber
  let entities: [StoredEntity]
  /// The handles of the optional trees that the store has.
  let optionalTrees: [TreeName: Tree]
  private let byName: [String: StoredEntity]
  /// Declared entities whose attributes are no longer those of the file: their types must not read
  /// or write records, whose layout they do not know.
  let misfits: Set<String>
  /// Of each declared entity, the numbers of its attributes in the order of its declaration; 0 where
  /// the file has none of the name.
  private let declaredNumbers: [String: [UInt32]]

  init(
    number: SchemaNumber, entities: [StoredEntity], declared: [DeclaredEntity] = [],
    optionalTrees: [TreeName: Tree] = [:]
  ) {
    self.number = number
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

  /// The index of `entity` over the attributes with `indices` in its declaration, in this order; a
  /// unique one before another.
  func index(over indices: [Int?], of entity: StoredEntity) -> StoredIndex? {
    guard let numbers = declaredNumbers[entity.name] else { return nil }
    var found: Int?
    for (position, index) in entity.indexes.enumerated() {
      guard Self.isOver(index.description.attributes, indices, numbers) else { continue }
      if index.isUnique { return index }
      found = found ?? position
    }
    return found.map { entity.indexes[$0] }
  }

  private static func isOver(
    _ attributes: [UInt32], _ indices: [Int?], _ numbers: [UInt32]
  ) -> Bool {
    guard attributes.count == indices.count else { return false }
    for position in attributes.indices {
      guard let index = indices[position], numbers.indices.contains(index),
        numbers[index] == attributes[position]
      else { return false }
    }
    return true
  }

  func entity(named name: String) -> StoredEntity? { byName[name] }
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
