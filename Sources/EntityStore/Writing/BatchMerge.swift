internal import LMDB
internal import LodestoreFormat

/// Merges a batch of records into an entity.
///
/// A record whose key is in a matching unique index is merged with the stored record, following the
/// rule. Other records are inserted.
///
/// The stored records are found in one pass over the sorted keys, and compared before anything is
/// written. An unchanged record therefore costs one read and no write. New records are appended.
/// The index entries are removed and written in key order.
///
/// The result equals merging one record after the other. A record is therefore written alone, after
/// the rest, if its unique keys conflict with other records of the batch or with another stored
/// record. A merge may create a unique key that neither record had and that another record of the
/// batch needs. In this case all records are written one at a time.
final class BatchMerge {
  /// The outcome of one record of the batch, with its id.
  enum Outcome: Sendable {
    case inserted(UInt64), updated(UInt64), unchanged(UInt64), ignored(UInt64)
    /// The case is indirect so that an outcome takes little memory: every record has an outcome,
    /// and errors are rare.
    indirect case rejected(StoreError)
  }

  /// The facts that an import passes about a batch and its pages.
  struct Pages {
    /// The position after the last record of each imported page in the batch, in ascending order;
    /// the last end is the number of records.
    ///
    /// The records of one page may exchange unique keys. If the list is empty, no records may
    /// exchange keys.
    var ends: [Int] = []
    /// Whether, of several records with the same key in one imported page, only the last is used
    /// and the others are refused.
    ///
    /// If false, the records with the same key are merged one after the other.
    var takesLast = false
    /// The id that the first record gets if it is new; each new record gets this id plus its
    /// position in the batch.
    ///
    /// Other records of the page already have links with these ids.
    var firstID: UInt64?
    /// The records that links of this import have created.
    ///
    /// Such a record contains only a key, so an incoming record replaces it, whatever the rule.
    var made: Set<UInt64> = []
    /// By position of the record, the positions of the attributes whose link has no target yet.
    var unresolved: [Int: [Int]] = [:]
    /// The errors of records that are refused before the merge, by the position of the record.
    var refused: [Int: StoreError] = [:]
  }

  let core: WriteCore
  let entity: StoredEntity
  /// The records of the batch, with the derived attributes of new records, since unique keys may
  /// contain them.
  let derived: DerivedRecords
  /// The content of ``derived``.
  let batch: IncomingRecords
  let matching: Matching
  let rule: MergeRule
  let pages: Pages
  let changes: EntityChanges
  let keys: BatchKeys
  // Exclusivity is not checked, because only one thread uses the object and the checks would cost
  // time for each record.
  @exclusivity(unchecked) var outcomes: [Outcome?]
  /// The stored record with which each record of the batch is merged.
  @exclusivity(unchecked) var holders: [UInt64?]
  /// The stored records that have a unique key of an incoming record in any index, each with that
  /// record's position.
  @exclusivity(unchecked) private var touched: [(holder: UInt64, position: Int)] = []
  /// For each record of the batch, whether it is written alone, after the others.
  @exclusivity(unchecked) var isAlone: [Bool]
  /// The counter for links in attributes of the records; `nil` when the caller does not need the
  /// counts.
  @exclusivity(unchecked) var tally: LinkTally?
  /// With several matching indexes: for each record, the number of its keys without a stored
  /// record.
  @exclusivity(unchecked) private var unmatchedKeyCounts: [Int32] = []
  /// Whether some incoming record contains a part of a unique key's attributes and lacks the
  /// others.
  @exclusivity(unchecked) private var hasPartOfKey = false
  /// The records that were merged before anything was written; see ``planningFindsNewKey()``.
  @exclusivity(unchecked) var planned: [Int: SealedBytes] = [:]
  /// By position of the record, the link attributes in ``Pages/unresolved`` for which the merge
  /// rule keeps the stored value.
  var untaken: [Int: Set<Int>] = [:]
  /// By position: the records whose stored records were removed for them; empty with another rule
  /// than ``MergeRule/reinsert``.
  @exclusivity(unchecked) var reinsertions: [Reinsertion?] = []

