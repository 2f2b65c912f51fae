internal import LMDB

/// Looks records up by their ids, many at a time: the quicker the nearer they are to each other.
final class RecordLookup {
  private let cursor: Cursor
  private var finder: RecordFinder?
  private var ids: [UInt64] = []
  private var found: [UnsafeRawBufferPointer] = []

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
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      found.append(contentsOf: repeatElement(none, count: ids.count - found.count))
    }
    self.ids.withUnsafeBufferPointer { ids in
      found.withUnsafeMutableBufferPointer { found in finder?.find(ids, found) }
    }
  }

  /// The record with the id that was at `place` of those last looked for; `nil` when there is none.
  @inline(__always)
  func record(_ id: UInt64, at place: Int) throws -> UnsafeRawBufferPointer? {
    if finder != nil, found[place].baseAddress != nil { return found[place] }
    // In a write, or a record that has pages of its own.
    return try cursor.seek(id) ? cursor.value : nil
  }
}
