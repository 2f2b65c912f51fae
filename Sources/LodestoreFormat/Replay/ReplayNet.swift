/// The net changes of consecutive units: the last change of each record and of each link.
///
/// Records stay in the memory of the units.
package struct ReplayNet: Sendable {
  /// The place of a record in ``steps``.
  package struct Put: Sendable {
    package let id: UInt64
    fileprivate let step: Int32
    /// The position of the step's records; -1 for a deletion.
    fileprivate let block: Int32
    fileprivate let index: Int
  }

  package let steps: [ReplayStep]
  /// The inserted and updated records of each entity, in ascending order of their ids.
  package private(set) var puts: [EntityNumber: [Put]] = [:]
  /// The ids of the deleted records of each entity, in ascending order.
  package private(set) var deleted: [EntityNumber: [UInt64]] = [:]
  /// The entities of which ``puts`` has all records.
  package private(set) var replacedEntities: Set<EntityNumber> = []
  package private(set) var addedLinks: [UInt32: [LinkPair]] = [:]
  package private(set) var removedLinks: [UInt32: [LinkPair]] = [:]
  /// The relationships of which ``addedLinks`` has all links.
  package private(set) var replacedRelationships: Set<UInt32> = []
  package private(set) var nextIDs: [EntityNumber: UInt64] = [:]
  /// The places to be taken, one list after the other.
  package let places: [ReplayPlaces]
  /// The changed buckets, by their names.
  package private(set) var buckets: [String: ReplayBucket] = [:]

  package init(_ units: [ReplayUnit]) {
    steps = units.flatMap(\.steps)
    places = units.flatMap(\.end.places)
    collectRecords()
    collectLinks()
    for index in steps.indices where !steps[index].nextIDs.isEmpty {
      nextIDs.merge(steps[index].nextIDs) { max($0, $1) }
    }
    for unit in units { nextIDs.merge(unit.end.nextIDs) { max($0, $1) } }
    for bucket in units.lazy.flatMap(\.end.buckets) { buckets[bucket.name] = bucket }
  }

  /// The records in which a record is found, and its position there.
  package func records(of put: Put) -> (records: ReplayStep.Records, index: Int) {
    (steps[Int(put.step)].records[Int(put.block)], put.index)
  }

  // MARK: Records

  private mutating func collectRecords() {
    var all: [EntityNumber: [Put]] = [:]
    // Most steps have one record, and a copy of a step costs more than the record.
    for number in steps.indices {
      for entity in steps[number].replacedEntities {
        all[entity] = []
        replacedEntities.insert(entity)
      }
      for deleted in steps[number].deleted {
        let puts = deleted.ids.lazy.map { Put(id: $0, step: 0, block: -1, index: 0) }
        all[deleted.entity, default: []].append(contentsOf: puts)
      }
      for block in steps[number].records.indices {
        let puts = steps[number].records[block].ids.enumerated().lazy.map { index, id in
          Put(id: id, step: Int32(number), block: Int32(block), index: index)
        }
        all[steps[number].records[block].entity, default: []].append(contentsOf: puts)
      }
    }
    for (entity, changes) in all {
      let last = Self.last(of: changes)
      guard last.contains(where: { $0.block < 0 }) else {
        puts[entity] = last
        continue
      }
      puts[entity] = last.filter { $0.block >= 0 }
      if replacedEntities.contains(entity) { continue }
      deleted[entity] = last.lazy.filter { $0.block < 0 }.map(\.id)
    }
  }

  /// The last change of each id, in ascending order of the ids.
  private static func last(of changes: [Put]) -> [Put] {
    if zip(changes, changes.dropFirst()).allSatisfy({ $0.id < $1.id }) { return changes }
    let order = changes.indices.sorted { (changes[$0].id, $0) < (changes[$1].id, $1) }
    var last: [Put] = []
    last.reserveCapacity(changes.count)
    for position in order {
      if last.last?.id == changes[position].id { last.removeLast() }
      last.append(changes[position])
    }
    return last
  }

  // MARK: Links

  private mutating func collectLinks() {
    var groups: [UInt32: [HistoryPart.Links]] = [:]
    for number in steps.indices {
      for relationship in steps[number].replacedRelationships {
        groups[relationship] = []
        replacedRelationships.insert(relationship)
      }
      for group in steps[number].links where group.kind != .moved {
        groups[group.relationship, default: []].append(group)
      }
    }
    for (relationship, groups) in groups {
      let (added, removed) = Self.last(of: groups)
      if !added.isEmpty { addedLinks[relationship] = added }
      if !removed.isEmpty, !replacedRelationships.contains(relationship) {
        removedLinks[relationship] = removed
      }
    }
  }

  private static func last(
    of groups: [HistoryPart.Links]
  ) -> (added: [LinkPair], removed: [LinkPair]) {
    if groups.count == 1 {
      return groups[0].kind == .added ? (groups[0].pairs, []) : ([], groups[0].pairs)
    }
    var isAdded: [LinkPair: Bool] = [:]
    for group in groups { for pair in group.pairs { isAdded[pair] = group.kind == .added } }
    return (
      isAdded.lazy.filter(\.value).map(\.key).sorted(),
      isAdded.lazy.filter { !$0.value }.map(\.key).sorted()
    )
  }

  // MARK: One unit

  /// The net changes as a unit in place of `units`.
  func unit(_ units: [ReplayUnit]) -> ReplayUnit {
    guard let first = units.first, let last = units.last else {
      preconditionFailure("net changes are of units")
    }
    var unit = ReplayUnit(steps: [], end: last.end)
    unit.end.after = first.end.after
    unit.end.places = places
    unit.end.nextIDs = nextIDs
    unit.end.buckets = buckets.values.sorted { $0.name < $1.name }
    if let step = step(through: last.end.last) { unit.steps = [step] }
    return unit
  }

  private func step(through last: UInt64) -> ReplayStep? {
    guard let lastStep = steps.last, let firstStep = steps.first else { return nil }
    let writes = firstStep.writes.lowerBound...max(lastStep.writes.upperBound, last)
    var step = ReplayStep(writes: writes, time: lastStep.time, author: nil, context: nil)
    step.replacedEntities = replacedEntities.sorted()
    step.replacedRelationships = replacedRelationships.sorted()
    for (entity, puts) in puts.sorted(by: { $0.key < $1.key }) where !puts.isEmpty {
      var all = ReplayStep.Records(of: entity)
      for put in puts {
        let (records, index) = records(of: put)
        all.append(put.id, records.bytes[records.range(at: index)])
      }
      step.records.append(all)
    }
    for (entity, ids) in deleted.sorted(by: { $0.key < $1.key }) where !ids.isEmpty {
      var runs = IDRuns()
      for id in ids { runs.append(id) }
      step.deleted.append(ReplayStep.Deleted(entity: entity, ids: runs))
    }
    for (kind, links) in [(HistoryPart.Links.Kind.removed, removedLinks), (.added, addedLinks)] {
      for (relationship, pairs) in links.sorted(by: { $0.key < $1.key }) {
        step.links.append(
          HistoryPart.Links(relationship: relationship, kind: kind, pairs: pairs))
      }
    }
    step.nextIDs = nextIDs
    return step
  }
}
