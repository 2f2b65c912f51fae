internal import LodestoreFormat

/// Writes the records of a batch insert, following its rule.
///
/// With ``MergeRule/fail``, each record is appended immediately, and a batch that throws stores
/// nothing. With the other rules, records are collected up to ``StoreOptions/batchMemoryInBytes``
/// and merged together.
///
/// Only ``WriteCore/withBatchInsert(into:matching:_:expectedCount:keepsIDs:_:)`` creates it.
/// The batch is not copyable, because a copy would count apart.
struct BatchInsert: ~Copyable {
  /// The estimated memory for merging a record besides its bytes: its outcome and its sorted index
  /// entries.
  private static let memoryPerRecord = 192

  private let core: WriteCore
  private let entity: StoredEntity
  private let matching: Matching
  private let rule: MergeRule
  /// The number of copies of each record in memory: 2 when the rule combines stored and incoming
  /// values, because merged records are in memory too.
  private let copyCount: Int
  private let bulk: BulkInsert?
  private var batch: IncomingRecords
  private let keepsIDs: Bool
  private var counts = InsertCounts()
  /// The number of added values.
  private(set) var addedCount = 0
  /// The number of added values that have been merged.
  private var mergedCount = 0

  /// - Parameter bulk: appends the records; `nil` unless the rule is ``MergeRule/fail``.
  fileprivate init(
    _ bulk: BulkInsert?, into entity: StoredEntity, matching: Matching, rule: MergeRule,
    core: WriteCore, keepsIDs: Bool
  ) {
    self.bulk = bulk
    self.core = core
    self.entity = entity
    self.matching = matching
    self.rule = rule
    copyCount = rule.combinesValues ? 2 : 1
    self.keepsIDs = keepsIDs
    batch = IncomingRecords(entity.layout)
  }

  /// Adds a record.
  ///
  /// - Parameter isGiven: for each attribute, whether the record was given it; `nil` when it was
  ///   given all attributes.
  mutating func add(_ record: UnsealedRecord, given isGiven: [Bool]? = nil) throws(StoreError) {
    if let bulk {
      do throws(StoreError) {
        try entity.part?.checkNew(entity.name)
      } catch {
        throw error.inBatch(at: addedCount)
      }
      let id = try bulk.append(record)
      addedCount &+= 1
      counts.inserted &+= 1
      if keepsIDs { counts.ids.append(id) }
      return
    }
    try addForMerge(record, given: isGiven)
  }

  private mutating func addForMerge(
    _ record: UnsealedRecord, given isGiven: [Bool]?
  ) throws(StoreError) {
    assert(!record.isStale, "a record is copied before the next one is created")
    batch.append(record.content, given: isGiven)
    addedCount &+= 1
    // Records are collected as long as memory allows. Each merge visits the index pages of its
    // keys, and keys in random order lie in nearly all pages.
    let memory = batch.byteCount &* copyCount &+ batch.count &* Self.memoryPerRecord
    let limit = min(core.store.options.batchMemoryInBytes, KeyEntries.largestByteCount)
    if memory >= limit { try flush() }
  }

  /// Adds the records in the buffer `rows` to the batch, and empties the buffer.
  ///
  /// The records have the layout of the program's type.
  mutating func add(_ rows: inout RecordBuffer) throws(StoreError) {
    if let part = entity.part { return try complete(&rows, part) }
    guard let bulk else {
      for position in 0..<rows.count { try addForMerge(rows[position], given: nil) }
      rows.removeAll()
      return
    }
    let count = rows.count
    let first = try bulk.append(&rows)
    addedCount &+= count
    counts.inserted &+= count
    if keepsIDs { counts.ids.append(contentsOf: first..<first &+ UInt64(count)) }
  }

  private mutating func complete(
    _ rows: inout RecordBuffer, _ part: DeclaredPart
  ) throws(StoreError) {
    let changes = core.changes(of: entity)
    for position in 0..<rows.count {
      let values = try part.completed(rows[position].raw, of: entity)
      let record: UnsealedRecord
      do throws(StoreError) {
        record = try changes.encode(values)
      } catch {
        throw error.inBatch(at: addedCount)
      }
      try add(record, given: part.isGiven)
    }
    rows.removeAll()
  }

  /// Merges the last records, and returns the outcome of the whole batch.
  ///
  /// Appended records are checked when the scope of the bulk insert ends.
  mutating func finish() throws(StoreError) -> InsertCounts {
    try flush()
    return counts
  }

  private mutating func flush() throws(StoreError) {
    guard !batch.isEmpty else { return }
    let merge = try BatchMerge(batch, into: entity, matching: matching, rule: rule, core: core)
    for (position, outcome) in try merge.apply().enumerated() {
      do throws(StoreError) {
        try counts.count(outcome, keepsIDs)
      } catch {
        throw error.inBatch(at: mergedCount + position, key: try merge.keyText(of: position))
      }
    }
    mergedCount += batch.count
    batch.removeAll()
  }
}

extension WriteCore {
  /// Inserts the records that `body` adds to a batch.
  ///
  /// A call with ``MergeRule/fail`` that throws stores nothing.
  ///
  /// - Parameter body: returns the result of ``BatchInsert/finish()``.
  func withBatchInsert(
    into entity: StoredEntity, matching: Matching, _ rule: MergeRule, expectedCount: Int,
    keepsIDs: Bool, _ body: (consuming BatchInsert) throws -> InsertCounts
  ) throws -> InsertCounts {
    func run(_ bulk: BulkInsert?) throws -> InsertCounts {
      try body(
        BatchInsert(
          bulk, into: entity, matching: matching, rule: rule, core: self, keepsIDs: keepsIDs))
    }
    guard case .fail = rule else { return try run(nil) }
    return try changes(of: entity).withBulkInsert(expectedCount: expectedCount) { try run($0) }
  }
}

/// The outcome of a batch insert.
struct InsertCounts {
  var ids = IDList()
  var inserted = 0
  var updated = 0
  var unchanged = 0
  var ignored = 0

  mutating func count(_ outcome: BatchMerge.Outcome, _ keepsIDs: Bool) throws(StoreError) {
    switch outcome {
    case .inserted: inserted += 1
    case .updated: updated += 1
    case .unchanged: unchanged += 1
    case .ignored: ignored += 1
    case .rejected: break
    }
    let id = try outcome.id()
    if keepsIDs { ids.append(id) }
  }

  mutating func add(_ other: InsertCounts) {
    ids.append(other.ids)
    inserted += other.inserted
    updated += other.updated
    unchanged += other.unchanged
    ignored += other.ignored
  }
}

extension BatchMerge.Outcome {
  /// The id of the inserted or found record; throws the error if the record was rejected.
  func id() throws(StoreError) -> UInt64 {
    switch self {
    case .inserted(let id), .updated(let id), .unchanged(let id), .ignored(let id): return id
    case .rejected(let error): throw error
    }
  }
}
