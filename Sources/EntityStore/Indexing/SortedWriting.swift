internal import LMDB

/// Puts entries into an index in the order of their keys: appended while they are above all that are
/// there.
struct SortedWriting: ~Copyable {
  private let cursor: Cursor
  private let isUnique: Bool
  private let body = UnsafeMutableRawBufferPointer.allocate(byteCount: 8, alignment: 8)
  private var isAppending: Bool
  /// Whether the first key was compared with the last one that is there.
  private var hasBegun = false

  init(into index: StoredIndex, core: TransactionCore) throws(LMDBError) {
    cursor = try Cursor(index.tree, in: core.transaction)
    isUnique = index.isUnique
    isAppending = true
  }

  deinit { body.deallocate() }

  @inline(__always)
  mutating func put(_ key: UnsafeRawBufferPointer, recordID: UInt64) throws(LMDBError) {
    if !hasBegun { try begin(key) }
    if isUnique { body.storeBytes(of: recordID.littleEndian, as: UInt64.self) }
    let value = UnsafeRawBufferPointer(start: body.baseAddress, count: isUnique ? 8 : 0)
    if isAppending {
      if try cursor.append(key, value) { return }
      isAppending = false
    }
    try cursor.put(key, value)
  }

  /// Puts all entries of `block`, whose keys are made and above those before.
  mutating func put(_ block: borrowing KeyBlock) throws(LMDBError) {
    guard block.count > 0, let keys = block.base else { return }
    if !hasBegun { try begin(block.key(at: 0)) }
    var place = 0
    if isAppending {
      place = try cursor.append(keys: keys, ends: block.ends, values: block.values)
      isAppending = place == block.count
    }
    while place < block.count {
      try put(block.key(at: place), recordID: block.recordID(at: place))
      place += 1
    }
  }

  private mutating func begin(_ key: UnsafeRawBufferPointer) throws(LMDBError) {
    hasBegun = true
    if try cursor.last() { isAppending = compareKeys(cursor.key, key) < 0 }
  }
}
