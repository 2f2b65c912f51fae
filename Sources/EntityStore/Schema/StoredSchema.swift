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

  init(
    number: SchemaNumber, entities: [StoredEntity], optionalTrees: [TreeName: Tree] = [:]
  ) {
    self.number = number
    self.optionalTrees = optionalTrees
    self.entities = entities
    byName = Dictionary(
      entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    misfits = Set(entities.filter(\.isMisfit).map(\.name))
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
      declared: declared?.attributes(in: description) ?? [], isMisfit: isMisfit, tree: tree)
  }
}
