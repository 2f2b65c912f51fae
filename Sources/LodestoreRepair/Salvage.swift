internal import EntityStore
internal import LodestoreFormat
internal import LodestorePages

/// Copies everything that can be saved from a damaged store to a new one.
///
/// Every record with a right checksum is saved with its id. A link to a lost record is removed. An
/// attribute that holds the id of a lost record becomes null; if it is required, its record is left
/// out. Of several records with one unique key, one is saved. The saved record is in the page that
/// is more likely part of the newest commit, or else has the higher id.
final class Salvage {
  private var parts: [EntityNumber: RepairReport.Part] = [:]
  private var problems: [String] = []
  let store: DamagedStore
  let records: SalvagedRecords
  /// The records left out because they must refer to a lost record.
  private var dropped: [EntityNumber: IDRuns] = [:]
  /// The records left out because another record has their unique key.
  private var displaced: [EntityNumber: IDRuns] = [:]
  private(set) var carriesHistory = true

  init(_ path: String) throws {
    store = try DamagedStore(path: path)
    records = try SalvagedRecords(store)
  }

  /// Creates the store at `out`, where nothing may exist.
  ///
  /// `remove` deletes the result of an attempt.
  ///
  /// - Parameter isSound: Returns whether the created store has no fault.
  func run(
    into out: String, remove: (String) -> Void, isSound: (String) throws -> Bool
  ) throws -> RepairReport {
    while true {
      // Each attempt saves fewer records.
      guard let report = try make(out) else {
        remove(out)
        continue
      }
      if try isSound(out) || !carriesHistory { return report }
      // The history may not match the remaining records.
      carriesHistory = false
      remove(out)
    }
  }

  /// Creates the store.
  ///
  /// If records share a unique key, adds some of them to ``displaced`` and returns `nil`.
  private func make(_ out: String) throws -> RepairReport? {
    problems = []
    parts = [:]
    let dropped = try dropRecordsWithoutRequired()
    let rebuild = try StoreRebuild(
      path: out, entities: store.entities, relationships: store.relationships,
      model: number(of: HeaderField.model))
    defer { rebuild.close() }
    try putRecords(into: rebuild)
    var report = RepairReport()
    for entity in store.entities {
      var part = parts[entity.number] ?? RepairReport.Part(.records, entity.name)
      let found = records.found[entity.number] ?? .init()
      part.orphans = min(found.orphans, part.saved)
      part.older = min(found.older, part.saved)
      part.dropped = (dropped[entity.number] ?? 0) + (displaced[entity.number]?.count ?? 0)
      let known = part.saved + part.dropped
      part.missing = max(0, Int(clamping: found.expected) - known)
      part.damaged = min(found.damaged, part.missing)
      part.missing -= part.damaged
      part.isWhole = found.isWhole && part.emptied == 0 && part.dropped == 0
      report.parts.append(part)
    }
    try carryLinks(into: rebuild, &report)
    try carryPairs(into: rebuild, &report)
    try carryUnknown(into: rebuild)
    let isHistoryCarried = try carryHistory(into: rebuild, &report)
    // A new history gets a new UUID, so that tokens of the old one are refused.
    try rebuild.putHeader(header(isSame: isHistoryCarried, report))
    report.problems = store.problems + problems
    report.notes = store.notes
    for entity in store.entities {
      guard let ids = displaced[entity.number] else { continue }
      let some = ids.prefix(10).map(String.init).joined(separator: ", ")
      report.problems.append(
        "\(entity.name): left out, because other records have their unique keys: \(some)"
          + (ids.count > 10 ? " and \(ids.count - 10) more" : ""))
    }
    let changed = store.entities.filter { entity in
      !isHistoryCarried || !report.isWhole
        || !(report.parts.first { $0.kind == .records && $0.name == entity.name }?.isWhole ?? false)
    }
    let counters = store.counters.merging(
      (Array(records.ids) + Array(displaced)).map { entity, runs in
        (CounterKey.nextRecord(entity: entity), runs.ranges.last?.upperBound ?? 1)
      }, uniquingKeysWith: max)
    let repeated = try rebuild.finish(counters: counters, restarted: Set(changed.map(\.number)))
    if repeated.isEmpty { return report }
    displace(repeated)
    return nil
  }

