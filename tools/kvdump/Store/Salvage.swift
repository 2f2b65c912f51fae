import EntityStore
import LodestoreFormat
import LodestorePages
import LodestoreVerifier

/// Carries what can be saved of a damaged store into a new one.
///
/// Every record whose checksum is right comes along, with its id. A link or a held id that leads to a record that
/// is lost goes: an attribute that may be null becomes null, a record that must have it is left out.
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

  private(set) var reports: [Report] = []
  private(set) var problems: [String] = []
  private let path: String
  private var ids: [EntityNumber: IDRuns] = [:]

  init(_ path: String) { self.path = path }

  /// Makes the store at `out`; with what is in pages that no tree leads to, unless that does not fit together.
  func run(into out: String) throws {
    do {
      try run(into: out, withOrphans: true)
    } catch let error as StoreError where error.code == .uniqueViolation {
      FileFacts.remove(out)
      try run(into: out, withOrphans: false)
      problems.append("records in pages that no tree leads to were left out: \(error.message)")
    }
  }

  private func run(into out: String, withOrphans: Bool) throws {
    reports = []
    let file = try SalvagedFile(path: path)
    // The first reading says which records there are.
    var found: [EntityNumber: SalvagedFile.Found] = [:]
    ids = [:]
    for entity in file.entities {
      var runs = IDRuns()
      found[entity.number] = try file.forEachRecord(of: entity) { id, _ in runs.append(id) }
      runs.normalize()
      ids[entity.number] = runs
    }
    try file.collectOrphans()
    var orphans: [EntityNumber: [(id: UInt64, bytes: [UInt8])]] = [:]
    if withOrphans {
      for entity in file.entities {
        var known = ids[entity.number] ?? IDRuns()
        for orphan in file.orphans(of: entity.number) where !known.contains(orphan.id) {
          known.append(orphan.id)
          known.normalize()
          orphans[entity.number, default: []].append(orphan)
        }
        ids[entity.number] = known
      }
    }
    let dropped = try dropUnheld(orphans)
    let rebuild = try StoreRebuild(
      path: out, entities: file.entities, relationships: file.relationships, model: file.model)
    defer { rebuild.close() }
    let again = try SalvagedFile(path: path)
    for entity in file.entities {
      var report = Report(name: entity.name)
      let holds = Holds(entity, file.relationships)
      var batch = Batch()
      func take(_ id: UInt64, _ bytes: UnsafeRawBufferPointer) throws {
        guard ids[entity.number]?.contains(id) == true else { return }
        let (record, emptied) = try holds.emptied(bytes, id, entity) {
          self.ids[$0]?.contains($1) ?? false
        }
        report.emptied += emptied
        report.saved += 1
        batch.records.append((id, record))
        batch.bytes += record.count
        guard batch.bytes >= Batch.most else { return }
        try rebuild.put(batch.records, of: entity.number)
        batch = Batch()
      }
      _ = try again.forEachRecord(of: entity) { id, bytes in try take(id, bytes) }
      for orphan in orphans[entity.number] ?? [] {
        try orphan.bytes.withUnsafeBytes { try take(orphan.id, $0) }
      }
      try rebuild.put(batch.records, of: entity.number)
      let told = found[entity.number]
      report.orphans = orphans[entity.number]?.count ?? 0
      report.damaged = told?.damaged ?? 0
      report.dropped = dropped[entity.number] ?? 0
      let known = report.saved + report.dropped + report.damaged
      report.missing =
        max(0, Int(clamping: told?.expected ?? 0) - known)
      reports.append(report)
    }
    try carryLinks(again, into: rebuild)
    for tree in [TreeName.buckets, .imports] {
      var pairs: [(key: [UInt8], body: [UInt8])] = []
      let lost = try again.forEachSealed(in: tree) { key, body in
        pairs.append((Array(key), Array(body)))
      }
      try rebuild.put(pairs, in: tree)
      if lost.damaged > 0 { problems.append("\(lost.damaged) pairs of '\(tree.text)' are damaged") }
      if lost.hasGaps { problems.append("some pairs of '\(tree.text)' cannot be read") }
    }
    problems += file.problems
    try rebuild.finish(counters: file.counters)
  }

  /// Records in memory until there are enough for a commit.
  private struct Batch {
    static let most = 16 << 20
    var records: [(id: UInt64, bytes: [UInt8])] = []
    var bytes = 0
  }

  // MARK: Relationships

  /// Leaves out records that must hold the id of one that is lost, until there is none; returns how many of each
  /// entity.
  private func dropUnheld(
    _ orphans: [EntityNumber: [(id: UInt64, bytes: [UInt8])]]
  ) throws -> [EntityNumber: Int] {
    var dropped: [EntityNumber: Int] = [:]
    while true {
      let file = try SalvagedFile(path: path)
      var lost: [EntityNumber: IDRuns] = [:]
      for entity in file.entities {
        let holds = Holds(entity, file.relationships)
        guard holds.hasRequired else { continue }
        var runs = IDRuns()
        func look(_ id: UInt64, _ bytes: UnsafeRawBufferPointer) throws {
          guard ids[entity.number]?.contains(id) == true,
            try !holds.isHeld(bytes, entity, { self.ids[$0]?.contains($1) ?? false })
          else { return }
          runs.append(id)
        }
        _ = try file.forEachRecord(of: entity) { id, bytes in try look(id, bytes) }
        for orphan in orphans[entity.number] ?? [] {
          try orphan.bytes.withUnsafeBytes { try look(orphan.id, $0) }
        }
        runs.normalize()
        if !runs.isEmpty { lost[entity.number] = runs }
      }
      if lost.isEmpty { return dropped }
      for (entity, runs) in lost {
        ids[entity] = ids[entity]?.subtracting(runs)
        dropped[entity, default: 0] += runs.count
      }
    }
  }

  private func carryLinks(_ file: SalvagedFile, into rebuild: StoreRebuild) throws {
    var held: [UInt32: Set<LinkPair>] = [:]
    let ordered = file.relationships.filter { $0.attribute != nil && $0.to.isOrdered }
    if !ordered.isEmpty { held = try heldLinks(ordered) }
    for relationship in file.relationships {
      var links = held[relationship.number] ?? []
      if relationship.attribute == nil {
        let all = try file.links(of: relationship)
        links = all.filter { link in
          ids[relationship.from.entity]?.contains(link.from) == true
            && ids[relationship.to.entity]?.contains(link.to) == true
        }
        let gone = all.count - links.count
        if gone > 0 {
          problems.append(
            "\(gone) links of relationship \(relationship.number) led to lost records")
        }
        try rebuild.put(links, of: relationship.number)
      }
      for (side, isOrdered) in [
        (RelationshipSide.from, relationship.from.isOrdered), (.to, relationship.to.isOrdered),
      ] where isOrdered {
        let positions = try file.positions(of: relationship, side)
        let pairs = links.map { side == .from ? ($0.from, $0.to) : ($0.to, $0.from) }
        let order = Dictionary(grouping: pairs, by: \.0).map { owner, pairs in
          // Those without a position come last, by their ids.
          (
            owner,
            pairs.map(\.1).sorted {
              (positions[owner]?[$0] ?? .max, $0) < (positions[owner]?[$1] ?? .max, $1)
            }
          )
        }
        try rebuild.put(
          order: Dictionary(uniqueKeysWithValues: order), of: relationship.number, side)
      }
    }
  }

  /// The links that attributes of saved records hold.
  private func heldLinks(
    _ relationships: [RelationshipDescription]
  ) throws -> [UInt32: Set<LinkPair>] {
    var links: [UInt32: Set<LinkPair>] = [:]
    let file = try SalvagedFile(path: path)
    for entity in file.entities {
      let mine = relationships.filter { $0.from.entity == entity.number }
      guard !mine.isEmpty else { continue }
      let holds = Holds(entity, mine)
      _ = try file.forEachRecord(of: entity) { id, bytes in
        guard self.ids[entity.number]?.contains(id) == true else { return }
        for (relationship, target) in try holds.targets(bytes, entity)
        where self.ids[relationship.to.entity]?.contains(target) == true {
          links[relationship.number, default: []].insert(LinkPair(from: id, to: target))
        }
      }
    }
    return links
  }
}

