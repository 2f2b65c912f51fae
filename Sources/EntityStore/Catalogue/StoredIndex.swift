internal import LMDB
internal import LodestoreFormat

/// One index of a stored entity, with its tree.
///
/// A class, so that a copy counts one reference rather than one for each member.
final class StoredIndex: Sendable {
  let description: EntityDescription.Index
  let tree: Tree
  /// `Entity.attribute+attribute`, for messages.
  let name: String
  /// Of the entity, for messages.
  let entityName: String

  init(description: EntityDescription.Index, tree: Tree, name: String, entityName: String) {
    self.description = description
    self.tree = tree
    self.name = name
    self.entityName = entityName
  }

  var isUnique: Bool { description.isUnique }
}
