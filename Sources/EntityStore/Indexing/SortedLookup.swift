internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Looks ascending keys up in an index with one cursor: by a step to the next entry while steps have led
/// to the keys, otherwise by a search.
struct SortedLookup {
  enum Outcome { case found, absent, beyond }

  /// How many searches follow a step that did not reach the key, before another step is tried.
  private static let patience = 16

  let cursor: Cursor
  /// Whether the cursor is at a key that is not below those looked up so far.
  private var isPositioned = false
  /// Whether the entry at the cursor was removed: a step goes to the one after it.
  private var isRemoved = false
  /// Steps are tried while this is not negative.
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
    // No key lies between the one looked up before and the one at the cursor.
    if order > 0 { return .absent }
    guard try cursor.seek(atOrAfter: key) else { return .beyond }
    isPositioned = true
    isRemoved = false
    return compareKeys(cursor.key, key) == 0 ? .found : .absent
  }

  /// To be called when the entry found last has been removed.
  mutating func noteRemoval() {
    isPositioned = false
    isRemoved = true
  }
}

/// The records that have ascending keys in a unique index.
struct HeldKeys {
  /// `nil` where no further key can be in the index.
  private var walk: SortedLookup?
  private let index: StoredIndex

  init(in index: StoredIndex, core: TransactionCore) throws(LMDBError) {
    self.index = index
    guard try core.transaction.count(of: index.tree) > 0 else { return }
    walk = SortedLookup(try Cursor(index.tree, in: core.transaction))
  }

  /// Whether all further keys are above those of the index.
  var isOver: Bool { walk == nil }

  /// The record that has `key`, if there is one.
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