  init(
    _ batch: IncomingRecords, into entity: StoredEntity, matching: Matching, rule: MergeRule,
    pages: Pages = Pages(), core: WriteCore
  ) throws(StoreError) {
    assert(
      pages.ends.isEmpty
        || pages.ends.last == batch.count && zip(pages.ends, pages.ends.dropFirst()).allSatisfy(<=),
      "the ends of pages ascend to the number of records")
    self.core = core
    self.entity = entity
    self.matching = matching
    self.pages = pages
    // In an entity with delete rules the stored record is updated instead, because the delete and a
    // new id would lose its links.
    if case .reinsert = rule, core.hasDeleteRules(entity) {
      self.rule = .replace
    } else {
      self.rule = rule
    }
    changes = core.changes(of: entity)
    derived = try changes.derived(batch)
    self.batch = derived.records
    keys = BatchKeys(of: entity)
    outcomes = Array(repeating: nil, count: batch.count)
    holders = Array(repeating: nil, count: batch.count)
    isAlone = Array(repeating: false, count: batch.count)
    if case .reinsert = self.rule { reinsertions = Array(repeating: nil, count: batch.count) }
    for (position, error) in pages.refused { outcomes[position] = .rejected(error) }
  }

  /// Writes the batch; returns one outcome for each record, in order.
  ///
  /// After an error, only some records are written, and the transaction can only be aborted.
  func apply() throws(StoreError) -> [Outcome] {
    core.noteBatch(of: batch.count)
    if matching.indexes.count > 1 { unmatchedKeyCounts = Array(repeating: 0, count: batch.count) }
    // The matching indexes come first, because they determine the stored record; the others are
    // only checked for uniqueness.
    for index in matching.indexes { try match(by: index, isMatching: true) }
    for index in entity.indexes where index.isUnique {
      if matching.indexes.contains(where: { $0.description.number == index.description.number }) {
        continue
      }
      try match(by: index, isMatching: false)
    }
    separateSharers()
    separateUnclear()
    try core.breakingOnError {
      // A unique index under construction may refuse a record, and the look-up of stored records
      // did not search it.
      let hasUnbuiltKey = entity.building.contains(where: \.isUnique)
      if try hasUnbuiltKey || mustWriteSingly() {
        for position in outcomes.indices where outcomes[position] == nil {
          isAlone[position] = true
        }
      }
      try writeTogether()
      try writeSingly()
    }
    assert(!outcomes.contains { $0 == nil }, "each record of a batch has an outcome")
    return outcomes.map { $0 ?? .rejected(.damagedIndex(entity.name, "a record was left out")) }
  }

  /// Finds the stored records with the batch's keys in `index`, and the keys that several records
  /// of the batch share.
  private func match(by index: StoredIndex, isMatching: Bool) throws(StoreError) {
    guard
      let number = entity.indexes.firstIndex(where: {
        $0.description.number == index.description.number
      })
    else { return }
    let batchKeys = KeyEntries(expectedCount: batch.count)
    let parts = batch.hasParts ? KeyParts(of: index, in: entity) : nil
    let countsUnmatchedKeys = isMatching && !unmatchedKeyCounts.isEmpty
    for position in 0..<batch.count {
      if let parts, let isLacking = lacksKey(position, parts) {
        if isMatching, matching.isNamed { refuseWithoutKey(position, index) }
        isAlone[position] = isAlone[position] || isLacking
        continue
      }
      // Another thread has written the record, so its bytes may not be in the cache of this
      // processor core. The bytes are fetched eight records ahead.
      if position &+ 8 < batch.count { batch.fetchAhead(position &+ 8) }
      let view = try batch.view(position, of: entity)
      let hasNull = try keys.encode(number, of: view, id: 0, core)
      if hasNull {
        if isMatching, matching.isNamed { refuseWithoutKey(position, index) }
        continue
      }
      batchKeys.append(key: core.key.bytes, recordID: UInt64(position))
      if countsUnmatchedKeys { unmatchedKeyCounts[position] += 1 }
    }
    batchKeys.sort()
    let positions = (0..<batchKeys.count).map { Int(batchKeys.recordID(at: $0)) }
    var start = 0
    while start < positions.count {
      var end = start + 1
      while end < positions.count, batchKeys.isRepeated(at: end) { end += 1 }
      if end - start > 1 { resolveRepeated(positions[start..<end], index, isMatching) }
      start = end
    }
    // With a single unique index, two incoming records with the same stored record have equal keys,
    // which were handled above.
    let mayShare = entity.indexes.count(where: \.isUnique) > 1
    try batchKeys.forEachExistingKey(in: index, core: core) { (entry, holder) throws(StoreError) in
      let position = positions[entry]
      if mayShare { touched.append((holder, position)) }
      if countsUnmatchedKeys { unmatchedKeyCounts[position] -= 1 }
      if let known = holders[position] {
        if known != holder { isAlone[position] = true }
      } else if isMatching {
        holders[position] = holder
      } else {
        isAlone[position] = true
      }
      return true
    }
  }

