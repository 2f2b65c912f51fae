internal import LodestoreFormat

/// Takes the records of a batch insert as they come, and writes them as the rule says.
///
/// With ``MergeRule/fail`` records go straight into the page and nothing remains of a batch that
/// throws; with the other rules so many at a time are merged as
/// ``StoreOptions/batchMemoryInBytes`` has room for.
struct BatchInsert {
  /// What a record of a part takes beside its bytes: its place, its outcome, its entries in indexes and
  /// what sorting them takes.
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

  /// Adds a record, which has four free bytes behind its content.
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
    // Each part visits the pages that lead to its records, which for keys in no order are all pages.
    let memory = batch.byteCount + batch.count * Self.memoryPerRecord
    let limit = min(core.store.options.batchMemoryInBytes, EntryArena.largestByteCount)
    if memory >= limit { try flush() }
  }

  /// Adds the records of `row`, which are in the layout of the program's type, and empties it.
  mutating func add(_ row: inout RecordBuffer) throws(StoreError) {
    if let part = entity.part { return try complete(&row, part) }
    guard let bulk else {
      for place in 0..<row.count {
        let record = UnsafeRawBufferPointer(row[place])
        let contentCount = record.count - RecordLayout.checksumSize
        try addForMerge(UnsafeRawBufferPointer(rebasing: record[..<contentCount]), given: nil)
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
    for place in 0..<row.count {
      let record = UnsafeRawBufferPointer(row[place])
      var whole = try part.completed(
        UnsafeRawBufferPointer(rebasing: record.dropLast(RecordLayout.checksumSize)), of: entity)
      try core.checkSize(whole.count - RecordLayout.checksumSize, of: entity)
      try whole.withMutableBytes { (bytes) throws(StoreError) in
        try add(
          UnsafeMutableRawBufferPointer(rebasing: bytes.dropLast(RecordLayout.checksumSize)),
          given: part.isGiven)
      }
    }
    row.removeAll()
  }

  /// Takes back what can be: called when the values end with an error.
  func takeBack() throws(StoreError) { try bulk?.takeBack() }

  mutating func finish() throws(StoreError) -> InsertCounts {
    if let bulk { try bulk.finish() } else { try flush() }
    return counts
  }

  private mutating func flush() throws(StoreError) {
    guard !batch.isEmpty else { return }
    let merge = BatchMerge(
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
