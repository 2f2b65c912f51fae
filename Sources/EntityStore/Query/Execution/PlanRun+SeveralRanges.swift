internal import LMDB
internal import LodestoreFormat

extension PlanRun {
  /// The ranges of `access` as they come in a direction, each with the part of it that is to be
  /// visited.
  ///
  /// - Parameter bound: the key from which on entries are visited.
  func ranges(
    of access: IndexAccess, from bound: [UInt8]? = nil, isReversed: Bool
  ) -> [(range: IndexRange, keys: KeyRange?)] {
    let ranges = isReversed ? access.ranges.reversed() : access.ranges
    return ranges.compactMap { range in
      let keys = bound.map { range.keys.starting(at: $0, isReversed: isReversed) }
      return keys?.isEmpty ?? false ? nil : (range, keys)
    }
  }

  /// Visits the entries of all ranges of `access` that pass its filter, merged by what follows the
  /// elements that are the same within a range.
  ///
  /// - Parameter bound: the part of a key, behind these elements, from which on they are visited.
  @inline(never)
  func forEachMergedEntry(
    of access: IndexAccess, from bound: [UInt8]?, isReversed: Bool,
    _ body: (UInt64) throws -> Bool
  ) throws {
    var merge = MergedRanges(isReversed: isReversed)
    for range in access.ranges {
      let prefixLength = range.lower.withUnsafeBytes { lower in
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
      try merge.append(MergedRanges.WalkedRange(cursor, keys, prefixLength: prefixLength))
    }
    let isUnique = access.index.isUnique
    while let range = merge.first {
      try tick()
      counts.entriesRead &+= 1
      let key = range.cursor.key
      // A key that is cut does not have the values to be merged by: the alternative reads records.
      guard key.count < KeyEncoder.cutPrefix else { throw NeedsAlternative() }
      let id = try recordID(key, range.cursor.value, access.index, isUnique: isUnique)
      let isResult = try access.filter.map { try passes($0, id, key) } ?? true
      if isResult, try !body(id) { return }
      try merge.advance()
    }
  }
}

/// Ranges of one index, each at its next entry, the lowest first.
///
/// A heap: O(log ranges) comparisons for each entry.
private struct MergedRanges {
  struct WalkedRange {
    let cursor: Cursor
    let keys: KeyRange
    /// The length of the elements that all keys of the range begin with.
    let prefixLength: Int

    init(_ cursor: Cursor, _ keys: KeyRange, prefixLength: Int) {
      self.cursor = cursor
      self.keys = keys
      self.prefixLength = prefixLength
    }

    var rest: UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(rebasing: cursor.key.dropFirst(prefixLength))
    }
  }

  private var heap: [WalkedRange] = []
  private let isReversed: Bool

  init(isReversed: Bool) { self.isReversed = isReversed }

  var first: WalkedRange? { heap.first }

  mutating func append(_ range: WalkedRange) throws {
    guard try range.cursor.seekStart(of: range.keys, backwards: isReversed), isWithin(range) else {
      return
    }
    heap.append(range)
    var place = heap.count - 1
    while place > 0, comes(heap[place], before: heap[(place - 1) / 2]) {
      heap.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  /// Moves the first range to its next entry.
  mutating func advance() throws {
    let range = heap[0]
    let moved = isReversed ? try range.cursor.previous() : try range.cursor.next()
    if !moved || !isWithin(range) {
      let last = heap.removeLast()
      if heap.isEmpty { return }
      heap[0] = last
    }
    var place = 0
    while true {
      var lowest = place
      for child in [2 * place + 1, 2 * place + 2] where child < heap.count {
        if comes(heap[child], before: heap[lowest]) { lowest = child }
      }
      if lowest == place { return }
      heap.swapAt(place, lowest)
      place = lowest
    }
  }

  private func isWithin(_ range: WalkedRange) -> Bool {
    range.keys.admits(range.cursor.key, backwards: isReversed)
  }

  private func comes(_ a: WalkedRange, before b: WalkedRange) -> Bool {
    let (first, second) = (a.rest, b.rest)
    var order = compareKeys(first, second)
    if let firstID = a.id, let secondID = b.id {
      // Of equal elements, those behind a null are followed by the id in the key, and others are not.
      let shared = min(first.count, second.count)
      if first[..<shared].elementsEqual(second[..<shared]) { order = firstID < secondID ? -1 : 1 }
    }
    return isReversed ? order > 0 : order < 0
  }
}

extension MergedRanges.WalkedRange {
  /// In a unique index, where the id is no part of keys without null.
  fileprivate var id: UInt64? {
    cursor.value.count == 8 ? cursor.value._uint64(at: 0) : nil
  }
}

extension KeyRange {
  /// The part of the range from `key` on, `key` included in the direction of the keys and excluded
  /// backwards.
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