  /// Returns `nil` when the record at `position` was given all attributes of a key.
  ///
  /// Otherwise returns whether the record may have a key after it is merged or inserted.
  private func lacksKey(_ position: Int, _ parts: KeyParts) -> Bool? {
    switch parts.coverage(in: batch, at: position) {
    case .all: return nil
    case .some:
      hasPartOfKey = true
      return true
    // The stored record keeps its key; the key of a new record consists of initial values.
    case .none: return parts.hasInitialKey
    }
  }

  private func refuseWithoutKey(_ position: Int, _ index: StoredIndex) {
    guard outcomes[position] == nil else { return }
    outcomes[position] = .rejected(.withoutKey(entity: entity.name, index: index.name))
  }

  /// Marks records with keys of one stored record to be written alone.
  ///
  /// Written alone, each record sees the changes of the earlier ones.
  private func separateSharers() {
    touched.sort { $0 < $1 }
    for (pair, next) in zip(touched, touched.dropFirst())
    where pair.holder == next.holder && pair.position != next.position {
      isAlone[pair.position] = true
      isAlone[next.position] = true
    }
    touched = []
  }

  /// Marks records to be written alone when the stored record is uncertain.
  ///
  /// The stored record is uncertain when some of the matching keys have no stored record, or when a
  /// link of the import created it.
  private func separateUnclear() {
    for (position, count) in unmatchedKeyCounts.enumerated()
    where count > 0 && holders[position] != nil {
      isAlone[position] = true
    }
    if pages.made.isEmpty { return }
    for (position, holder) in holders.enumerated() {
      if let holder, pages.made.contains(holder) { isAlone[position] = true }
    }
  }

  /// Returns whether all records are written one after the other.
  ///
  /// The records are written singly when a record may get a unique key that another record still
  /// contains. The records are also written singly when a rule reads the id of a reinserted record.
  /// The id depends on the outcomes of the records before it.
  private func mustWriteSingly() throws(StoreError) -> Bool {
    if case .reinsert = rule, try changes.rulesReadID() { return true }
    // The two records have equal values in the one matching index.
    let same = matching.indexes.count == 1 ? matching.indexes[0].description.number : nil
    let mayCombine = entity.indexes.contains { index in
      index.isUnique && (rule.mayChangeEqualValues || index.description.number != same)
        && rule.mayCombineKeys(KeyParts(of: index, in: entity))
    }
    guard mayCombine || hasPartOfKey else { return false }
    if outcomes.indices.contains(where: { isAlone[$0] && outcomes[$0] == nil }) { return true }
    return try planningFindsNewKey()
  }

  /// Handles records of the batch with equal keys; `positions` are ascending because the sort is
  /// stable.
  private func resolveRepeated(
    _ positions: ArraySlice<Int>, _ index: StoredIndex, _ isMatching: Bool
  ) {
    if !isMatching || !pages.takesLast {
      for position in positions { isAlone[position] = true }
      return
    }
    // Of the records of a page with one key, only the last one is kept, so that importing the page
    // again changes nothing.
    for (position, next) in zip(positions, positions.dropFirst())
    where page(of: position) == page(of: next) {
      outcomes[position] = .rejected(
        StoreError(
          .uniqueViolation,
          "a later record of the page has the same '\(index.name)'; the last one is kept",
          entity: entity.name, index: index.name))
    }
    let left = positions.filter { outcomes[$0] == nil }
    if left.count > 1 { for position in left { isAlone[position] = true } }
  }

  private func page(of position: Int) -> Int { pages.ends.partitioningIndex { $0 > position } }
}
