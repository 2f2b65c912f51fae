internal import LMDB
internal import LodestoreFormat

// Trees that a store has once it needs them; see Format.md, "Trees". One that is not there is the same
// as an empty one.
//
// The number of the schema is raised with the tree: whoever begins a transaction with another number
// loads the schema anew, and with it the handles, which must be opened before the transaction.

extension WriteCore {
  /// The optional tree `name`, which is made when the store has none.
  func makeTree(_ name: TreeName) throws(StoreError) -> Tree {
    if let tree = tree(name) { return tree }
    return try wrappingErrors {
      // First, as it may be refused, and the transaction may go on without the tree.
      try store.trees.raiseSchemaNumber(in: transaction)
      let tree = try store.environment.madeTree(name, in: transaction)
      try store.trees.require(name.features, in: transaction)
      madeTrees[name] = tree
      return tree
    }
  }
}
