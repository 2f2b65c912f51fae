internal import LMDB
internal import LodestoreFormat

// Trees that a store has only when it needs them; see Format.md, "Trees". A missing tree equals an
// empty one.
//
// Creating a tree increments the number of the schema. A transaction that begins with another
// number reloads the schema, and with it the handles, which must be opened before the transaction.

extension TreeWriteCore {
  /// Returns the optional tree `name`, creating it if the store has none.
  func openOrMakeTree(_ name: TreeName) throws(StoreError) -> Tree {
    if let tree = tree(name) { return tree }
    return try wrappingErrors {
      // Raising the schema number may throw, and therefore comes first. The transaction can then
      // continue without the tree.
      try store.trees.raiseSchemaNumber(in: writing)
      let tree = try store.environment.openOrMakeTree(name, in: writing)
      try store.trees.require(name.features, in: writing)
      madeTrees[name] = tree
      return tree
    }
  }
}
