internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

// Only this file writes the trees of search indexes; `tools/lint` checks this.

/// The tree of a search index, for one pass of changes in the order of keys.
///
/// A batch of new records with many words changes most blocks. LMDB would then split most pages, and
/// leave them half full. For such a batch, ``rewrite()`` takes all pairs into memory, and the pass
/// appends old and new ones, which fills pages.
final class PostingTree {
  private let tree: Tree
  private let cursor: WritingCursor
  private let transaction: WritingTransaction
  /// The pairs that were taken out; `nil` if the tree is changed in place.
  private var old: TakenPairs?

  init(_ tree: Tree, in transaction: WritingTransaction) throws(LMDBError) {
    self.tree = tree
    self.transaction = transaction
    cursor = try WritingCursor(tree, in: transaction)
  }

  var key: ByteView { old.map { $0.key } ?? cursor.reads.key }
  var value: ByteView { old.map { $0.value } ?? cursor.reads.value }

  func seek(_ key: ByteView) throws(LMDBError) -> Bool {
    if let old { return old.seek(key) && compareKeys(old.key, key) == 0 }
    return try cursor.reads.seek(key)
  }

  func seek(atOrAfter key: ByteView) throws(LMDBError) -> Bool {
    if let old { return old.seek(key) }
    return try cursor.reads.seek(atOrAfter: key)
  }

  /// Finds the pair before `key`; only in a tree that is changed in place.
  func seek(before key: ByteView) throws(LMDBError) -> Bool {
    assert(old == nil, "a batch of new records removes no block")
    return try cursor.reads.seek(before: key)
  }

  /// Removes the pair that was found last.
  func delete() throws(LMDBError) {
    if let old { return old.remove() }
    try cursor.delete()
  }

  func put(_ key: ByteView, _ value: ByteView) throws(LMDBError) {
    guard let old else { return try cursor.put(key, value) }
    try appendOld(below: key, old)
    _ = try cursor.append(key, value)
  }

  private func appendOld(below key: ByteView?, _ old: TakenPairs) throws(LMDBError) {
    try old.forEach(below: key) { (key, value) throws(LMDBError) in
      _ = try cursor.append(key, value)
    }
  }

  /// Takes all pairs out of the tree if a batch changes blocks of `termCount` terms and these are
  /// on most pages.
  ///
  /// To take and append 16 pairs costs about as much as to change one block in its page.
  /// A tree of more than `memoryLimit` bytes stays as it is.
  func rewriteIfWorthwhile(_ termCount: Int, memoryLimit: Int) throws(LMDBError) {
    let statistics = try transaction.reads.statistics(of: tree)
    let size = (statistics.leafPages + statistics.overflowPages) * statistics.pageSize
    guard size <= memoryLimit, termCount >= statistics.entries / 16 else { return }
    let pairs = TakenPairs()
    var isFound = try cursor.reads.first()
    while isFound {
      pairs.append(cursor.reads.key, cursor.reads.value)
      isFound = try cursor.reads.next()
    }
    try transaction.empty(tree)
    old = pairs
  }

  /// Puts the pairs back that were taken out and not replaced.
  func finish() throws(LMDBError) {
    if let old { try appendOld(below: nil, old) }
    old = nil
  }
}

/// Pairs in memory, read once in the order of their keys.
private final class TakenPairs {
  private var bytes: [UInt8] = []
  /// For each pair the offsets of its key and value.
  private var offsets: [(key: Int, value: Int)] = []
  private var isRemoved: [Bool] = []
  /// The first pair that was not passed on.
  private var next = 0
  private var index = 0

  func append(_ key: ByteView, _ value: ByteView) {
    offsets.append((bytes.count, bytes.count + key.count))
    bytes.append(contentsOf: key)
    bytes.append(contentsOf: value)
    isRemoved.append(false)
  }

  /// The bytes of the pair at the index; they are valid as long as no pair is appended.
  private func range(_ index: Int) -> (key: Range<Int>, value: Range<Int>) {
    let end = index + 1 < offsets.count ? offsets[index + 1].key : bytes.count
    return (offsets[index].key..<offsets[index].value, offsets[index].value..<end)
  }

  private func view(_ range: Range<Int>) -> ByteView { bytes._withBytes { $0[range] } }

  var key: ByteView { index < offsets.count ? view(range(index).key) : ByteView() }
  var value: ByteView { index < offsets.count ? view(range(index).value) : ByteView() }

  /// Finds the first pair from `key` on that is still there.
  func seek(_ key: ByteView) -> Bool {
    // Most keys come in ascending order; those of lengths come in any order.
    let isBehind = next >= offsets.count || compareKeys(view(range(next).key), key) > 0
    var low = isBehind ? 0 : next
    var step = isBehind ? max(1, offsets.count) : 1
    while low + step < offsets.count, compareKeys(view(range(low + step).key), key) < 0 {
      low += step
      step *= 2
    }
    var high = min(offsets.count, low + step)
    while low < high {
      let middle = (low + high) / 2
      if compareKeys(view(range(middle).key), key) < 0 { low = middle + 1 } else { high = middle }
    }
    while low < offsets.count, isRemoved[low] { low += 1 }
    index = low
    return low < offsets.count
  }

  func remove() { isRemoved[index] = true }

  /// Passes on the pairs below `key`, or all if it is `nil`; a pair with the key itself is dropped.
  func forEach(
    below key: ByteView?, _ body: (ByteView, ByteView) throws(LMDBError) -> Void
  ) throws(LMDBError) {
    while next < offsets.count {
      let range = range(next)
      let order = key.map { compareKeys(view(range.key), $0) } ?? -1
      if order > 0 { return }
      if order < 0, !isRemoved[next] { try body(view(range.key), view(range.value)) }
      next += 1
      if order == 0 { return }
    }
  }
}
