internal import LMDB
internal import LodestoreFormat

/// Merges a batch of records into an entity.
///
/// A record whose key is in a matching unique index is merged with the stored record by the rule.
/// The others are inserted.
///
/// The stored records are found in one pass over the sorted keys and compared before anything is
/// written, so that an unchanged record costs one read and no write. New records are appended, and
/// the entries of each index removed and written in key order.
///
/// The result is that of merging one record after the other. So a record whose unique keys meet
/// those of other records of the batch, or of another stored record, is written alone after the
/// rest. A merge may make a unique key that neither record had, and that another record of the
/// batch wants. Then all records are written one by one.
final class BatchMerge {
  /// The outcome of one record of the batch, and its id.
  enum Outcome: Sendable {
    case inserted(UInt64), updated(UInt64), unchanged(UInt64), ignored(UInt64)
    /// Indirect, to keep outcomes small: there is one for each record, and errors are rare.
    indirect case rejected(StoreError)
  }

  /// The facts that an import knows of a batch and its pages.
  struct Pages {
    /// The end of each page in the batch, ascending; the last of them is the number of records.
    ///
    /// The records of one page may exchange unique keys. Without pages they may not.
    var ends: [Int] = []
    /// Whether the last of the records of one page with one key is taken and the others are
    /// refused.
    ///
    /// Otherwise they are merged one after the other.
    var takesLast = false
    /// A new record gets this id plus its position, as others of its page lead to it by that id
    /// already.
    var firstID: UInt64?
    /// Records that links of this import have made.
    ///
    /// Such a record holds a key and nothing else, so an incoming record takes its place whatever
    /// the rule says.
    var made: Set<UInt64> = []
    /// By position: the places of attributes whose link leads to a record that is not there yet.
    var unresolved: [Int: [Int]] = [:]
    /// By position: records that are refused before the merge.
    var refused: [Int: StoreError] = [:]
  }

