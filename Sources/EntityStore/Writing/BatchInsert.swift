internal import LodestoreFormat

/// Writes the records of a batch insert by its rule.
///
/// With ``MergeRule/fail`` records are appended as they come, and nothing remains of a batch that
/// throws. With the other rules they are collected up to ``StoreOptions/batchMemoryInBytes`` and
/// merged together.
struct BatchInsert {
  /// Estimate of what a record to merge takes beside its bytes: its outcome, its index entries and
  /// the memory for sorting these.
  private static let memoryPerRecord = 192

  private let core: TransactionCore
  private let entity: StoredEntity
  private let rule: MergeRule
  private let bulk: BulkInsert?
  private var batch: IncomingRecords
  private let keepsIDs: Bool
  private var counts = InsertCounts()

  init(
    into entity: StoredEntity, rule: MergeRule, core: TransactionCore, expectedCount: Int,
    keepsIDs: Bool
  ) throws(StoreError) {
    self.core = core
    self.entity = entity
    self.rule = rule
    self.keepsIDs = keepsIDs
    batch = IncomingRecords(entity.layout)
    if case .fail = rule {
      bulk = try BulkInsert(into: entity, core: core, expectedCount: expectedCount)
    } else {
      bulk = nil
    }
  }

  /// Adds a record; four bytes behind its content are free.
  ///
  /// - Parameter isGiven: which attributes it was given; `nil` for all.
  mutating func add(
    _ content: UnsafeMutableRawBufferPointer, given isGiven: [Bool]? = nil
  ) throws(StoreError) {
    if let bulk {
      try entity.part?.checkNew(entity.name)
      let id = try bulk.append(content)
      counts.inserted &+= 1
      if keepsIDs { counts.ids.append(id) }
      return
    }
    try addForMerge(UnsafeRawBufferPointer(content), given: isGiven)
  }

  private mutating func addForMerge(
    _ content: UnsafeRawBufferPointer, given isGiven: [Bool]?
  ) throws(StoreError) {
    batch.append(content, given: isGiven)
    // As late as possible: each merge visits the index pages of its keys, which for keys in no order
    // are nearly all pages.
    let memory = batch.byteCount + batch.count * Self.memoryPerRecord
    let limit = min(core.store.options.batchMemoryInBytes, KeyEntries.largestByteCount)
    if memory >= limit { try flush() }
  }

  /// Adds the records of `row`, which are in the layout of the program's type, and empties it.
  mutating func add(_ row: inout RecordBuffer) throws(StoreError) {
    if let part = entity.part { return try complete(&row, part) }
    guard let bulk else {
      for position in 0..<row.count {
        try addForMerge(UnsafeRawBufferPointer(row[position].recordContent), given: nil)
      }
      row.removeAll()
      return
    }
    let count = row.count
    let first = try bulk.append(&row)
    counts.inserted &+= count
    if keepsIDs { counts.ids.append(contentsOf: first..<first &+ UInt64(count)) }
  }

  private mutating func complete(
    _ row: inout RecordBuffer, _ part: DeclaredPart
  ) throws(StoreError) {
    for position in 0..<row.count {
      var whole = try part.completed(
        UnsafeRawBufferPointer(row[position].recordContent), of: entity)
      try core.checkSize(whole.count - RecordLayout.checksumSize, of: entity)
      try whole.withMutableBytes { (bytes) throws(StoreError) in
        try add(bytes.recordContent, given: part.isGiven)
      }
    }
    row.removeAll()
  }

  /// Undoes what can be undone; called after an error.
  func takeBack() throws(StoreError) { try bulk?.takeBack() }

  mutating func finish() throws(StoreError) -> InsertCounts {
    if let bulk { try bulk.finish() } else { try flush() }
    return counts
  }

  private mutating func flush() throws(StoreError) {
    guard !batch.isEmpty else { return }
    let merge = try BatchMerge(
      batch, into: entity, matching: entity.matchingIndexes, rule: rule, core: core)
    for outcome in try merge.apply() { try counts.count(outcome, keepsIDs) }
    batch.removeAll()
  }
}

/// What became of the records of a batch insert.
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
  /// The id of the record; throws why there is none.
  func id() throws(StoreError) -> UInt64 {
    switch self {
    case .inserted(let id), .updated(let id), .unchanged(let id), .ignored(let id): return id
    case .rejected(let error): throw error
    }
  }
}
