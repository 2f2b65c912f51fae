package import EntityStore
internal import LodestoreBytes
package import LodestoreFormat

/// Merges the steps of several packs to their net changes.
///
/// The last change of each record and link wins. The result has one or more *units*: steps of which
/// each but the last one `continues`. A follower applies a unit in one call of
/// ``WriteTransaction/replay(_:)``. There is more than one unit only where a later write may change
/// records that places of earlier writes refer to.
///
/// The memory for changes that are not packed is bounded: beyond the limit, the merge sorts them
/// and packs them as a run. Runs are compressed and merged at the end of a unit.
package struct PackMerge: ~Copyable {
  /// The next record id of each entity before the first step, where the caller knows it.
  ///
  /// A deleted record with this id or a later one did not exist before, so it is left out.
  private var nextIDsBefore: [EntityNumber: UInt64]
  private let memoryLimit: Int
  private let runLimit: Int
  private var output: PackWriter

  private var changes = MergeChanges()
  private var runs: [PackBody] = []
  private var unit: UnitFacts?
  /// The records after which places put other records; see ``cuts(before:)``.
  private var predecessors: Set<UInt64> = []
  private var isWithinWrite = false
  private var highestPut: [EntityNumber: UInt64] = [:]

  /// The facts about a unit that its last step has.
  private struct UnitFacts {
    var writes: ClosedRange<UInt64>
    var time: Double
    var author: String?
    var context: String?
    var places: [ReplayStep.Places] = []
    var nextIDs: [EntityNumber: UInt64] = [:]
  }

  /// - Parameters:
  ///   - memoryLimit: The size of changes in memory that are not packed, in bytes.
  ///   - runLimit: The size of all packed runs of a unit, in bytes.
  ///   - level: The level of libzstd for the result.
  package init(
    nextIDsBefore: [EntityNumber: UInt64] = [:], memoryLimit: Int = 64 << 20,
    runLimit: Int = 256 << 20, level: Int = 6
  ) throws(PackError) {
    self.nextIDsBefore = nextIDsBefore
    self.memoryLimit = memoryLimit
    self.runLimit = runLimit
    output = try PackWriter(level: level)
  }

  /// Adds the steps of an entry after those of the earlier entries.
  ///
  /// - Throws: `PackError`; the merge is then useless. The code is `tooLarge` if the result does
  ///   not fit one entry. Buckets are for the caller: the last content wins.
  package mutating func add(_ steps: [ReplayStep]) throws(PackError) {
    for step in steps { try add(step) }
  }

  package mutating func add(_ step: ReplayStep) throws(PackError) {
    if !isWithinWrite, cuts(before: step) { try endUnit() }
    isWithinWrite = step.continues
    var facts =
      unit
      ?? UnitFacts(
        writes: step.writes, time: step.time, author: step.author, context: step.context)
    facts.writes = min(facts.writes.lowerBound, step.writes.lowerBound)...step.writes.upperBound
    facts.time = step.time
    if facts.author != step.author { facts.author = nil }
    if facts.context != step.context { facts.context = nil }
    facts.places += step.places
    facts.nextIDs.merge(step.nextIDs) { max($0, $1) }
    unit = facts
    for places in step.places {
      for place in places.places where place.previous > 0 { predecessors.insert(place.previous) }
    }
    for deleted in step.deleted {
      for id in deleted.ids {
        changes.append(MergeKey(deleted.entity, id), isRemoved: true)
        if changes.byteCount >= memoryLimit { try endRun() }
      }
    }
    for records in step.records {
      for (index, id) in records.ids.enumerated() {
        changes.append(
          MergeKey(records.entity, id), isRemoved: false, records.bytes[records.range(at: index)])
        if changes.byteCount >= memoryLimit { try endRun() }
      }
      let last = records.ids.last ?? 0
      highestPut[records.entity] = max(highestPut[records.entity] ?? 0, last)
    }
    for links in step.links {
      for pair in links.pairs {
        changes.append(MergeKey(links.relationship, pair), isRemoved: links.kind != .added)
        if changes.byteCount >= memoryLimit { try endRun() }
      }
    }
  }

  /// Adds the last content of a bucket.
  package mutating func add(_ bucket: ReplicaBucket) throws(PackError) {
    try endUnit()
    try output.add(bucket)
  }

  /// Ends the merge and returns the body of the merged entry.
  package consuming func finish() throws(PackError) -> PackBody {
    try endUnit()
    return try output.finish()
  }

  /// Whether a unit must end before a step.
  ///
  /// A place puts a record after another one. If a later step moves the other one away, the place
  /// has no meaning in the merged state.
  private func cuts(before step: ReplayStep) -> Bool {
    if predecessors.isEmpty { return false }
    return step.continues
      || step.records.contains { $0.ids.contains(where: predecessors.contains) }
      || step.deleted.contains { deleted in
        let ids = deleted.ids.normalized
        return predecessors.contains { ids.contains($0) }
      }
      || step.links.contains { links in
        links.kind != .added
          && links.pairs.contains { predecessors.contains($0.from) || predecessors.contains($0.to) }
      }
  }

  // MARK: Units

  private mutating func endRun() throws(PackError) {
    var writer = try PackWriter(level: 1)
    var source = MergeSource(changes.sorted())
    changes = MergeChanges()
    var builder = MergeBuilder(writes: unit?.writes ?? 1...1)
    while let change = try source.next() {
      if let step = builder.append(change) { try writer.add(step) }
    }
    var last = builder.takeLast()
    last.continues = false
    try writer.add(last)
    runs.append(try writer.finish())
    guard runs.reduce(0, { $0 + $1.bytes.count }) <= runLimit else {
      throw PackError(
        .tooLarge,
        "cannot merge packs: the changes have more than \(runLimit) compressed bytes; keep the "
          + "packs as they are")
    }
  }

  private mutating func endUnit() throws(PackError) {
    guard let unit else { return }
    self.unit = nil
    var sources: [MergeSource] = []
    for run in runs { sources.append(try MergeSource(run, writes: unit.writes)) }
    sources.append(MergeSource(changes.sorted()))
    runs = []
    changes = MergeChanges()
    var merged = MergedChanges(sources)
    var builder = MergeBuilder(writes: unit.writes)
    while let change = try merged.next() {
      if change.isRemoved, isNew(change.key) { continue }
      if let step = builder.append(change) {
        try output.add(complete(step, unit))
        try checkLength()
      }
    }
    var last = complete(builder.takeLast(), unit)
    last.continues = false
    last.places = unit.places
    last.nextIDs = unit.nextIDs
    try output.add(last)
    try checkLength()
    beginNextUnit(after: unit)
  }

  /// Whether no state before the unit has the record.
  private func isNew(_ key: MergeKey) -> Bool {
    guard let id = key.recordID, let next = nextIDsBefore[key.entity] else { return false }
    return id >= next
  }

  private func complete(_ step: ReplayStep, _ unit: UnitFacts) -> ReplayStep {
    var step = step
    step.time = unit.time
    step.author = unit.author
    step.context = unit.context
    return step
  }

  private mutating func beginNextUnit(after unit: UnitFacts) {
    predecessors = []
    for (entity, before) in nextIDsBefore {
      let put = highestPut[entity].map { $0 &+ 1 } ?? 0
      nextIDsBefore[entity] = max(before, put, unit.nextIDs[entity] ?? 0)
    }
    highestPut = [:]
  }

  private func checkLength() throws(PackError) {
    if output.isFull {
      throw PackError(
        .tooLarge,
        "cannot merge packs: the result does not fit one entry; keep the packs as they are")
    }
  }
}
