internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Looks up ascending keys in an index with one cursor.
///
/// The lookup steps to the next entry as long as steps usually reach the next key, and searches
/// the tree otherwise.
struct SortedLookup {
  enum Outcome { case found, absent, beyond }

  /// The number of searches after a step that did not reach the key, before the next step is tried.
  private static let patience = 16

  let cursor: Cursor
  /// Whether the cursor is at a key that is not below the keys looked up so far.
  private var isPositioned = false
  /// Whether the entry at the cursor has been removed, so that a step goes to the entry after it.
  private var isRemoved = false
  /// A score of recent steps.
  ///
  /// A step is tried unless the score is negative.
  private var confidence = 0

  init(_ cursor: Cursor) { self.cursor = cursor }

  mutating func find(_ key: ByteView) throws(LMDBError) -> Outcome {
    var order = isPositioned ? compareKeys(cursor.key, key) : -1
    let canStep = isPositioned || isRemoved
    if order < 0, canStep, confidence >= 0 {
      guard try cursor.next() else { return .beyond }
      isPositioned = true
      isRemoved = false
      order = compareKeys(cursor.key, key)
      confidence = order < 0 ? confidence - Self.patience : min(confidence + 1, Self.patience / 2)
    } else if canStep, order < 0 {
      confidence += 1
    }
    if order == 0 { return .found }
    // The cursor is at the first key after the one looked up before, so this key is not in the
    // index.
    if order > 0 { return .absent }
    guard try cursor.seek(atOrAfter: key) else { return .beyond }
    isPositioned = true
    isRemoved = false
    return compareKeys(cursor.key, key) == 0 ? .found : .absent
  }

  /// Notes that the caller has removed the entry found last.
  mutating func noteRemoval() {
    isPositioned = false
    isRemoved = true
  }
}

/// Finds the records that have ascending keys in a unique index.
struct UniqueKeyHolders {
  /// The lookup; `nil` if no further key can be in the index.
  private var walk: SortedLookup?
  private let index: StoredIndex

  init(in index: StoredIndex, core: TransactionCore) throws(LMDBError) {
    self.index = index
    guard try core.transaction.count(of: index.tree) > 0 else { return }
    walk = SortedLookup(try Cursor(index.tree, in: core.transaction))
  }

  /// Whether all further keys are above those in the index.
  var isOver: Bool { walk == nil }

  /// Returns the record that has `key`, or `nil` if none exists.
  mutating func holder(of key: ByteView) throws -> UInt64? {
    switch try walk?.find(key) {
    case nil, .absent?: return nil
    case .beyond?:
      walk = nil
      return nil
    case .found?: break
    }
    guard let value = walk?.cursor.value, value.count == 8 else {
      throw StoreError.damagedIndex(index.name, "an entry has no record id")
    }
    return value.uint64(at: 0)
  }
}
