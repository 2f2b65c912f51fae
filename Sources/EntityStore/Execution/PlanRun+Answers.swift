internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension PlanRun {
  /// Returns the number of results, counted from entries alone if they decide the condition.
  func count() throws(StoreError) -> Int {
    try wrappingErrors {
      let all = try countAll()
      let count = min(max(0, all - plan.request.offset), plan.request.limit ?? .max)
      counts.results = count
      return count
    }
  }

  private func countAll() throws -> Int {
    // Counting stops at this number, since the offset and the limit need no more.
    let most = plan.request.wantedCount ?? .max
    if start == nil, plan.isAnsweredByEntries {
      switch plan.access {
      case .nothing: return 0
      case .scan: return try core.count(of: entity)
      case .index(let access): return try countEntries(of: access, most)
      case .elements, .related, .search, .place, .vectors, .union, .intersection:
        return try collectIDs(plan.access).count
      case .idRange(let range): return try countRecords(range, most)
      case .ids: break
      }
    }
    if start == nil, case .scan = plan.access, plan.request.condition == .constant(true),
      plan.request.ids == nil
    {
      return try core.presentCount(of: entity)
    }
    var count = 0
    let writer = start == nil || plan.order.isByID ? nil : makeSortKeyWriter()
    try inIDOrder(isReversed: plan.order.isByID && plan.order.isTieDescending) { id, bytes in
      if let writer, let start {
        try writer.write(bytes, id: id)
        guard start.lexicographicallyPrecedes(writer.key) else { return true }
      }
      count += 1
      return count < most
    }
    return count
  }

  /// Counts the records with ids within `range` by the numbers of records of whole pages, without
  /// reading each record.
  private func countRecords(_ range: ClosedRange<UInt64>, _ most: Int) throws -> Int {
    let cursor = try Cursor(entity.records, in: core.transaction)
    guard try cursor.seek(atOrAfter: range.lowerBound) else { return 0 }
    return try cursor.count(through: range.upperBound, atMost: most)
  }

  private func countEntries(of access: IndexAccess, _ most: Int) throws -> Int {
    var count = 0
    guard case .ranges(let ranges) = access.span else {
      try forEachEntry(of: access) { _, _ in
        count += 1
        return count < most
      }
      return count
    }
    for range in ranges where count < most {
      try forEachEntry(of: access, range, isReversed: false) { _, _ in
        count &+= 1
        return count < most
      }
    }
    return count
  }

  /// Returns the ids of the results in order, from entries alone if they decide the condition.
  func ids() throws(StoreError) -> [UInt64] {
    if plan.isAnsweredByEntries, start == nil, let ids = try wrappingErrors(idsOfEntries) {
      let rest = ids.dropFirst(plan.request.offset)
      let result = Array(rest.prefix(plan.request.limit ?? .max))
      counts.results = result.count
      return result
    }
    var ids: [UInt64] = []
    try forEach { id, _ in
      ids.append(id)
      return true
    }
    return ids
  }

  private func idsOfEntries() throws -> [UInt64]? {
    switch (plan.access, plan.arrangement) {
    case (.index, .natural(let isReversed)), (.union, .natural(let isReversed)),
      (.intersection, .natural(let isReversed)), (.search, .natural(let isReversed)),
      (.place, .natural(let isReversed)), (.elements, .natural(let isReversed)):
      let ids = try collectIDs(plan.access)
      return isReversed ? ids.reversed() : ids
    case (.index(let access), .index(let isReversed)):
      let most = plan.request.wantedCount ?? .max
      var ids: [UInt64] = []
      guard most > 0 else { return [] }
      for (range, _) in ranges(of: access, isReversed: isReversed) where ids.count < most {
        try forEachEntry(of: access, range, isReversed: isReversed) { id, _ in
          ids.append(id)
          return ids.count < most
        }
      }
      return ids
    default: return nil
    }
  }

  /// The ids of the results, ascending.
  func sortedIDs() throws(StoreError) -> [UInt64] {
    var ids = try ids()
    IDSort.sort(&ids)
    return ids
  }

  // MARK: Pages

  /// Visits one page of results, and returns the token for the next page.
  func forEachOfPage(
    _ body: (UInt64, ByteView) throws -> Void
  ) throws(StoreError) -> ContinuationToken? {
    let writer = makeSortKeyWriter()
    var count = 0
    try forEach { id, bytes in
      try body(id, bytes)
      count += 1
      if count == plan.request.limit { try writer.write(bytes, id: id) }
      return true
    }
    guard let limit = plan.request.limit, limit > 0, count == limit else { return nil }
    return ContinuationToken(
      ContinuationToken.Content(
        fingerprint: plan.request.fingerprint(entity), key: writer.key))
  }
}