  private func displace(_ repeated: [StoreRebuild.RepeatedKey]) {
    let displacing = entitiesToDisplace(Set(repeated.map(\.entity)))
    var gone: [EntityNumber: Set<UInt64>] = [:]
    for (entity, first, second) in repeated where displacing.contains(entity) {
      // A record may fit after the other record of the pair was removed.
      if let gone = gone[entity], gone.contains(first) || gone.contains(second) { continue }
      gone[entity, default: []].insert(weaker(first, second, of: entity))
    }
    for (entity, ids) in gone {
      leaveOut(ids, of: entity, as: &displaced)
    }
  }

  private func leaveOut(
    _ ids: some Sequence<UInt64>, of entity: EntityNumber, as kind: inout [EntityNumber: IDRuns]
  ) {
    var runs = IDRuns()
    for id in ids { runs.append(id) }
    runs.normalize()
    kind[entity] = IDRuns((kind[entity] ?? IDRuns()).ranges + runs.ranges)
    records.remove(runs, of: entity)
  }

  /// Returns the entities with repeated keys that can be handled now.
  ///
  /// No record of such an entity refers to a record of another entity with repeated keys, directly
  /// or through further entities.
  ///
  /// Records of the remaining entities may be left out or change their keys as a result, so they
  /// are handled later.
  private func entitiesToDisplace(_ repeated: Set<EntityNumber>) -> Set<EntityNumber> {
    let held = Dictionary(
      grouping: store.relationships.filter { $0.attribute != nil }, by: \.from.entity)
    let free = repeated.filter { entity in
      var reached: Set<EntityNumber> = [entity]
      var waiting = [entity]
      while let next = waiting.popLast() {
        for relationship in held[next] ?? [] where reached.insert(relationship.to.entity).inserted {
          waiting.append(relationship.to.entity)
        }
      }
      return reached.intersection(repeated) == [entity]
    }
    return free.isEmpty ? Set(repeated.min().map { [$0] } ?? []) : free
  }

  /// The record to leave out of two: the record with the lower rank, or else the record with the
  /// lower id.
  private func weaker(_ first: UInt64, _ second: UInt64, of entity: EntityNumber) -> UInt64 {
    let (low, high) = (min(first, second), max(first, second))
    return records.rank(of: high, entity) < records.rank(of: low, entity) ? high : low
  }

  func addProblem(_ problem: String) { problems.append(problem) }

  /// Whether all losses and doubts are within the parts of the report.
  var hasNoProblems: Bool { problems.isEmpty && store.problems.isEmpty }

  // MARK: Records

  private func putRecords(into rebuild: StoreRebuild) throws {
    for entity in store.entities {
      let held = LinkAttributes(entity, store.relationships)
      var part = RepairReport.Part(.records, entity.name)
      var batch = PairBatch<UInt64>()
      try records.forEach(of: entity) { id, bytes in
        let (record, emptied) = try held.emptied(bytes, id, entity) { records.has($1, of: $0) }
        part.emptied += emptied
        part.saved += 1
        batch.add(id, record)
        if batch.isFull { try rebuild.put(batch.take(), of: entity.number) }
      }
      try rebuild.put(batch.take(), of: entity.number)
      parts[entity.number] = part
    }
  }

