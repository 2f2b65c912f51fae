internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension PlanRun {
  /// Returns the ranges of `access` in the order of the walk, each with the part of it to visit.
  ///
  /// - Parameter bound: the key at which the visit begins.
  func ranges(
    of access: IndexAccess, from bound: [UInt8]? = nil, isReversed: Bool
  ) -> [(range: IndexRange, keys: KeyRange?)] {
    let ranges = isReversed ? access.ranges.reversed() : access.ranges
    return ranges.compactMap { range in
      let keys = bound.map { range.keys.starting(at: $0, isReversed: isReversed) }
      return keys?.isEmpty ?? false ? nil : (range, keys)
    }
  }

  /// Visits the entries of all ranges of `access` that pass its filter, merged by the elements
  /// after the point elements.
  ///
  /// The point elements are those that are equal within each range.
  ///
  /// - Parameter bound: the part of a key after the point elements at which the visit begins.
  @inline(never)
  func forEachMergedEntry(
    of access: IndexAccess, from bound: [UInt8]?, isReversed: Bool, _ body: (UInt64) throws -> Bool
  ) throws {
    var ranges: [MergedRange] = []
    for range in access.ranges {
      let prefixLength = range.lower._withBytes { lower in
        (0..<access.pointCount).reduce(Optional(0)) { end, _ in
          end.flatMap { KeyDecoder.endOfElement(in: lower, at: $0) }
        }
      }
      guard let prefixLength else { throw NeedsAlternative() }
      var keys = range.keys
      if let bound {
        keys = keys.starting(at: range.lower[..<prefixLength] + bound, isReversed: isReversed)
      }
      let cursor = try Cursor(access.index.tree, in: core.transaction)
      let merged = MergedRange(
        cursor: cursor, keys: keys, prefixLength: prefixLength, isReversed: isReversed)
      if try cursor.seekStart(of: keys, backwards: isReversed), merged.hasEntry {
        ranges.append(merged)
      }
    }
    // The ranges that have entries left, ordered by their next entries.
    var heap = Heap<Int>()
    for index in ranges.indices { heap.insert(index) { ranges[$0].precedes(ranges[$1]) } }
    let isUnique = access.index.isUnique
    while let first = heap.first {
      try tick()
      counts.entriesRead &+= 1
      let range = ranges[first]
      let key = range.cursor.key
      // A cut key lacks values to merge by, so the alternative plan reads records.
      guard key.count < KeyEncoder.cutPrefix else { throw NeedsAlternative() }
      let id = try recordID(key, range.cursor.value, access.index, isUnique: isUnique)
      let isResult = try access.filter.map { try passes($0, id, key) } ?? true
      if isResult, try !body(id) { return }
      let isMoved = try isReversed ? range.cursor.previous() : range.cursor.next()
      if isMoved, range.hasEntry {
        heap.replaceFirst(with: first) { ranges[$0].precedes(ranges[$1]) }
      } else {
        heap.removeFirst { ranges[$0].precedes(ranges[$1]) }
      }
    }
  }
}

/// A range of an index that is merged with others, positioned at its next entry.
private struct MergedRange {
  let cursor: Cursor
  let keys: KeyRange
  /// The length of the elements that all keys of the range share.
  let prefixLength: Int
  let isReversed: Bool

  /// Whether the cursor is at an entry of the range.
  var hasEntry: Bool { keys.admits(cursor.key, backwards: isReversed) }

  private var rest: ByteView { cursor.key.dropFirst(prefixLength) }

  /// The record id in the entry's value, where a unique index stores it; `nil` in other indexes.
  private var id: UInt64? { cursor.value.count == 8 ? cursor.value.uint64(at: 0) : nil }

  func precedes(_ other: MergedRange) -> Bool {
    let (first, second) = (rest, other.rest)
    var order = compareKeys(first, second)
    if let firstID = id, let secondID = other.id {
      // In a unique index, the key of a tuple with a null ends with the record id, and other keys
      // do not. Entries with equal elements are therefore compared by id.
      let shared = min(first.count, second.count)
      if first[..<shared].elementsEqual(second[..<shared]) { order = firstID < secondID ? -1 : 1 }
    }
    return isReversed ? order > 0 : order < 0
  }
}

extension KeyRange {
  /// Returns the part of the range that begins at `key`: forwards `key` is included, backwards it
  /// is excluded.
  fileprivate func starting(at key: [UInt8], isReversed: Bool) -> KeyRange {
    var range = self
    if isReversed {
      if case .excluded(let bound) = upper, bound.lexicographicallyPrecedes(key) { return self }
      range.upper = .excluded(key)
    } else {
      if case .included(let bound) = lower, key.lexicographicallyPrecedes(bound) { return self }
      range.lower = .included(key)
    }
    return range
  }

  fileprivate var isEmpty: Bool {
    switch (lower, upper) {
    case (.included(let low), .excluded(let high)): !low.lexicographicallyPrecedes(high)
    default: false
    }
  }
}
