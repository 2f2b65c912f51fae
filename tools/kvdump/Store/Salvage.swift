import EntityStore
import LodestoreFormat
import LodestorePages
import LodestoreVerifier

/// Carries what can be saved of a damaged store into a new one.
///
/// Every record whose checksum is right comes along, with its id. A link or a held id that leads to a record that
/// is lost goes: an attribute that may be null becomes null, a record that must have it is left out. Of records that
/// have one unique key, as when a page of an earlier commit is in the place of a later one, one is saved: of those that
/// a tree leads to, or else of all, the one with the highest id.
final class Salvage {
  /// What became of the records of an entity.
  struct Report {
    var name: String
    var saved = 0
    /// Those among them that were found in pages that no tree leads to.
    var orphans = 0
    /// Records whose bytes are not those that were written.
    var damaged = 0
    /// How many more the tree says that there were.
    var missing = 0
    /// Held ids that were made null, and records that were left out for one.
    var emptied = 0
    var dropped = 0

    var isWhole: Bool { damaged == 0 && missing == 0 && emptied == 0 && dropped == 0 }
  }

  /// What was found of an entity.
  private struct Found {
    var expected: UInt64
    var damaged: Int
    /// How many of those that a tree leads to are ``Salvage/displaced``.
    var displaced: Int
  }

  private(set) var reports: [Report] = []
  var problems: [String] = []
  let path: String
  /// The records that are saved; those among them that are in pages which no tree leads to.
  var ids: [EntityNumber: IDRuns] = [:]
  private var orphans: [EntityNumber: IDRuns] = [:]
  /// The records that are left out because another one has their unique key.
  private var displaced: [EntityNumber: IDRuns] = [:]

  init(_ path: String) { self.path = path }

  /// Makes the store at `out`.
  func run(into out: String) throws {
    // Each time fewer records are saved.
    while try !make(out) { FileFacts.remove(out) }
  }

  /// Makes the store; false when records have one unique key, of which some are ``displaced`` then.
  private func make(_ out: String) throws -> Bool {
    reports = []
    problems = []
    // The first reading says which records there are. It stays open for those that no tree leads to.
    let file = try SalvagedFile(path: path)
    let found = try findRecords(file)
    let counters = file.counters.merging(
      (Array(ids) + Array(displaced)).map { entity, runs in
        (CounterKey.nextRecord(entity: entity), runs.ranges.last?.upperBound ?? 1)
      }, uniquingKeysWith: max)
    let dropped = try dropUnheld(file)
    let rebuild = try StoreRebuild(
      path: out, entities: file.entities, relationships: file.relationships, model: file.model)
    defer { rebuild.close() }
    let again = try SalvagedFile(path: path)
    var taken = try putRecords(again, orphansOf: file, into: rebuild)
    for entity in file.entities {
      var report = taken.removeValue(forKey: entity.number) ?? Report(name: entity.name)
      let told = found[entity.number]
      let saved = ids[entity.number] ?? IDRuns()
      report.orphans = orphans[entity.number]?.intersection(saved).count ?? 0
      report.damaged = told?.damaged ?? 0
      report.dropped = (dropped[entity.number] ?? 0) + (told?.displaced ?? 0)
      let known = report.saved + report.dropped + report.damaged
      report.missing = max(0, Int(clamping: told?.expected ?? 0) - known)
      reports.append(report)
    }
    try carryLinks(again, orphansOf: file, into: rebuild)
    for tree in [TreeName.buckets, .imports] {
      var batch = Batch<[UInt8]>()
      let lost = try again.forEachSealed(in: tree) { key, body in
        batch.add(Array(key), Array(body))
        guard batch.isFull else { return }
        try rebuild.put(batch.take(), in: tree)
      }
      try rebuild.put(batch.take(), in: tree)
      if lost.damaged > 0 { problems.append("\(lost.damaged) pairs of '\(tree.text)' are damaged") }
      if lost.hasGaps { problems.append("some pairs of '\(tree.text)' cannot be read") }
    }
    try carryUnknown(again, into: rebuild)
    problems += file.problems
    for entity in file.entities {
      guard let ids = displaced[entity.number] else { continue }
      let some = ids.prefix(10).map(String.init).joined(separator: ", ")
      problems.append(
        "\(entity.name): left out, because other records have their unique keys: \(some)"
          + (ids.count > 10 ? " and \(ids.count - 10) more" : ""))
    }
    let repeated = try rebuild.finish(counters: counters)
    let displacing = entitiesToDisplace(Set(repeated.map(\.entity)), file.relationships)
    var gone: [EntityNumber: Set<UInt64>] = [:]
    for (entity, first, second) in repeated where displacing.contains(entity) {
      // The one may fit once the other is gone.
      if let gone = gone[entity], gone.contains(first) || gone.contains(second) { continue }
      gone[entity, default: []].insert(weaker(first, second, of: entity))
    }
    for (entity, ids) in gone {
      for id in ids { displaced[entity, default: IDRuns()].append(id) }
      displaced[entity]?.normalize()
    }
    return repeated.isEmpty
  }

