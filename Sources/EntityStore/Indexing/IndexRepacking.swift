internal import LMDB
internal import LodestoreBytes

/// Decides whether a batch rewrites an index in full pages instead of changing it.
///
/// A full page splits into two halves when an entry is put into it. If as many entries are removed
/// as are added, the halves are never filled again. A batch that changes most pages writes them all
/// in any case, so rewriting a badly filled index costs no more pages.
///
/// Full indexes are not rewritten before their pages split. Rewriting them made each batch of a
/// store that was filled once take half as many instructions again.
struct IndexRepacking {
  /// The share of used bytes in leaf pages, from 0 to 1, below which an index is rewritten.
  static let lowestFill = 0.65
  /// The divisor for free space: rewritten pages leave `1 / slack` of their bytes free.
  static let slack = 8
  private static let fewestPages = 32
  private static let sampleCount = 128

  /// Returns whether a batch that adds `added` entries to `index` and removes `removed` must
  /// rewrite it.
  ///
  /// - Parameter middle: the key of one of these entries, around which the size of entries is
  ///   sampled.
  static func isDue(
    _ index: StoredIndex, added: Int, removed: Int, middle: ByteView,
    memoryLimit: Int, in transaction: Transaction
  ) throws(LMDBError) -> Bool {
    let facts = try transaction.statistics(of: index.tree)
    // Two changes for each page, spread over the index, change nearly every page.
    guard facts.leafPages >= fewestPages, added + removed >= 2 * facts.leafPages,
      facts.overflowPages == 0
    else { return false }
    let cursor = try Cursor(index.tree, in: transaction)
    var found = try cursor.seek(atOrAfter: middle)
    if !found { found = try cursor.first() }
    var size = 0
    var count = 0
    while found, count < sampleCount {
      size += LiftedEntries.size(cursor.key, cursor.value)
      count += 1
      found = try cursor.next()
    }
    let mean = Double(size) / Double(max(1, count))
    guard mean * Double(facts.entries) < Double(memoryLimit) else { return false }
    let fill = mean * Double(facts.entries) / Double(facts.leafPages * (facts.pageSize - 16))
    return fill < lowestFill
  }
}