  let core: WriteCore
  let entity: StoredEntity
  let batch: IncomingRecords
  let matching: Matching
  let rule: MergeRule
  let pages: Pages
  let changes: EntityChanges
  let keys: BatchKeys
  // Used by one thread; exclusivity checks would slow down each record.
  @exclusivity(unchecked) var outcomes: [Outcome?]
  /// The stored record that each record of the batch is merged with.
  @exclusivity(unchecked) var holders: [UInt64?]
  /// The stored records that keys of the batch lead to, in any unique index.
  @exclusivity(unchecked) private var touched: [(holder: UInt64, position: Int)] = []
  /// Records that are written alone, after the others.
  @exclusivity(unchecked) var isAlone: [Bool]
  /// Counts links that are written with records; `nil` where nobody asks.
  @exclusivity(unchecked) var tally: LinkTally?
  /// With several matching indexes: how many keys of each record do not lead to a stored record.
  @exclusivity(unchecked) private var leadingNowhere: [Int32] = []
  /// Whether a record was given some of the attributes of a unique key and not the others.
  @exclusivity(unchecked) private var hasPartOfKey = false
  /// Merged records that were made before anything was written; see ``planningFindsNewKey()``.
  @exclusivity(unchecked) var planned: [Int: RecordBytes] = [:]
  /// By position: places of ``Pages/unresolved`` whose stored value stays by the rule.
  var untaken: [Int: Set<Int>] = [:]
  /// Records whose stored ones were removed for them.
  var isRenewed: [Bool]
  /// The merged records of those that were not given all attributes, by their positions.
  var renewed: [Int: RecordBytes] = [:]

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
    // A new id would take the links of the record along.
    if case .renew = rule, core.hasDeleteRules(entity) {
      self.rule = .replace
    } else {
      self.rule = rule
    }
    changes = core.changes(of: entity)
    self.batch = try Self.derived(batch, of: entity, changes)
    keys = BatchKeys(of: entity)
    outcomes = Array(repeating: nil, count: batch.count)
    holders = Array(repeating: nil, count: batch.count)
    isAlone = Array(repeating: false, count: batch.count)
    isRenewed = Array(repeating: false, count: batch.count)
    for (position, error) in pages.refused { outcomes[position] = .rejected(error) }
  }

  /// Writes the batch; one outcome a record, in order.
  ///
  /// After an error some records are written and some are not: the transaction can only be aborted.
  func apply() throws(StoreError) -> [Outcome] {
    core.noteBatch(of: batch.count)
    if matching.indexes.count > 1 { leadingNowhere = Array(repeating: 0, count: batch.count) }
    // First the indexes that say which stored record is meant, then those whose uniqueness is only
    // checked.
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
      // An index that is being built may refuse a record, and takes no part in what is looked up before.
      let hasUnbuiltKey = entity.building.contains(where: \.isUnique)
      if try hasUnbuiltKey || goesOneByOne() {
        for position in outcomes.indices where outcomes[position] == nil {
          isAlone[position] = true
        }
      }
      try writeTogether()
      try writeRest()
    }
    assert(!outcomes.contains { $0 == nil }, "each record of a batch has an outcome")
    return outcomes.map { $0 ?? .rejected(.damagedIndex(entity.name, "a record was left out")) }
  }

  /// The records with their derived attributes as new ones, as unique keys may be among them.
  private static func derived(
    _ batch: IncomingRecords, of entity: StoredEntity, _ changes: EntityChanges
  ) throws(StoreError) -> IncomingRecords {
    guard let derivations = entity.derivations else { return batch }
    var derived = IncomingRecords(entity.layout)
    for position in 0..<batch.count {
      let isGiven = entity.layout.attributes.indices.map { index in
        batch.isGiven(index, at: position) && !derivations.isDerived[index]
      }
      let record = try changes.derived(changes.copy(batch[position]))
      derived.append(record.content, given: isGiven)
    }
    return derived
  }

  /// Finds the stored records that the batch's keys in `index` lead to, and the keys that several
  /// records of the batch share.
  private func match(by index: StoredIndex, isMatching: Bool) throws(StoreError) {
    guard
      let number = entity.indexes.firstIndex(where: {
        $0.description.number == index.description.number
      })
    else { return }
    let box = KeyEntries(expectedCount: batch.count)
    let parts = batch.hasParts ? KeyParts(of: index, in: entity) : nil
    let countsWays = isMatching && !leadingNowhere.isEmpty
    for position in 0..<batch.count {
      if let parts, let isLacking = lacksKey(position, parts) {
        if isMatching, matching.isNamed { refuseWithoutKey(position, index) }
        isAlone[position] = isAlone[position] || isLacking
        continue
      }
      // The record may have left this core's cache, or never have been in it.
      if position &+ 8 < batch.count { batch.fetchAhead(position &+ 8) }
      let view = try batch.view(position, of: entity)
      let hasNull = try keys.encode(number, of: view, id: 0, core)
      if hasNull {
        if isMatching, matching.isNamed { refuseWithoutKey(position, index) }
        continue
      }
      box.append(key: core.key.bytes, recordID: UInt64(position))
      if countsWays { leadingNowhere[position] += 1 }
    }
    box.sort()
    let positions = (0..<box.count).map { Int(box.recordID(at: $0)) }
    var start = 0
    while start < positions.count {
      var end = start + 1
      while end < positions.count, box.isRepeated(at: end) { end += 1 }
      if end - start > 1 { settle(repeated: positions[start..<end], index, isMatching) }
      start = end
    }
    // With a single index, records that share a stored record have equal keys, which are settled
    // above.
    let mayShare = entity.indexes.count(where: \.isUnique) > 1
    try box.eachHeld(in: index, core: core) { (entry, holder) throws(StoreError) in
      let position = positions[entry]
      if mayShare { touched.append((holder, position)) }
      if countsWays { leadingNowhere[position] -= 1 }
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

  /// Returns `nil` when the record at `position` was given a key.
  ///
  /// Otherwise returns whether the merged or new record may have a key all the same.
  private func lacksKey(_ position: Int, _ parts: KeyParts) -> Bool? {
    switch parts.given(to: batch, at: position) {
    case .all: return nil
    case .some:
      hasPartOfKey = true
      return true
    // The stored record keeps its key; a new one has that of the initial values.
    case .none: return parts.hasInitialKey
    }
  }

  private func refuseWithoutKey(_ position: Int, _ index: StoredIndex) {
    guard outcomes[position] == nil else { return }
    outcomes[position] = .rejected(.withoutKey(entity: entity.name, index: index.name))
  }

  /// Marks records whose keys lead to the same stored record to be written alone, one after the
  /// other: each must see the changes of the earlier ones.
  private func separateSharers() {
    touched.sort { $0 < $1 }
    for (pair, next) in zip(touched, touched.dropFirst())
    where pair.holder == next.holder && pair.position != next.position {
      isAlone[pair.position] = true
      isAlone[next.position] = true
    }
    touched = []
  }

  /// Marks records to be written alone whose matching keys do not all lead to a stored record, and
  /// records whose stored record a link has made.
  private func separateUnclear() {
    for (position, count) in leadingNowhere.enumerated() where count > 0 && holders[position] != nil
    {
      isAlone[position] = true
    }
    if pages.made.isEmpty { return }
    for (position, holder) in holders.enumerated() {
      if let holder, pages.made.contains(holder) { isAlone[position] = true }
    }
  }

  /// Whether all records are written one after the other, since one may take a unique key that
  /// another of them wants, and that no index leads to yet.
  private func goesOneByOne() throws(StoreError) -> Bool {
    // Both records have the same values in the one index that matches them.
    let same = matching.indexes.count == 1 ? matching.indexes[0].description.number : nil
    let mayCombine = entity.indexes.contains { index in
      index.isUnique && (rule.mayChangeEqualValues || index.description.number != same)
        && rule.mayCombineKeys(KeyParts(of: index, in: entity))
    }
    guard mayCombine || hasPartOfKey else { return false }
    if outcomes.indices.contains(where: { isAlone[$0] && outcomes[$0] == nil }) { return true }
    return try planningFindsNewKey()
  }

  /// Decides about records of the batch with equal keys; `positions` ascend, since the sort is stable.
  private func settle(
    repeated positions: ArraySlice<Int>, _ index: StoredIndex, _ isMatching: Bool
  ) {
    if !isMatching || !pages.takesLast {
      for position in positions { isAlone[position] = true }
      return
    }
    // So that importing the same page again changes nothing.
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
