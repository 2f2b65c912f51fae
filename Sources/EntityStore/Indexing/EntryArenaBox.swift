internal import LMDB
internal import LodestoreFormat

/// The arena of one index.
///
/// A class, as neither arrays nor enumerations with other references can hold non-copyable values.
final class EntryArenaBox {
  // Of one thread; a check of each access would show in every batch.
  @exclusivity(unchecked) var arena: EntryArena

  init(expectedCount: Int) { arena = EntryArena(expectedCount: expectedCount) }

  @inline(__always)
  func append(key: UnsafeRawBufferPointer, recordID: UInt64) {
    arena.append(key: key, recordID: recordID)
  }

  func sort() { arena.sort() }

  func removeAll() { arena.removeAll() }

  /// What the entries and the sorting of them take.
  @inline(__always)
  var memoryToSort: Int {
    arena.byteCount &+ arena.count &* 2 &* MemoryLayout<EntryArena.Entry>.stride
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
        if let holder = try held.holder(of: key(at: place)) {
          guard try body(place, holder) else { return }
        }
      }
    } catch {
      throw StoreError(wrapping: error)
    }
  }
}

extension EntryArenaBox: PlacedEntries {
  @inline(__always)
  var count: Int { arena.count }

  @inline(__always)
  func key(at place: Int) -> UnsafeRawBufferPointer { arena.key(arena.entries[place]) }

  @inline(__always)
  func recordID(at place: Int) -> UInt64 { arena.recordID(arena.entries[place]) }

  func isRepeated(at place: Int) -> Bool {
    let entry = arena.entries[place]
    let before = arena.entries[place - 1]
    // Equal keys were in one run all along, so that their windows are of the same bytes; the keys
    // themselves lie anywhere in memory.
    return entry.keyCount == before.keyCount && entry.window == before.window
      && compareKeys(arena.key(entry), arena.key(before)) == 0
  }

  @inline(__always)
  func fetchAhead(of place: Int) { arena.fetchAhead(of: place) }

  @inline(__always)
  func isBehind(_ place: Int, _ other: EntryArenaBox, at otherPlace: Int) -> Bool {
    compareKeys(key(at: place), other.key(at: otherPlace)) > 0
  }
}
