internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension Environment {
  /// Returns the tree; `nil` when it does not exist.
  func tree(_ name: TreeName, in transaction: Transaction) throws(LMDBError) -> Tree? {
    try tree(name.text, hasIntegerKeys: name.hasIntegerKeys, in: transaction)
  }

  /// Returns the tree, creating it if it does not exist.
  func openOrMakeTree(_ name: TreeName, in transaction: WritingTransaction) throws -> Tree {
    let tree = try tree(
      name.text, isCreated: true, hasIntegerKeys: name.hasIntegerKeys, in: transaction)
    guard let tree else { throw FormatError("cannot make tree \(name.text)") }
    return tree
  }

  /// Returns the tree; throws when it does not exist, although the catalogue names it.
  func existingTree(_ name: TreeName, in transaction: Transaction) throws -> Tree {
    guard let tree = try tree(name, in: transaction) else { throw FormatError.missingTree(name) }
    return tree
  }

  /// Opens the existing trees, before the transaction that reads through them begins.
  func openExistingTrees(_ names: [TreeName]) throws(LMDBError) -> [TreeName: Tree] {
    let trees = try openExistingTrees(names.map { ($0.text, $0.hasIntegerKeys) })
    var found: [TreeName: Tree] = [:]
    for (name, tree) in zip(names, trees) { found[name] = tree }
    return found
  }
}

extension Transaction {
  /// The names with which the keys of `tree` begin, in order; a zero byte follows each name.
  ///
  /// - Parameter name: returns the name in a key.
  func leadingNames(of tree: Tree, _ name: (_ key: ByteView) throws -> String) throws -> [String] {
    let cursor = try Cursor(tree, in: self)
    var names: [String] = []
    var found = try cursor.first()
    while found {
      let name = try name(cursor.key)
      names.append(name)
      // The next key is sought after all other keys that begin with this name and a zero byte.
      found = try cursor.seek(atOrAfter: Array(name.utf8) + [1])
    }
    return names
  }
}

extension FormatError {
  static func missingTree(_ name: TreeName) -> FormatError {
    FormatError("tree '\(name.text)' of the catalogue is missing")
  }
}
