internal import LMDB
internal import LodestoreFormat

/// The second copy of the catalogue, in pages of its own; see Format.md, "Second copy".
///
/// A repair reads it if a page of the catalogue or of the header is damaged.
enum CatalogueCopy {
  /// Updates the copy from the catalogue and the header, writing only pairs that differ.
  static func update(_ header: Tree, _ catalogue: Tree, in transaction: WritingTransaction) throws {
    let copy = try transaction.environment.openOrMakeTree(.catalogueCopy, in: transaction)
    var wanted = try pairs(of: catalogue, in: transaction.reads)
    for field in CatalogueCopyKey.fields {
      guard let body = try transaction.get(field.key, in: header) else { continue }
      let key = CatalogueCopyKey.key(of: field)
      wanted[key] = Checksum.sealed(key: key, content: Array(body))
    }
    let known = try pairs(of: copy, in: transaction.reads)
    for key in known.keys where wanted[key] == nil { _ = try transaction.delete(key, in: copy) }
    for (key, body) in wanted where known[key] != body { try transaction.put(key, body, in: copy) }
  }

  private static func pairs(
    of tree: Tree, in transaction: Transaction
  ) throws -> [[UInt8]: [UInt8]] {
    var pairs: [[UInt8]: [UInt8]] = [:]
    try transaction.forEachPair(of: tree) { pairs[Array($0)] = Array($1) }
    return pairs
  }
}
