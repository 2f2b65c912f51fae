internal import LMDB
internal import LodestoreFormat

/// Looks ascending keys up in an index: neighbours by a step where the last ones were neighbours,
/// all others by a search.
struct SortedLookup {
  enum Outcome { case found, absent, beyond }

  /// So many searches go by before a step is tried again that led nowhere.
  private static let patience = 16

  let cursor: Cursor
  /// Whether the cursor is at a key that is not below those looked up so far.
  private var isPlaced = false
  /// Whether the key at the cursor was removed: a step goes to the one behind it.
  private var isRemoved = false
  /// Below zero steps are not tried.
  private var confidence = 0

  init(_ cursor: Cursor) { self.cursor = cursor }

  mutating func find(_ key: UnsafeRawBufferPointer) throws(LMDBError) -> Outcome {
    var order = isPlaced ? compareKeys(cursor.key, key) : -1
    let canStep = isPlaced || isRemoved
    if order < 0, canStep, confidence >= 0 {
      guard try cursor.next() else { return .beyond }
      isPlaced = true
      isRemoved = false
      order = compareKeys(cursor.key, key)
      confidence = order < 0 ? confidence - Self.patience : min(confidence + 1, Self.patience / 2)
    } else if canStep, order < 0 {
      confidence += 1
    }
    if order == 0 { return .found }
    // Nothing lies between what was looked up before and where the cursor is.
    if order > 0 { return .absent }
    guard try cursor.seek(atOrAfter: key) else { return .beyond }
    isPlaced = true
    isRemoved = false
    return compareKeys(cursor.key, key) == 0 ? .found : .absent
  }

  /// The pair that was found last has been removed.
  mutating func noteRemoval() {
    isPlaced = false
    isRemoved = true
  }
}

/// The records that have ascending keys in a unique index.
struct HeldKeys {
  /// `nil` where no key that comes can be there.
  private var walk: SortedLookup?
  private let index: StoredIndex

  init(in index: StoredIndex, core: TransactionCore) throws(LMDBError) {
    self.index = index
    guard try core.transaction.count(of: index.tree) > 0 else { return }
    walk = SortedLookup(try Cursor(index.tree, in: core.transaction))
  }

  /// Whether all keys that may come are above the whole index.
  var isOver: Bool { walk == nil }

  /// The record that has `key`, if there is one.
  mutating func holder(of key: UnsafeRawBufferPointer) throws -> UInt64? {
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
