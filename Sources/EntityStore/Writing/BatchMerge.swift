internal import LMDB
internal import LodestoreFormat

/// Merges a batch of records into an entity: a record whose key is already in a matching unique index
/// is merged with the stored one by the rule, the others are inserted.
///
/// The stored records are found in one pass over the sorted keys and compared before anything is
/// written, so that an unchanged record costs one read and no write. New records are appended, and
/// the entries of each index removed and written in key order. A record whose unique keys conflict
/// with those of other records of the batch, or of another stored record, is written alone after the
/// rest.
final class BatchMerge {
  /// What became of one record of the batch, and its id.
  enum Outcome: Sendable {
    case inserted(UInt64), updated(UInt64), unchanged(UInt64), ignored(UInt64)
    /// Indirect, to keep outcomes small: there is one for each record, and errors are rare.
    indirect case rejected(StoreError)
  }

  let core: TransactionCore
  let entity: StoredEntity
  let batch: IncomingRecords
  let matching: [StoredIndex]
  let rule: MergeRule
  let changes: EntityChanges
  let keys: BatchKeys
  /// The record that is about to be written.
  let scratch: RecordScratch
  /// The end of each page in the batch, where the last of the records of one page with one key is
  /// taken and the others are refused; empty where all are taken, one after the other.
  private let pageEnds: [Int]
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
  /// Records whose stored ones were removed for them.
  var isRenewed: [Bool]
  /// The merged bytes of those that were not given all attributes, by their positions.
  var renewed: [Int: [UInt8]] = [:]

  /// - Parameters:
  ///   - matching: the unique indexes that records are matched by; without one all are inserted.
  ///   - pageEnds: ascending, the last of them the number of records.
  init(
    _ batch: IncomingRecords, into entity: StoredEntity, matching: [StoredIndex], rule: MergeRule,
    pageEnds: [Int] = [], core: TransactionCore
  ) throws(StoreError) {
    assert(
      pageEnds.isEmpty
        || pageEnds.last == batch.count && zip(pageEnds, pageEnds.dropFirst()).allSatisfy(<=),
      "the ends of pages ascend to the number of records")
    self.core = core
    self.entity = entity
    self.matching = matching
    // A new id would take the links of the record along.
    if case .renew = rule, core.hasDeleteRules(entity) {
      self.rule = .replace
    } else {
      self.rule = rule
    }
    self.pageEnds = pageEnds
    changes = core.changes(of: entity)
    self.batch = try Self.derived(batch, of: entity, changes)
    keys = BatchKeys(of: entity)
    scratch = RecordScratch()
    outcomes = Array(repeating: nil, count: batch.count)
    holders = Array(repeating: nil, count: batch.count)
    isAlone = Array(repeating: false, count: batch.count)
    isRenewed = Array(repeating: false, count: batch.count)
  }

  /// Writes the batch; one outcome a record, in order.
  ///
  /// After an error some records are written and some are not: the transaction can only be aborted.
  func apply() throws(StoreError) -> [Outcome] {
    core.noteBatch(of: batch.count)
    // First the indexes that say which stored record is meant, then those whose uniqueness is only
    // checked.
    for index in matching { try match(by: index, isMatching: true) }
    for index in entity.indexes where index.isUnique {
      if matching.contains(where: { $0.description.number == index.description.number }) {
        continue
      }
      try match(by: index, isMatching: false)
    }
    separateSharers()
    try core.breakingOnError {
      try writeTogether()
      for position in outcomes.indices where isAlone[position] && outcomes[position] == nil {
        outcomes[position] = try writeAlone(position)
      }
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
      let record = batch[position]
      let made = try changes.derived(record, over: nil)
      let count = (made?.count ?? record.count) - RecordLayout.checksumSize
      if let made {
        made.withUnsafeBytes {
          derived.append(UnsafeRawBufferPointer(rebasing: $0[..<count]), given: isGiven)
        }
      } else {
        derived.append(UnsafeRawBufferPointer(rebasing: record[..<count]), given: isGiven)
      }
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
    let required = batch.hasParts ? requiredAttributes(in: index) : []
    for position in 0..<batch.count {
      if !required.isEmpty, lacksKey(position, required) {
        // Its key is known when it is merged.
        isAlone[position] = true
        continue
      }
      // The record may have left this core's cache, or never have been in it.
      if position &+ 8 < batch.count { batch.fetchAhead(position &+ 8) }
      let view = try entity.view(incoming: batch[position])
      let hasNull = try keys.encode(number, of: view, id: 0, core)
      if !hasNull { box.append(key: core.key.bytes, recordID: UInt64(position)) }
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

  /// The positions of the attributes of `index` that are required and have no initial value.
  func requiredAttributes(in index: StoredIndex) -> [Int] {
    entity.description.declaredAttributes.enumerated().filter { _, attribute in
      !attribute.isOptional && attribute.defaultValue == .null
        && index.description.attributes.contains(attribute.number)
    }.map(\.offset)
  }

  /// Whether the record at `position` lacks one of the attributes of ``requiredAttributes(in:)``, so
  /// that it has no key.
  func lacksKey(_ position: Int, _ required: [Int]) -> Bool {
    !required.allSatisfy { batch.isGiven($0, at: position) }
  }

  /// Has records of the batch whose keys lead to the same stored record written alone, one after the
  /// other: each must see what those before it changed.
  private func separateSharers() {
    touched.sort { $0 < $1 }
    for (pair, next) in zip(touched, touched.dropFirst())
    where pair.holder == next.holder && pair.position != next.position {
      isAlone[pair.position] = true
      isAlone[next.position] = true
    }
    touched = []
  }

  /// Decides about records of the batch with equal keys; `positions` ascend, since the sort is stable.
  private func settle(
    repeated positions: ArraySlice<Int>, _ index: StoredIndex, _ isMatching: Bool
  ) {
    if !isMatching || pageEnds.isEmpty {
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

  private func page(of position: Int) -> Int { pageEnds.partitioningIndex { $0 > position } }
}
