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

  func recordID(at place: Int) -> UInt64 { arena.recordID(arena.entries[place]) }

  /// Whether the sorted entry at `place` has the key of the entry before it.
  func isRepeated(at place: Int) -> Bool {
    let entry = arena.entries[place]
    let before = arena.entries[place - 1]
    // Equal keys were in one run all along, so that their windows are of the same bytes; the keys
    // themselves lie anywhere in memory.
    return entry.keyCount == before.keyCount && entry.window == before.window
      && compareKeys(arena.key(entry), arena.key(before)) == 0
  }

  /// Visits the entries whose key is in the index already, in one pass in key order, until `body`
  /// returns false.
  func eachHeld(
    in index: StoredIndex, core: TransactionCore,
    _ body: (_ place: Int, _ holder: UInt64) throws(StoreError) -> Bool
  ) throws(StoreError) {
    do {
      var held = try HeldKeys(in: index, core: core)
      for place in 0..<arena.count where !held.isOver {
        arena.fetchAhead(of: place)
        if let holder = try held.holder(of: arena.key(arena.entries[place])) {
          guard try body(place, holder) else { return }
        }
      }
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
    } catch {
      throw StoreError(wrapping: error)
    }
  }
}

extension EntryArenaBox: SortedEntries {
  /// What the entries and the sorting of them take.
  @inline(__always)
  var memoryToSort: Int {
    arena.byteCount &+ arena.count &* 2 &* MemoryLayout<EntryArena.Entry>.stride
  }

  func removeAll() { arena.removeAll() }

  func firstRepeated() -> RepeatedKey? {
    guard arena.count > 1, let place = (1..<arena.count).first(where: isRepeated) else {
      return nil
    }
    return RepeatedKey(
      key: Array(arena.key(arena.entries[place])), first: recordID(at: place - 1),
      second: recordID(at: place))
  }

  func forEach(_ body: (UnsafeRawBufferPointer, UInt64) throws -> Bool) throws {
    for (place, entry) in arena.entries.enumerated() {
      arena.fetchAhead(of: place)
      guard try body(arena.key(entry), arena.recordID(entry)) else { return }
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
}
