internal import LMDB
internal import LodestoreFormat

/// One arena per index.
///
/// A class, as arrays cannot hold non-copyable values.
final class EntryArenaBox {
  // Of one thread; a check of each access would show in every batch.
  @exclusivity(unchecked) var arena: EntryArena

  init(expectedCount: Int) { arena = EntryArena(expectedCount: expectedCount) }

  @inline(__always)
  func append(key: UnsafeRawBufferPointer, recordID: UInt64) {
    arena.append(key: key, recordID: recordID)
  }

  func sort() { arena.sort() }

  func withKey<R>(_ place: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    body(arena.key(arena.entries[place]))
  }

  /// The place of an entry whose key is that of the entry before it.
  func firstRepeated() -> Int? {
    guard arena.count > 1 else { return nil }
    return (1..<arena.count).first(where: isRepeated)
  }

  /// Whether the sorted entry at `place` has the key of the entry before it.
  func isRepeated(at place: Int) -> Bool {
    let entry = arena.entries[place]
    let before = arena.entries[place - 1]
    // Equal keys were in one run all along, so that their windows are of the same bytes; the keys
    // themselves lie anywhere in memory.
    return entry.keyCount == before.keyCount && entry.window == before.window
      && compareKeys(arena.key(entry), arena.key(before)) == 0
  }

  /// The place of an entry whose key is in the index already, and the record that holds it.
  func firstHeld(
    in index: StoredIndex, core: TransactionCore
  ) throws(StoreError) -> (Int, UInt64)? {
    var result: (Int, UInt64)?
    try eachHeld(in: index, core: core) { place, holder in
      result = (place, holder)
      return false
    }
    return result
  }

  /// Visits the entries whose key is in the index already, in one pass in key order, until `body`
  /// returns false.
  func eachHeld(
    in index: StoredIndex, core: TransactionCore,
    _ body: (_ place: Int, _ holder: UInt64) throws(StoreError) -> Bool
  ) throws(StoreError) {
    do {
      guard try core.transaction.count(of: index.tree) > 0 else { return }
      let cursor = try Cursor(index.tree, in: core.transaction)
      var walk = SortedLookup(cursor)
      for place in 0..<arena.count {
        arena.fetchAhead(of: place)
        let key = arena.key(arena.entries[place])
        switch try walk.find(key) {
        // Everything from here on is above the whole index.
        case .beyond: return
        case .absent: continue
        case .found: break
        }
        guard cursor.value.count == 8 else {
          throw StoreError.damagedIndex(index.name, "an entry has no record id")
        }
        guard try body(place, cursor.value.uint64(at: 0)) else { return }
      }
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// Puts all entries, sorted before: appended while they are above all that are there.
  func write(into index: StoredIndex, core: TransactionCore) throws(StoreError) {
    do {
      let cursor = try Cursor(index.tree, in: core.transaction)
      var isAppending = true
      if arena.count > 0, try cursor.last() {
        isAppending = compareKeys(cursor.key, arena.key(arena.entries[0])) < 0
      }
      let isUnique = index.isUnique
      let body = UnsafeMutableRawBufferPointer.allocate(byteCount: 8, alignment: 8)
      defer { body.deallocate() }
      let value = UnsafeRawBufferPointer(start: body.baseAddress, count: isUnique ? 8 : 0)
      for (place, entry) in arena.entries.enumerated() {
        arena.fetchAhead(of: place)
        if isUnique { body.storeBytes(of: arena.recordID(entry).littleEndian, as: UInt64.self) }
        let key = arena.key(entry)
        if isAppending {
          if try cursor.append(key, value) { continue }
          isAppending = false
        }
        try cursor.put(key, value)
      }
      arena.removeAll()
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// Removes the entries of `old` and puts all of these, both sorted before, in one pass: what one
  /// record gives up, another may take.
  func write(
    into index: StoredIndex, removing old: EntryArenaBox, core: TransactionCore
  ) throws(StoreError) {
    if old.arena.isEmpty { return try write(into: index, core: core) }
    do {
      let cursor = try Cursor(index.tree, in: core.transaction)
      let isUnique = index.isUnique
      let body = UnsafeMutableRawBufferPointer.allocate(byteCount: 8, alignment: 8)
      defer { body.deallocate() }
      let value = UnsafeRawBufferPointer(start: body.baseAddress, count: isUnique ? 8 : 0)
      let leaving = old.arena.entries
      let coming = arena.entries
      var left = 0
      var right = 0
      while left < leaving.count || right < coming.count {
        let isLeaving =
          right == coming.count
          || left < leaving.count
            && compareKeys(old.arena.key(leaving[left]), arena.key(coming[right])) <= 0
        if isLeaving {
          old.arena.fetchAhead(of: left)
          if try cursor.seek(old.arena.key(leaving[left])) { try cursor.delete() }
          left &+= 1
        } else {
          arena.fetchAhead(of: right)
          let entry = coming[right]
          if isUnique { body.storeBytes(of: arena.recordID(entry).littleEndian, as: UInt64.self) }
          try cursor.put(arena.key(entry), value)
          right &+= 1
        }
      }
      old.arena.removeAll()
      arena.removeAll()
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// Removes all entries, sorted before.
  func remove(from index: StoredIndex, core: TransactionCore) throws(StoreError) {
    do {
      guard !arena.isEmpty else { return }
      var walk = SortedLookup(try Cursor(index.tree, in: core.transaction))
      for (place, entry) in arena.entries.enumerated() {
        arena.fetchAhead(of: place)
        let outcome = try walk.find(arena.key(entry))
        if outcome == .beyond { break }
        if outcome == .found { try walk.remove() }
      }
      arena.removeAll()
    } catch {
      throw StoreError(error)
    }
  }
}

/// The arenas of all indexes of an entity.
struct EntryArenas {
  private let boxes: [EntryArenaBox]

  init(count: Int, expectedCount: Int) {
    boxes = (0..<count).map { _ in EntryArenaBox(expectedCount: expectedCount) }
  }

  subscript(place: Int) -> EntryArenaBox { boxes[place] }

  var byteCount: Int { boxes.reduce(0) { $0 + $1.arena.byteCount + $1.arena.count * 16 } }
}

/// Looks ascending keys up in an index: neighbours by a step where the last ones were neighbours,
/// all others by a search.
private struct SortedLookup {
  enum Outcome { case found, absent, beyond }

  /// So many searches go by before a step is tried again that led nowhere.
  private static let patience = 16

  private let cursor: Cursor
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

  /// Removes the pair that was found last.
  mutating func remove() throws(LMDBError) {
    try cursor.delete()
    isPlaced = false
    isRemoved = true
  }
}
