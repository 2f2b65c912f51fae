internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// One run of a plan in a transaction, on one thread.
final class PlanRun: MeasuredRun {
  let plan: QueryPlan
  let core: TransactionCore
  let entity: StoredEntity
  let residual: ConditionEvaluator?
  let control: RunControl?
  // Only one thread uses the object. An exclusivity check for each access would slow every run.
  @exclusivity(unchecked) private var ticks = 0
  /// The number of records after which the plan's alternative takes over.
  private var recordLimit = Int.max
  private var lastReport = 0.0
  /// The number of records that the run will test, if it is known.
  private var total: Int?
  /// Whether results are passed on only after the last record has been tested.
  private var handsOutLast = false
  /// The number of sorted results to pass on, once it is known.
  private var sortedCount: Int?
  @exclusivity(unchecked) var counts = PlanCounts()
  /// The memory that groups may take before they go to a file, in bytes.
  var groupMemory = GroupRuns.memoryLimit
  /// The evaluators of filter conditions, by filter, for entries that cannot decide.
  var filterEvaluators: [ObjectIdentifier: ConditionEvaluator] = [:]
  /// The number of leading results that are skipped by their entries, without reading records.
  private(set) var entriesToSkip = 0
  /// The sort key from the continuation token.
  ///
  /// Results begin after the record with this key.
  let start: [UInt8]?

  var planDescription: PlanDescription { plan.description }

  init(_ plan: QueryPlan, core: TransactionCore, control: RunControl? = nil) throws(StoreError) {
    self.plan = plan
    self.core = core
    self.control = control
    entity = plan.entity
    // If the store verifies checksums, the evaluator runs even without a condition, since it
    // verifies them.
    let checked = plan.residual ?? (core.store.options.verifiesChecksums ? .constant(true) : nil)
    residual = checked.map { ConditionEvaluator($0, entity: plan.entity, core: core) }
    start = try plan.request.after?.content().key
    // The closure asks only the control, and does not check the record limit. The evaluator would
    // wrap the error that makes the alternative take over.
    if let control { residual?.onElement = { [unowned self] in try tick(control) } }
  }

  func makeSortKeyWriter() -> SortKeyWriter {
    SortKeyWriter(
      plan.order, evaluator: ConditionEvaluator(.constant(true), entity: entity, core: core))
  }

  // MARK: Results

  /// Visits the records of the results in order, within limit and offset, until `body` returns
  /// false.
  ///
  /// The bytes are valid until the next change in the transaction.
  @inline(__always)
  func forEach(_ body: (UInt64, ByteView) throws -> Bool) throws(StoreError) {
    if isOfAll { try forEachOfAll(body) } else { try forEachArranged(body) }
    if control != nil { reportEnd() }
  }

  @inline(never)
  private func forEachArranged(_ body: (UInt64, ByteView) throws -> Bool) throws(StoreError) {
    try wrappingErrors {
      if plan.request.offset == 0, plan.request.limit == nil {
        try arranged { id, bytes in
          counts.results &+= 1
          return try body(id, bytes)
        }
      } else {
        if residual == nil, start == nil { entriesToSkip = plan.offsetOfEntries }
        try withoutActuallyEscaping(body) { body in try arrangedWithAlternative(window(body)) }
      }
    }
  }

  /// The number of results, if it is known before the run, as for a scan without a condition.
  ///
  /// The number is at most a million, since memory is reserved for the results and the count in the
  /// file may be wrong.
  var certainCount: Int? {
    guard case .scan = plan.access, plan.residual == nil, start == nil else { return nil }
    return min(plan.recordCount, plan.request.limit ?? .max, 1 << 20)
  }

  /// Returns a closure that calls `body` for the results between offset and limit.
  private func window(
    _ body: @escaping (UInt64, ByteView) throws -> Bool
  ) -> (UInt64, ByteView) throws -> Bool {
    var toSkip = plan.request.offset - entriesToSkip
    var left = plan.request.limit ?? .max
    return { [self] id, bytes in
      if toSkip > 0 {
        toSkip -= 1
        return true
      }
      guard left > 0 else { return false }
      left -= 1
      counts.results += 1
      return try body(id, bytes) && left > 0
    }
  }

  /// Thrown to let the plan's alternative take over.
  struct NeedsAlternative: Error {}

  /// Runs the plan, and continues with its alternative if the plan must be abandoned.
  ///
  /// The two plans give the same results in the same order, so the alternative skips those already
  /// visited.
  private func arrangedWithAlternative(_ body: (UInt64, ByteView) throws -> Bool) throws {
    guard let alternative = plan.alternative else { return try arranged(body) }
    recordLimit = alternative.recordLimit
    defer { recordLimit = .max }
    var seenCount = 0
    do {
      try arranged { id, bytes in
        seenCount += 1
        return try body(id, bytes)
      }
    } catch is NeedsAlternative {
      // The alternative does not report progress: its progress would restart from 0, and progress
      // must only grow.
      let silent = control.map { RunControl(isCancelled: $0.isCancelled) }
      let other = try PlanRun(alternative.plan, core: core, control: silent)
      other.counts = counts
      defer {
        // Results are counted by this run, which passes them on.
        counts.entriesRead = other.counts.entriesRead
        counts.recordsRead = other.counts.recordsRead
      }
      var toSkip = entriesToSkip + seenCount
      try other.arranged { id, bytes in
        if toSkip > 0 {
          toSkip -= 1
          return true
        }
        return try body(id, bytes)
      }
    }
  }