  /// Leaves out the records that must hold the id of a lost record.
  ///
  /// Records that must hold the id of a record left out are left out too.
  ///
  /// Returns the number for each entity.
  ///
  /// The records are read at most twice, however long the chain is. The required ids are held in
  /// memory if any is lost.
  private func dropRecordsWithoutRequired() throws -> [EntityNumber: Int] {
    var waiting: [RecordName] = []
    try forEachRequired { holder, target in
      if !records.has(target.id, of: target.entity) { waiting.append(holder) }
    }
    if waiting.isEmpty { return dropped.mapValues(\.count) }
    var pairs: [(target: RecordName, holder: RecordName)] = []
    try forEachRequired { holder, target in pairs.append((target, holder)) }
    pairs.sort { $0.target < $1.target }
    var lost: Set<RecordName> = []
    while let record = waiting.popLast() {
      guard lost.insert(record).inserted else { continue }
      var index = pairs.partitioningIndex { $0.target >= record }
      while index < pairs.count, pairs[index].target == record {
        waiting.append(pairs[index].holder)
        index += 1
      }
    }
    for (entity, names) in Dictionary(grouping: lost, by: \.entity) {
      leaveOut(names.map(\.id), of: entity, as: &dropped)
    }
    return dropped.mapValues(\.count)
  }
  /// Visits the records whose ids saved records must hold.
  private func forEachRequired(_ visit: (_ holder: RecordName, _ target: RecordName) -> Void) throws
  {
    for entity in store.entities {
      let held = LinkAttributes(entity, store.relationships)
      guard held.hasRequired else { continue }
      try records.forEach(of: entity) { id, bytes in
        for (relationship, target) in try held.targets(bytes, entity, isRequired: true) {
          visit(
            RecordName(entity: entity.number, id: id),
            RecordName(entity: relationship.to.entity, id: target))
        }
      }
    }
  }

  // MARK: Links

  private func carryLinks(into rebuild: StoreRebuild, _ report: inout RepairReport) throws {
    for relationship in store.relationships {
      let name = title(of: relationship)
      var links: Set<LinkPair> = []
      if relationship.attribute == nil {
        let found = try SalvagedLinks(of: relationship, in: store, records.ids)
        links = found.links.filter { link in
          records.has(link.from, of: relationship.from.entity)
            && records.has(link.to, of: relationship.to.entity)
        }
        var part = RepairReport.Part(.links, name)
        part.saved = links.count
        part.dropped = found.links.count - links.count
        part.missing = found.missing
        part.isWhole = found.isWhole && part.dropped == 0
        if found.isUncertain { part.older = links.count }
        report.parts.append(part)
        try rebuild.put(links, of: relationship.number)
      } else if relationship.to.isOrdered {
        links = try heldLinks(relationship)
      }
      for side in RelationshipSide.allCases where relationship[side].isOrdered {
        let order = try SalvagedOrder(
          of: relationship.number, side,
          links: side == .from ? links : Set(links.map { LinkPair(from: $0.to, to: $0.from) }),
          in: store)
        var part = RepairReport.Part(.order, name)
        part.saved = links.count - order.missing
        part.missing = order.missing
        part.isWhole = order.missing == 0
        report.parts.append(part)
        try rebuild.put(order: order.others, of: relationship.number, side)
      }
    }
  }

  private func title(of relationship: RelationshipDescription) -> String {
    let ends = RelationshipSide.allCases.map { side in
      let entity = store.entities.first { $0.number == relationship[side].entity }
      let attribute = side == .from ? relationship.attribute : nil
      let name =
        attribute.flatMap { entity?.attribute(number: $0)?.name } ?? relationship[side].name
      return (entity?.name ?? "") + (name.map { ".\($0)" } ?? "")
    }
    return ends.joined(separator: " - ")
  }

  /// The links that attributes of saved records hold.
  private func heldLinks(_ relationship: RelationshipDescription) throws -> Set<LinkPair> {
    var links: Set<LinkPair> = []
    guard let entity = store.entities.first(where: { $0.number == relationship.from.entity }) else {
      return links
    }
    let held = LinkAttributes(entity, [relationship])
    try records.forEach(of: entity) { id, bytes in
      for (relationship, target) in try held.targets(bytes, entity)
      where records.has(target, of: relationship.to.entity) {
        links.insert(LinkPair(from: id, to: target))
      }
    }
    return links
  }
}