/// The attributes of an entity that hold ids of records by a relationship.
private struct Holds {
  private let relationships: [UInt32: RelationshipDescription]
  let hasRequired: Bool

  init(_ entity: EntityDescription, _ relationships: [RelationshipDescription]) {
    var held: [UInt32: RelationshipDescription] = [:]
    for relationship in relationships where relationship.from.entity == entity.number {
      if let attribute = relationship.attribute { held[attribute] = relationship }
    }
    self.relationships = held
    hasRequired = entity.layouts.contains { layout in
      layout.attributes.contains { held[$0.number] != nil && !$0.isOptional }
    }
  }

  private func values(
    _ bytes: UnsafeRawBufferPointer, _ entity: EntityDescription
  ) throws -> (RecordLayout, [Value])? {
    let number = try RecordLayout.layoutNumber(of: bytes)
    guard let layout = entity.layouts.first(where: { $0.number == number }) else { return nil }
    let view = try RecordView(bytes, layout: layout)
    return (layout, try layout.slots.map { try view.value(at: $0) })
  }

  /// What a record leads to.
  func targets(
    _ bytes: UnsafeRawBufferPointer, _ entity: EntityDescription
  ) throws -> [(RelationshipDescription, UInt64)] {
    guard !relationships.isEmpty, let (layout, values) = try values(bytes, entity) else {
      return []
    }
    return zip(layout.attributes, values).compactMap { attribute, value in
      guard let relationship = relationships[attribute.number], let id = value.recordID else {
        return nil
      }
      return (relationship, id)
    }
  }

  /// Whether all that the record must lead to is there.
  func isHeld(
    _ bytes: UnsafeRawBufferPointer, _ entity: EntityDescription,
    _ isThere: (EntityNumber, UInt64) -> Bool
  ) throws -> Bool {
    guard let (layout, values) = try values(bytes, entity) else { return true }
    return zip(layout.attributes, values).allSatisfy { attribute, value in
      guard !attribute.isOptional, let relationship = relationships[attribute.number],
        let id = value.recordID
      else { return true }
      return isThere(relationship.to.entity, id)
    }
  }

  /// The record with null for each id of a record that is lost; and how many these were.
  func emptied(
    _ bytes: UnsafeRawBufferPointer, _ id: UInt64, _ entity: EntityDescription,
    _ isThere: (EntityNumber, UInt64) -> Bool
  ) throws -> ([UInt8], Int) {
    guard !relationships.isEmpty, case (let layout, var values)? = try values(bytes, entity) else {
      return (Array(bytes), 0)
    }
    var count = 0
    for (index, attribute) in layout.attributes.enumerated() {
      guard let relationship = relationships[attribute.number], let target = values[index].recordID,
        !isThere(relationship.to.entity, target)
      else { continue }
      values[index] = .null
      count += 1
    }
    return count == 0 ? (Array(bytes), 0) : (try layout.record(id: id, values: values), count)
  }
}

extension Value {
  fileprivate var recordID: UInt64? {
    switch self {
    case .integer(let number): UInt64(exactly: number)
    case .unsigned(let number): number
    default: nil
    }
  }
}
