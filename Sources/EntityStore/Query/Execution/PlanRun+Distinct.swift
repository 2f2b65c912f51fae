internal import LMDB
internal import LodestoreFormat

extension PlanRun {
  /// Visits each combination of the values of some attributes once, in the order of the records
  /// that have it first; returns false, and visits nothing, where no index has just these
  /// attributes.
  ///
  /// From one combination to the next it takes a step in the index, however many records are
  /// between them. With a limit it gives up where there are many combinations: the first records
  /// have enough of them then.
  func forEachDistinct(
    _ attributes: [UInt32], hasLimit: Bool, _ body: ([Value]) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    guard case .scan = plan.access, plan.residual == nil, start == nil, plan.order.isByID,
      !plan.order.isTieDescending,
      let index = entity.indexes.first(where: {
        !$0.isUnique && $0.description.attributes == attributes
      })
    else { return false }
    do {
      guard let found = try firsts(index, atMost: hasLimit ? Self.fewCombinations : .max) else {
        return false
      }
      for row in found.sorted(by: { $0.id < $1.id }) {
        guard try body(row.values) else { break }
      }
      return true
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// After this many entries of one combination a seek to the next is cheaper than further steps.
  private static let shortRun = 8
  /// The steps to this many combinations take less than a millisecond.
  private static let fewCombinations = 1_000

  /// How many different values the attributes have together, where an index begins with them and
  /// there are few; `nil` otherwise.
  ///
  /// By one step for each. Who reads records in another order knows then when all have been seen.
  func distinctCount(_ attributes: [UInt32], hasLimit: Bool) throws(StoreError) -> Int? {
    // Where an index has just these attributes, ``forEachDistinct`` has taken the steps.
    guard case .scan = plan.access, plan.residual == nil, start == nil,
      let index = entity.indexes.first(where: {
        $0.description.attributes.starts(with: attributes)
          && ($0.isUnique || $0.description.attributes.count > attributes.count)
      })
    else { return nil }
    do {
      let cursor = try Cursor(index.tree, in: core.transaction)
      var count = 0
      // Of many values the last is seen late, and the steps would come on top.
      let most = min(
        hasLimit ? Self.fewCombinations : Self.manyCombinations, plan.recordCount / 16)
      var hasEntry = try cursor.first()
      while hasEntry {
        try tick()
        counts.entriesRead += 1
        var end = 0
        for _ in attributes {
          guard let next = KeyDecoder.endOfElement(in: cursor.key, at: end) else { return nil }
          end = next
        }
        // Beyond the part that is cut, only records tell.
        guard end < KeyEncoder.cutPrefix, count < most else { return nil }
        count += 1
        let above = Array(cursor.key[..<end]) + [255]
        hasEntry = try above.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
      }
      return count
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// As many steps take some milliseconds.
  private static let manyCombinations = 10_000

  /// Each combination, and the lowest id that has it; `nil` where entries do not tell, or there are
  /// more than `limit`.
  private func firsts(
    _ index: StoredIndex, atMost limit: Int
  ) throws -> [(id: UInt64, values: [Value])]? {
    let cursor = try Cursor(index.tree, in: core.transaction)
    var found: [(id: UInt64, values: [Value])] = []
    var tuple: [UInt8] = []
    var repeats = 0
    var hasEntry = try cursor.first()
    while hasEntry {
      try tick()
      counts.entriesRead += 1
      let key = cursor.key
      guard key.count >= 8 else { throw damagedEntry(of: index) }
      guard key.count < KeyEncoder.cutPrefix + 8 else { return nil }
      let rest = UnsafeRawBufferPointer(rebasing: key.dropLast(8))
      if !tuple.isEmpty, rest.elementsEqual(tuple) {
        repeats += 1
        if repeats >= Self.shortRun {
          // Ids are below 2^63, and what follows an escaped zero is 255.
          hasEntry = try (tuple + [0x80]).withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
        } else {
          hasEntry = try cursor.next()
        }
        continue
      }
      if found.count == limit { return nil }
      tuple = Array(rest)
      repeats = 0
      var decoder = KeyDecoder(rest)
      var values: [Value] = []
      for _ in index.description.attributes {
        let value = try decoder.next()
        // In a key text is in its normalized form.
        if case .string(let text) = value, !text.utf8.allSatisfy({ $0 < 0x80 }) { return nil }
        values.append(value)
      }
      found.append((key._bigEndianUInt64(at: key.count - 8), values))
      hasEntry = try cursor.next()
    }
    return found
  }
}
