internal import LMDB
internal import LodestoreFormat

extension Environment {
  /// The tree; `nil` where it is not there.
  func tree(_ name: TreeName, in transaction: Transaction) throws(LMDBError) -> Tree? {
    try tree(name.text, isCreated: false, hasIntegerKeys: name.hasIntegerKeys, in: transaction)
  }

  /// The tree, made where it is not there.
  func madeTree(_ name: TreeName, in transaction: Transaction) throws -> Tree {
    guard
      let tree = try tree(
        name.text, isCreated: true, hasIntegerKeys: name.hasIntegerKeys, in: transaction)
    else { throw FormatError("cannot make tree \(name.text)") }
    return tree
  }

  /// The tree, which the catalogue names.
  func existingTree(_ name: TreeName, in transaction: Transaction) throws -> Tree {
    guard let tree = try tree(name, in: transaction) else { throw FormatError.missingTree(name) }
    return tree
  }

  /// Opens the trees that are there, before the transaction that reads through them begins.
  func openExistingTrees(_ names: [TreeName]) throws(LMDBError) -> [TreeName: Tree] {
    let trees = try openExistingTrees(names.map { ($0.text, $0.hasIntegerKeys) })
    var found: [TreeName: Tree] = [:]
    for (name, tree) in zip(names, trees) { found[name] = tree }
    return found
  }
}

extension Transaction {
  /// The names that the keys of `tree` begin with, in order; each is followed by a zero byte.
  ///
  /// - Parameter name: the name of a key.
  func leadingNames(
    of tree: Tree, _ name: (_ key: UnsafeRawBufferPointer) throws -> String
  ) throws -> [String] {
    let cursor = try Cursor(tree, in: self)
    var names: [String] = []
    var found = try cursor.first()
    while found {
      let name = try name(cursor.key)
      names.append(name)
      // Nothing else of this name is below 1.
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