  private func arranged(_ body: (UInt64, ByteView) throws -> Bool) throws {
    if plan.request.limit == 0 { return }
    switch plan.arrangement {
    case .natural(let isReversed): try inIDOrder(isReversed: isReversed, body)
    case .index(let isReversed):
      guard case .index(let access) = plan.access else { return }
      try inIndexOrder(access, isReversed: isReversed, body)
    case .merge(let isReversed):
      guard case .index(let access) = plan.access else { return }
      try inMergedOrder(access, isReversed: isReversed, body)
    case .sort(let kept):
      handsOutLast = true
      try sorted(keeping: kept, body)
    case .ranked:
      if case .search(let access) = plan.access { try inRankedOrder(access, body) }
      if case .place(let access) = plan.access { try inOrderOfDistance(access, body) }
      if case .vectors(let access) = plan.access { try inOrderOfDistance(access, body) }
    case .groups(let groups):
      guard case .index(let access) = plan.access, let range = access.ranges.first else { return }
      try inGroups(access, range, groups, body)
    }
  }

  /// Returns whether a record fulfils the part of the condition that the access path does not
  /// guarantee.
  @inline(__always)
  func passes(_ bytes: ByteView, _ id: UInt64) throws(StoreError) -> Bool {
    guard let residual else { return true }
    return try residual.admits(bytes, id: id)
  }

  // MARK: Sources

  /// Visits the matching records in the order of their ids.
  func inIDOrder(isReversed: Bool, _ body: (UInt64, ByteView) throws -> Bool) throws {
    let first = startID(isReversed: isReversed)
    switch plan.access {
    case .nothing: return
    case .scan:
      let low = isReversed ? 1 : first ?? 1
      let high = isReversed ? first ?? .max : .max
      if low <= high { try scan(low...high, isReversed: isReversed, body) }
    case .idRange(let range):
      let low = max(range.lowerBound, isReversed ? 1 : first ?? 1)
      let high = min(range.upperBound, isReversed ? first ?? .max : .max)
      if low <= high { try scan(low...high, isReversed: isReversed, body) }
    case .ids, .index, .elements, .related, .search, .place, .vectors, .union, .intersection:
      var ids = try collectIDs(plan.access)
      if let first { ids.removeAll { isReversed ? $0 > first : $0 < first } }
      if isReversed { ids.reverse() }
      ids.removeFirst(min(entriesToSkip, ids.count))
      try fetch(ids, mayBeAbsent: plan.access.hasGivenIDs, body)
    }
  }

  /// Returns the first id after the continuation token, for a query in the order of ids.
  private func startID(isReversed: Bool) -> UInt64? {
    guard plan.order.isByID, let start, start.count == 8 else { return nil }
    let stored = start._withBytes { $0.bigEndianUInt64(at: 0) }
    let id = plan.order.isTieDescending ? ~stored : stored
    // No record has the ids 0 and `.max`, so a scan from there finds nothing.
    if isReversed { return id == 0 ? 0 : id - 1 }
    return id == .max ? .max : id + 1
  }

  /// Visits the matching records among `ids`, in the order of `ids`.
  func fetch(
    _ ids: [UInt64], mayBeAbsent: Bool = false, _ body: (UInt64, ByteView) throws -> Bool
  ) throws {
    expect(ids.count)
    let lookup = try RecordLookup(entity.records, in: core.transaction)
    _ = try visit(ids, lookup, mayBeAbsent: mayBeAbsent, body)
  }

  /// Visits the matching records among `ids`; returns false if `body` did.
  func visit(
    _ ids: [UInt64], _ records: RecordLookup, mayBeAbsent: Bool = false,
    _ body: (UInt64, ByteView) throws -> Bool
  ) throws -> Bool {
    // The first batches are small, since only a few records may be wanted.
    var size = 16
    var start = 0
    while start < ids.count {
      let end = min(ids.count, start + size)
      records.look(for: ids[start..<end])
      for index in start..<end {
        let id = ids[index]
        try tick()
        guard let bytes = try records.record(id, at: index - start) else {
          if mayBeAbsent { continue }
          throw missing(id)
        }
        counts.recordsRead &+= 1
        if try passes(bytes, id), try !body(id, bytes) { return false }
      }
      start = end
      size = min(size * 2, 512)
    }
    return true
  }

  func missing(_ id: UInt64) -> StoreError {
    let name = plan.access.indexNames.first ?? entity.name
    return .damagedIndex(name, "it leads to \(entity.name) \(id), which is not there")
  }

  // MARK: Entries

