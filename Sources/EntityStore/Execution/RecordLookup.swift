internal import LMDB
internal import LodestoreBytes

/// Looks up many records by id at a time, faster if the ids are close to each other.
final class RecordLookup {
  private let cursor: Cursor
  private var finder: RecordFinder?
  private var ids: [UInt64] = []
  /// The records of the last lookup, and those of longer ones before; empty without a finder.
  // Only one thread uses the object. An exclusivity check for each record would slow every query.
  @exclusivity(unchecked) private var found: [ByteView] = []

  init(_ tree: Tree, in transaction: Transaction) throws(LMDBError) {
    cursor = try Cursor(tree, in: transaction)
    finder = try RecordFinder(tree, in: transaction)
  }

  /// Finds the records with `ids`, which ``record(_:at:)`` then returns.
  func look(for ids: some Collection<UInt64>) {
    guard finder != nil else { return }
    self.ids.removeAll(keepingCapacity: true)
    self.ids.append(contentsOf: ids)
    if found.count < ids.count {
      let none = ByteView()
      found.append(contentsOf: repeatElement(none, count: ids.count - found.count))
    }
    finder?.find(self.ids, &found)
  }

  /// Returns the record of the id at `index` of the last lookup, or `nil` if none exists.
  @inline(__always)
  func record(_ id: UInt64, at index: Int) throws -> ByteView? {
    if index < found.count, found[index].baseAddress != nil { return found[index] }
    // The finder is nil in a write, with ``StoreOptions/usesPlainEngine`` and for an empty tree.
    // Even a finder does not find records on overflow pages.
    return try cursor.seek(id) ? cursor.value : nil
  }
}
