internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension PlanRun {
  /// Visits the records of `range` that match, ordered by id.
  func scan(
    _ range: ClosedRange<UInt64>, isReversed: Bool, _ body: (UInt64, ByteView) throws -> Bool
  ) throws {
    if isReversed {
      let cursor = try Cursor(entity.records, in: core.transaction)
      var found =
        try range.upperBound == .max
        ? cursor.last()
        : cursor.seek(atOrAfter: range.upperBound &+ 1) ? cursor.previous() : cursor.last()
      var ahead = WalkAhead(cursor)
      while found {
        ahead.visit(cursor.key, backwards: true)
        let id = cursor.integerKey
        guard id >= range.lowerBound else { return }
        try tick()
        counts.recordsRead += 1
        if try passes(cursor.value, id), try !body(id, cursor.value) { return }
        found = try cursor.previous()
      }
      return
    }
    try scanForwards(range, body)
  }

  /// Whether the results are all records in ascending order of id.
  var isOfAll: Bool {
    guard case .scan = plan.access, case .natural(isReversed: false) = plan.arrangement else {
      return false
    }
    return residual == nil && start == nil && plan.request.offset == 0
      && plan.request.limit == nil && !plan.request.wantsOnlyEntries
  }

  /// Visits all records in a loop that is compiled into its caller.
  ///
  /// Passing each record through the functions of a plan would take a tenth of the time of reading
  /// it.
  @inline(__always)
  func forEachOfAll(_ body: (UInt64, ByteView) throws -> Bool) throws(StoreError) {
    var count = 0
    let isWatched = control != nil
    defer {
      // A run with a control has updated the number of records read during the loop.
      if !isWatched { counts.recordsRead &+= count }
      counts.results &+= count
    }
    try wrappingErrors {
      guard let cursor = try beginScan(1 ... .max) else { return }
      try cursor.forEachRecord(readsWhole: true) { (id, bytes) throws in
        count &+= 1
        if isWatched {
          counts.recordsRead &+= 1
          try tick()
        }
        return try body(id, bytes)
      }
    }
  }

  /// Visits the matching records in ascending order of id.
  ///
  /// For a scan, the loop is compiled into the caller.
  @inline(__always)
  func forEachMatch(_ body: (UInt64, ByteView) throws -> Bool) throws {
    if case .scan = plan.access, start == nil {
      try scanForwards(1 ... .max, body)
    } else {
      try inIDOrder(isReversed: false, body)
    }
  }

  @inline(__always)
  private func scanForwards(
    _ range: ClosedRange<UInt64>, _ body: (UInt64, ByteView) throws -> Bool
  ) throws {
    if residual != nil {
      try filteredScan(range, body)
      return
    }
    guard let cursor = try beginScan(range) else { return }
    if entriesToSkip > 0, try !cursor.skip(entriesToSkip) { return }
    let end = range.upperBound
    let isWatched = isWatched
    let readsWhole = !plan.request.wantsOnlyEntries
    try cursor.forEachRecord(readsWhole: readsWhole) { (id, bytes) throws in
      guard id <= end else { return false }
      counts.recordsRead &+= 1
      if isWatched { try tick() }
      return try body(id, bytes)
    }
  }

  @inline(never)
  private func filteredScan(
    _ range: ClosedRange<UInt64>, _ body: (UInt64, ByteView) throws -> Bool
  ) throws {
    guard let residual, let cursor = try beginScan(range) else { return }
    let end = range.upperBound
    guard isWatched else {
      // A run without a control and a record limit need not call `tick()` for each record.
      counts.recordsRead += try residual.forEach(from: cursor, through: end, body)
      return
    }
    try cursor.forEachRecord { (id, bytes) throws in
      guard id <= end else { return false }
      counts.recordsRead &+= 1
      try tick()
      guard try residual.admits(bytes, id: id) else { return true }
      return try body(id, bytes)
    }
  }

  /// Returns a cursor at the first record of `range`, or `nil` if none exists.
  private func beginScan(_ range: ClosedRange<UInt64>) throws -> Cursor? {
    let cursor = try Cursor(entity.records, in: core.transaction)
    guard try cursor.seek(atOrAfter: range.lowerBound) else { return nil }
    if range == 1 ... .max { expect(try core.count(of: entity)) }
    return cursor
  }
}