  /// Returns the ids that an access path finds, ascending and without repetition.
  func collectIDs(_ path: AccessPath) throws -> [UInt64] {
    var ids: [UInt64] = []
    switch path {
    case .nothing, .scan: break
    case .idRange(let range):
      let cursor = try Cursor(entity.records, in: core.transaction)
      guard try cursor.seek(atOrAfter: range.lowerBound) else { break }
      try cursor.forEachRecord(readsWhole: false) { (id, _) throws in
        guard id <= range.upperBound else { return false }
        try tick()
        ids.append(id)
        return true
      }
    case .ids(let given): return given
    case .related(let access): return try collectIDs(access)
    case .search(let access): return try collectIDs(access)
    case .place(let access): return try collectIDs(access)
    case .vectors(let access): return try collectIDs(access)
    case .elements(let access): return try collectElementIDs(access)
    case .index(let access):
      ids.reserveCapacity(min(access.estimatedEntryCount, 1 << 20))
      try forEachEntry(of: access) { id, _ in
        ids.append(id)
        return true
      }
      IDSort.sort(&ids)
    case .union(let paths):
      for path in paths { try ids += collectIDs(path) }
      IDSort.sortUnique(&ids)
    case .intersection(let accesses):
      for (index, access) in accesses.enumerated() {
        let next = try collectIDs(.index(access))
        ids = index == 0 ? next : Self.common(ids, next)
      }
    }
    return ids
  }

  private static func common(_ a: [UInt64], _ b: [UInt64]) -> [UInt64] {
    var result: [UInt64] = []
    var i = 0
    var j = 0
    while i < a.count, j < b.count {
      if a[i] == b[j] {
        result.append(a[i])
        i += 1
        j += 1
      } else if a[i] < b[j] {
        i += 1
      } else {
        j += 1
      }
    }
    return result
  }

  /// Visits the entries in the spans of `access` that pass its filter, each span in the order of
  /// the index.
  func forEachEntry(of access: IndexAccess, _ body: (UInt64, ByteView) throws -> Bool) throws {
    guard let filter = access.filter else { return try forEachEntryOfSpan(access, body) }
    try forEachEntryOfSpan(access) { id, key in try passes(filter, id, key) ? body(id, key) : true }
  }

  private func forEachEntryOfSpan(
    _ access: IndexAccess, _ body: (UInt64, ByteView) throws -> Bool
  ) throws {
    switch access.span {
    case .points(let points) where access.index.isUnique:
      try forEachHolder(
        of: points, mayHaveNulls: access.mayHaveNulls, in: access.index, body)
    case .points(let keys), .prefixes(let keys):
      try forEachEntry(beginningWith: keys, in: access.index, body)
    case .ranges(let ranges):
      var goesOn = true
      for range in ranges {
        try forEachEntry(of: access.index, range, isReversed: false) { id, key in
          goesOn = try body(id, key)
          return goesOn
        }
        if !goesOn { return }
      }
    }
  }

  // MARK: Limits and cancellation

  /// Whether ``tick()`` must be called for each step.
  var isWatched: Bool { control != nil || recordLimit != .max }

  /// Counts one step, and at intervals checks the record limit and asks the control whether to
  /// continue.
  @inline(__always)
  func tick() throws {
    ticks &+= 1
    if ticks & 63 == 0 { try checkLimits() }
  }

  /// Counts one step that reads no record, and asks the control at intervals.
  private func tick(_ control: RunControl) throws {
    ticks &+= 1
    if ticks & 1_023 == 0 { try check(control) }
  }

  @inline(never)
  private func checkLimits() throws {
    // Sixteen entries cost about as much as looking up one record.
    if counts.recordsRead &+ counts.entriesRead >> 4 > recordLimit { throw NeedsAlternative() }
    if ticks & 1_023 == 0, let control { try check(control) }
  }

  @inline(never)
  private func check(_ control: RunControl) throws {
    if control.isCancelled() { throw StoreError.cancelledQuery(entity.name) }
    guard let report = control.report else { return }
    let now = DynamicValue.currentTime
    guard now - lastReport >= 0.01 || now < lastReport else { return }
    lastReport = now
    report(completed, total)
  }

  /// The progress of the run, less than ``total`` until the end, since results remain to be passed
  /// on.
  private var completed: Int {
    guard let total else { return counts.recordsRead }
    let most = max(0, total - 1)
    guard handsOutLast else { return min(counts.recordsRead, most) }
    // Testing all records is the first half of the progress, passing on results the second half.
    guard let sortedCount else { return min(counts.recordsRead / 2, most) }
    let share = Double(min(counts.results, sortedCount)) / Double(max(1, sortedCount))
    return min(total / 2 + Int(Double(total - total / 2) * share), most)
  }

  /// Reports completion, even if a limit left records untested.
  @inline(never)
  private func reportEnd() {
    guard let report = control?.report else { return }
    let all = total ?? counts.recordsRead
    report(all, all)
  }

  /// Notes that all matching records have been found and sorted.
  func hasSorted(_ count: Int) { sortedCount = count }

  func expect(_ count: Int?) { total = count }
}
