internal import LMDB
internal import LodestoreFormat

/// Inserts many new records: records appended as they come, index entries collected, sorted and
/// written in key order.
///
/// Nothing remains of a batch that throws: records are taken out again before any index entry has
/// been written, since uniqueness is checked first.
final class BulkInsert {
  private let core: TransactionCore
  private let entity: StoredEntity
  private let firstID: UInt64
  private var nextID: UInt64
  private let arenas: EntryArenas
  private let records: Cursor

  init(
    into entity: StoredEntity, core: TransactionCore, expectedCount: Int
  ) throws(StoreError) {
    self.core = core
    self.entity = entity
    firstID = try core.nextID(of: entity)
    nextID = firstID
    arenas = EntryArenas(count: entity.indexes.count, expectedCount: expectedCount)
    do {
      records = try Cursor(entity.records, in: core.transaction)
    } catch {
      throw StoreError(error)
    }
  }

  /// Appends one record.
  ///
  /// `content` has no checksum yet, and four free bytes behind it.
  func append(_ content: UnsafeMutableRawBufferPointer) throws(StoreError) -> UInt64 {
    let id = nextID
    let record = core.seal(content, id: id)
    let view = try entity.view(record, id: id)
    try entity.validate(view)
    for (place, index) in entity.indexes.enumerated() {
      try core.encodeKey(of: view, id: id, in: index, of: entity)
      arenas[place].append(key: core.key.bytes, recordID: id)
    }
    do {
      guard let page = try records.appendReserving(id, byteCount: record.count) else {
        throw StoreError.damagedIndex(entity.name, "record \(id) exists although it is new")
      }
      page.copyMemory(from: record)
    } catch {
      throw StoreError(wrapping: error)
    }
    nextID += 1
    core.nextIDs[entity.number] = nextID
    return id
  }

  /// Writes the index entries; throws, and takes everything back, when a unique index is violated.
  func finish() throws(StoreError) {
    do throws(StoreError) {
      for (place, index) in entity.indexes.enumerated() {
        arenas[place].sort()
        if index.isUnique { try checkUnique(place, index) }
      }
    } catch {
      try takeBack()
      throw error
    }
    for (place, index) in entity.indexes.enumerated() {
      try arenas[place].write(into: index, core: core)
    }
  }

  private func checkUnique(_ place: Int, _ index: StoredIndex) throws(StoreError) {
    let detail = { (key: UnsafeRawBufferPointer) in KeyText.text(key) }
    if let repeated = arenas[place].firstRepeated() {
      throw .repeatedInBatch(
        entity: entity.name, index: index.name, detail: arenas[place].withKey(repeated, detail))
    }
    if let (entry, holder) = try arenas[place].firstHeld(in: index, core: core) {
      throw .uniqueViolation(
        entity: entity.name, index: index.name, holder: holder,
        detail: arenas[place].withKey(entry, detail))
    }
  }

  /// Removes the records of this batch; their ids are given again, as nobody has seen them.
  func takeBack() throws(StoreError) {
    do {
      for id in firstID..<nextID { try core.transaction.delete(id, in: entity.records) }
      core.nextIDs[entity.number] = firstID
    } catch {
      throw StoreError(error)
    }
  }
}

/// One arena per index.
///
/// A class, as arrays cannot hold non-copyable values.
final class EntryArenaBox {
  // Of one thread; a check of each access would show in every batch.
  @exclusivity(unchecked) var arena: EntryArena

  init(expectedCount: Int) { arena = EntryArena(expectedCount: expectedCount) }

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
    return entry.keyCount == before.keyCount
      && (entry.window == before.window || entry.keyCount > 8)
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
      for entry in arena.entries {
        var id = arena.recordID(entry).littleEndian
        let key = arena.key(entry)
        try withUnsafeBytes(of: &id) { (bytes) throws(LMDBError) in
          let body = index.isUnique ? bytes : UnsafeRawBufferPointer(start: nil, count: 0)
          if isAppending {
            if try cursor.append(key, body) { return }
            isAppending = false
          }
          try cursor.put(key, body)
        }
      }
      arena.removeAll()
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// Removes all entries, sorted before.
  func remove(from index: StoredIndex, core: TransactionCore) throws(StoreError) {
    do {
      var walk = SortedLookup(try Cursor(index.tree, in: core.transaction))
      for entry in arena.entries {
        let outcome = try walk.find(arena.key(entry))
        if outcome == .beyond { break }
        if outcome == .found { try walk.remove() }
      }
      arena.removeAll()
    } catch {
      throw StoreError(wrapping: error)
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