  /// Of the entities with repeated keys those whose records hold ids of no other of them, however
  /// far away.
  ///
  /// The records of the rest may go, or have another key, without those that are left out now.
  private func entitiesToDisplace(
    _ repeated: Set<EntityNumber>, _ relationships: [RelationshipDescription]
  ) -> Set<EntityNumber> {
    let held = Dictionary(grouping: relationships.filter { $0.attribute != nil }, by: \.from.entity)
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

  /// Which of two records is to be left out: one that no tree leads to, or the one with the lower id.
  private func weaker(_ first: UInt64, _ second: UInt64, of entity: EntityNumber) -> UInt64 {
    let (low, high) = (min(first, second), max(first, second))
    let isStray = { self.orphans[entity]?.contains($0) ?? false }
    return isStray(high) && !isStray(low) ? high : low
  }

  /// Finds which records can be read, and how much of each entity cannot.
  private func findRecords(_ file: SalvagedFile) throws -> [EntityNumber: Found] {
    var found: [EntityNumber: Found] = [:]
    ids = [:]
    orphans = [:]
    for entity in file.entities {
      var runs = IDRuns()
      let told = try file.forEachRecord(of: entity) { id, _ in runs.append(id) }
      runs.normalize()
      let fitting = runs.subtracting(displaced[entity.number] ?? IDRuns())
      found[entity.number] = Found(
        expected: told.expected, damaged: told.damaged, displaced: runs.count - fitting.count)
      ids[entity.number] = fitting
    }
    try file.passOtherTrees()
    try file.forEachOrphan { entity, id, _ in self.orphans[entity, default: IDRuns()].append(id) }
    for (entity, var runs) in orphans {
      runs.normalize()
      let known = ids[entity] ?? IDRuns()
      runs = runs.subtracting(displaced[entity] ?? IDRuns())
      orphans[entity] = runs.subtracting(known)
      ids[entity] = IDRuns(known.ranges + runs.ranges)
    }
    return found
  }

  /// Visits the records that are saved and that no tree leads to, each once.
  func forEachOrphan(
    of file: SalvagedFile, _ visit: (EntityNumber, UInt64, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard orphans.contains(where: { !$0.value.isEmpty }) else { return }
    var rest = orphans.mapValues { IDsOnce($0) }
    try file.forEachOrphan { entity, id, bytes in
      guard rest[entity]?.take(id) == true, self.ids[entity]?.contains(id) == true else { return }
      try visit(entity, id, bytes)
    }
  }

  private func putRecords(
    _ file: SalvagedFile, orphansOf first: SalvagedFile, into rebuild: StoreRebuild
  ) throws -> [EntityNumber: Report] {
    var reports: [EntityNumber: Report] = [:]
    var entities: [EntityNumber: (description: EntityDescription, holds: Holds)] = [:]
    for entity in file.entities {
      reports[entity.number] = Report(name: entity.name)
      entities[entity.number] = (entity, Holds(entity, file.relationships))
    }
    var batches: [EntityNumber: Batch<UInt64>] = [:]
    var waiting = 0
    func put() throws {
      for (entity, var batch) in batches.sorted(by: { $0.key < $1.key }) {
        try rebuild.put(batch.take(), of: entity)
      }
      batches = [:]
      waiting = 0
    }
    func take(_ number: EntityNumber, _ id: UInt64, _ bytes: UnsafeRawBufferPointer) throws {
      guard let entity = entities[number], ids[number]?.contains(id) == true else { return }
      let (record, emptied) = try entity.holds.emptied(bytes, id, entity.description) {
        self.ids[$0]?.contains($1) ?? false
      }
      reports[number]?.emptied += emptied
      reports[number]?.saved += 1
      batches[number, default: Batch()].add(id, record)
      waiting += record.count
      if waiting >= Batch<UInt64>.mostBytes { try put() }
    }
    for entity in file.entities {
      _ = try file.forEachRecord(of: entity) { id, bytes in try take(entity.number, id, bytes) }
    }
    try forEachOrphan(of: first) { entity, id, bytes in try take(entity, id, bytes) }
    try put()
    return reports
  }
}
