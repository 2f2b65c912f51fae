internal import LMDB
internal import LodestoreBytes

/// Looks records up by their ids, many at a time; faster when the ids are close to each other.
final class RecordLookup {
  private let cursor: Cursor
  private var finder: RecordFinder?
  private var ids: [UInt64] = []
  private var found: [ByteView] = []

  init(_ tree: Tree, in transaction: Transaction) throws(LMDBError) {
    cursor = try Cursor(tree, in: transaction)
    finder = try RecordFinder(tree, in: transaction)
  }

  /// Finds the records with `ids`; ``record(_:at:)`` has them.
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

  /// The record of the id at `index` of those last looked for; `nil` when there is none.
  @inline(__always)
  func record(_ id: UInt64, at index: Int) throws -> ByteView? {
    if finder != nil, found[index].baseAddress != nil { return found[index] }
    // In a write transaction, or a record on overflow pages.
    return try cursor.seek(id) ? cursor.value : nil
  }
}
