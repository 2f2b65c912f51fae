package import LMDB
package import LodestoreFormat

/// One index of a stored entity, with its tree.
///
/// A class, so that a copy counts one reference rather than one for each member.
package final class StoredIndex: Sendable {
  package let description: EntityDescription.Index
  package let tree: Tree
  /// `Entity.attribute+attribute`, for messages.
  package let name: String
  /// Of the entity, for messages.
  let entityName: String

  init(description: EntityDescription.Index, tree: Tree, name: String, entityName: String) {
    self.description = description
    self.tree = tree
    self.name = name
    self.entityName = entityName
  }

  package var isUnique: Bool { description.isUnique }
}
