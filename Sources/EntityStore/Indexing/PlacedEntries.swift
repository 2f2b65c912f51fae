internal import LMDB

/// Index entries in memory, each of which has a place in the order of the keys once they are sorted.
protocol PlacedEntries: SortedEntries {
  var count: Int { get }

  /// The key of the entry at `place`; valid until another one is asked for.
  func key(at place: Int) -> UnsafeRawBufferPointer

  func recordID(at place: Int) -> UInt64

  /// Whether the entry at `place` has the key of the entry before it.
  func isRepeated(at place: Int) -> Bool

  /// Has what is read of an entry some places behind `place` fetched into the cache.
  func fetchAhead(of place: Int)

  /// Whether the key of the entry at `place` is above that of another list's entry.
  func isBehind(_ place: Int, _ other: Self, at otherPlace: Int) -> Bool
}

extension PlacedEntries {
  func firstRepeated() -> RepeatedKey? {
    guard count > 1, let place = (1..<count).first(where: isRepeated) else { return nil }
    return RepeatedKey(
      key: Array(key(at: place)), first: recordID(at: place - 1), second: recordID(at: place))
  }

  func forEach(_ body: (UnsafeRawBufferPointer, UInt64) throws -> Bool) throws {
    for place in 0..<count {
      fetchAhead(of: place)
      guard try body(key(at: place), recordID(at: place)) else { return }
    }
  }

  func write(into index: StoredIndex, core: TransactionCore) throws(StoreError) {
    do {
      var writer = try IndexWriter(into: index, core: core)
      for place in 0..<count {
        fetchAhead(of: place)
        try writer.put(key(at: place), recordID: recordID(at: place))
      }
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// Removes the entries of `old` from `index` and puts all of these, both sorted before, in one pass:
  /// what one record gives up, another may take.
  func write(into index: StoredIndex, removing old: Self, core: TransactionCore) throws(StoreError)
  {
    if old.count == 0 { return try write(into: index, core: core) }
    do {
      var writer = try IndexWriter(into: index, core: core, alsoRemoves: true)
      var left = 0
      var right = 0
      while left < old.count || right < count {
        if right == count || left < old.count && !old.isBehind(left, self, at: right) {
          old.fetchAhead(of: left)
          try writer.remove(old.key(at: left), recordID: old.recordID(at: left))
          left &+= 1
        } else {
          fetchAhead(of: right)
          try writer.put(key(at: right), recordID: recordID(at: right))
          right &+= 1
        }
      }
    } catch {
      throw StoreError(wrapping: error)
    }
  }
}
