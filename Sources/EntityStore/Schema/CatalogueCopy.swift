internal import LMDB
internal import LodestoreFormat

/// The second copy of the catalogue, in pages of its own; see Format.md, "Second copy".
///
/// A repair reads it where a page of the catalogue or of the header is damaged.
enum CatalogueCopy {
  static func tree(in transaction: Transaction, isCreated: Bool) throws -> Tree? {
    try transaction.environment.tree(
      TreeName.catalogueCopy.text, isCreated: isCreated, hasIntegerKeys: false, in: transaction)
  }

  /// Makes the copy what the catalogue and the header are; pairs that are right stay.
  static func renew(_ header: Tree, _ catalogue: Tree, in transaction: Transaction) throws {
    guard let copy = try tree(in: transaction, isCreated: true) else { return }
    var wanted = try pairs(of: catalogue, in: transaction)
    for field in CatalogueCopyKey.fields {
      guard let body = try transaction.get(field.key, in: header) else { continue }
      let key = CatalogueCopyKey.key(of: field)
      wanted[key] = Checksum.sealed(key: key, content: Array(body))
    }
    let known = try pairs(of: copy, in: transaction)
    for key in known.keys where wanted[key] == nil { _ = try transaction.delete(key, in: copy) }
    for (key, body) in wanted where known[key] != body {
      try transaction.put(key, body, in: copy)
    }
  }

  private static func pairs(
    of tree: Tree, in transaction: Transaction
  ) throws -> [[UInt8]: [UInt8]] {
    var pairs: [[UInt8]: [UInt8]] = [:]
    let cursor = try Cursor(tree, in: transaction)
    var found = try cursor.first()
    while found {
      pairs[Array(cursor.key)] = Array(cursor.value)
      found = try cursor.next()
    }
    return pairs
  }
}
