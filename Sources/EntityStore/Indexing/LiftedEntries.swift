internal import LMDB

/// Entries that were taken out of an index, in order, to be put back behind those that come before them.
///
/// LMDB splits a full page in its middle, but where an entry comes behind all others of the page: then the
/// page stays full. So with the entries out of the way that follow a run of new ones, the run fills its pages.
struct LiftedEntries: ~Copyable {
  /// For each entry the bytes of its key, then those of its value.
  private var bytes: [UInt8] = []
  private var ends: [(key: Int, value: Int)] = []
  /// The index of the first entry that has not been put back.
  private var first = 0

  var isEmpty: Bool { first == ends.count }

  /// The bytes that an entry takes in a page of LMDB.
  static func size(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Int {
    // A node's header and its slot; nodes begin at even offsets.
    (8 + key.count + value.count + 1) & ~1 + 2
  }

  mutating func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: key)
    let keyEnd = bytes.count
    bytes.append(contentsOf: value)
    ends.append((keyEnd, bytes.count))
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    first = 0
  }

  mutating func removeFirst() { first += 1 }

  /// Calls `body` with the first entry.
  func withFirst<R, E: Error>(
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    let start = first == 0 ? 0 : ends[first - 1].value
    let (keyEnd, end) = ends[first]
    return try bytes.withBytes { (bytes) throws(E) in
      try body(
        UnsafeRawBufferPointer(rebasing: bytes[start..<keyEnd]),
        UnsafeRawBufferPointer(rebasing: bytes[keyEnd..<end]))
    }
  }

  /// The order of the first entry's key and `key`.
  func order(to key: UnsafeRawBufferPointer) -> Int {
    withFirst { first, _ in Int(compareKeys(first, key)) }
  }
}

/// Whether a batch is to write an index anew, in full pages, instead of changing it.
///
/// A page that is full splits into halves by its first new entry, and where as many entries leave as come
/// the halves are never filled. A batch that changes most pages writes them all in any case, so the first one
/// that finds an index so writes it anew. To write full pages anew, before they split, would cost each batch of
/// a store that was filled once half as much again.
struct IndexRepacking {
  /// Of the room in pages; below it an index is written anew.
  static let lowestFill = 0.65
  /// What is left free in each page, of its size: an eighth.
  static let slack = 8
  private static let fewestPages = 32
  private static let sampleCount = 128

  /// Whether to write `index` anew with a batch that puts `added` entries and removes `removed`, one of them
  /// with the key `middle`.
  static func isDue(
    _ index: StoredIndex, added: Int, removed: Int, middle: UnsafeRawBufferPointer,
    memoryLimit: Int, in transaction: Transaction
  ) throws(LMDBError) -> Bool {
    let facts = try transaction.statistics(of: index.tree)
    // Spread over the index, the changes meet nearly each of its pages.
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
