internal import LMDB
internal import LodestoreFormat

/// Merges a batch of records into an entity: those that unique indexes lead to already as the rule
/// says, the others as new records.
///
/// The stored records are found in one pass over the sorted keys and compared before anything is
/// written, so that an unchanged record costs one read and no write. New records are appended, and
/// the entries of each index removed and written in key order. A record whose unique keys meet
/// those of others of the batch, or of another stored record, goes by itself when the rest is done.
package final class BatchMerge {
  /// What became of one record of the batch, and its id.
  package enum Outcome: Sendable {
    case inserted(UInt64), updated(UInt64), unchanged(UInt64), ignored(UInt64)
    /// Apart in memory, as there is an outcome for each record and hardly ever an error.
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
  // Of one thread; a check of each access would show in the time of a merge.
  @exclusivity(unchecked) var outcomes: [Outcome?]
  /// The stored record that each record of the batch is merged with.
  @exclusivity(unchecked) var holders: [UInt64?]
  /// The stored records that keys of the batch lead to, in any unique index.
  @exclusivity(unchecked) private var touched: [(holder: UInt64, place: Int)] = []
  /// Records that go by themselves.
  @exclusivity(unchecked) var isApart: [Bool]
  /// Records whose stored ones were removed for them.
  var isRenewed: [Bool]
  /// Those of them that were not given all attributes, with the stored values of the others.
  var renewed: [Int: [UInt8]] = [:]

  /// - Parameters:
  ///   - matching: the unique indexes that records are matched by; without one all are inserted.
  ///   - pageEnds: ascending, the last of them the number of records.
  package init(
    _ batch: IncomingRecords, into entity: StoredEntity, matching: [StoredIndex], rule: MergeRule,
    pageEnds: [Int] = [], core: TransactionCore
  ) {
    self.core = core
    self.entity = entity
    self.matching = matching
    self.rule = rule
    self.pageEnds = pageEnds
    self.batch = batch
    changes = core.changes(of: entity)
    keys = BatchKeys(of: entity)
    scratch = RecordScratch()
    outcomes = Array(repeating: nil, count: batch.count)
    holders = Array(repeating: nil, count: batch.count)
    isApart = Array(repeating: false, count: batch.count)
    isRenewed = Array(repeating: false, count: batch.count)
  }

  /// Writes the batch; one outcome a record, in order.
  ///
  /// After an error some records are written and some are not: the transaction can only be aborted.
  package func apply() throws(StoreError) -> [Outcome] {
    // First those that tell which record is meant, then those that are only to hold.
    for index in matching { try match(by: index, isMatching: true) }
    for index in entity.indexes where index.isUnique {
      if matching.contains(where: { $0.description.number == index.description.number }) {
        continue
      }
      try match(by: index, isMatching: false)
    }
    setApartSharers()
    do throws(StoreError) {
      try writeTogether()
      for place in outcomes.indices where isApart[place] && outcomes[place] == nil {
        outcomes[place] = try writeAlone(place)
      }
    } catch {
      core.brokenBy = error
      throw error
    }
    return outcomes.map { $0 ?? .rejected(.damagedIndex(entity.name, "a record was left out")) }
  }

  /// Finds what the keys of `index` lead to, and which of them come more than once.
  private func match(by index: StoredIndex, isMatching: Bool) throws(StoreError) {
    guard
      let number = entity.indexes.firstIndex(where: {
        $0.description.number == index.description.number
      })
    else { return }
    let box = EntryArenaBox(expectedCount: batch.count)
    let required = batch.hasParts ? requiredPlaces(in: index) : []
    for place in 0..<batch.count {
      if !required.isEmpty, lacksKey(place, required) {
        // Its key is known when it is merged.
        isApart[place] = true
        continue
      }
      // Another thread has written them, or so many since that they left the cache.
      if place &+ 8 < batch.count { batch.fetchAhead(place &+ 8) }
      let view = try entity.view(incoming: batch[place])
      let hasNull = try keys.encode(number, of: view, id: 0, core)
      if !hasNull { box.append(key: core.key.bytes, recordID: UInt64(place)) }
    }
    box.sort()
    let places = box.arena.entries.map { Int(box.arena.recordID($0)) }
    var start = 0
    while start < places.count {
      var end = start + 1
      while end < places.count, box.isRepeated(at: end) { end += 1 }
      if end - start > 1 { settle(repeated: places[start..<end], index, isMatching) }
      start = end
    }
    // By one index alone those that share a record have one key.
    let mayShare = entity.indexes.count(where: \.isUnique) > 1
    try box.eachHeld(in: index, core: core) { (position, holder) throws(StoreError) in
      let place = places[position]
      if mayShare { touched.append((holder, place)) }
      if let known = holders[place] {
        if known != holder { isApart[place] = true }
      } else if isMatching {
        holders[place] = holder
      } else {
        isApart[place] = true
      }
      return true
    }
  }

  /// The places of attributes of `index` that have no value where none is given.
  func requiredPlaces(in index: StoredIndex) -> [Int] {
    entity.description.declaredAttributes.enumerated().filter { _, attribute in
      !attribute.isOptional && attribute.initial == .null
        && index.description.attributes.contains(attribute.number)
    }.map(\.offset)
  }

  /// Whether the record at `place` was not given all values at the places of
  /// ``requiredPlaces(in:)``, so that no key can be made of it.
  func lacksKey(_ place: Int, _ required: [Int]) -> Bool {
    !required.allSatisfy { batch.isGiven($0, at: place) }
  }

  /// Records of the batch whose keys lead to one stored record go one after the other: what one
  /// changes of it the next must see.
  private func setApartSharers() {
    touched.sort { $0 < $1 }
    for (pair, next) in zip(touched, touched.dropFirst())
    where pair.holder == next.holder && pair.place != next.place {
      isApart[pair.place] = true
      isApart[next.place] = true
    }
    touched = []
  }

  /// Records of the batch with one key, in the order of the batch, which the sort has kept.
  private func settle(
    repeated places: ArraySlice<Int>, _ index: StoredIndex, _ isMatching: Bool
  ) {
    if !isMatching || pageEnds.isEmpty {
      for place in places { isApart[place] = true }
      return
    }
    // So that importing the same page again changes nothing.
    for (place, next) in zip(places, places.dropFirst()) where page(of: place) == page(of: next) {
      outcomes[place] = .rejected(
        StoreError(
          .uniqueViolation,
          "a later record of the page has the same '\(index.name)'; the last one is kept",
          entity: entity.name, index: index.name))
    }
    let left = places.filter { outcomes[$0] == nil }
    if left.count > 1 { for place in left { isApart[place] = true } }
  }

  private func page(of place: Int) -> Int {
    var low = 0
    var high = pageEnds.count
    while low < high {
      let middle = (low + high) / 2
      if pageEnds[middle] <= place { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
