import EntityStore
import LodestoreFormat
import LodestoreVerifier

extension Salvage {
  /// Leaves out records that must hold the id of one that is lost, then those that must hold theirs; returns how
  /// many of each entity.
  ///
  /// The file is read once where there is none, and twice where there are any, however long the chain is: then it is
  /// in memory which record must hold which.
  func dropUnheld(_ first: SalvagedFile) throws -> [EntityNumber: Int] {
    var waiting: [RecordName] = []
    try forEachRequired(first) { holder, target in
      if ids[target.entity]?.contains(target.id) != true { waiting.append(holder) }
    }
    if waiting.isEmpty { return [:] }
    var pairs: [(target: RecordName, holder: RecordName)] = []
    try forEachRequired(first) { holder, target in pairs.append((target, holder)) }
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
    return Dictionary(grouping: lost, by: \.entity).mapValues { records in
      var runs = IDRuns()
      for record in records { runs.append(record.id) }
      runs.normalize()
      ids[records[0].entity] = ids[records[0].entity]?.subtracting(runs)
      return records.count
    }
  }

  /// Visits what saved records must hold the ids of.
  private func forEachRequired(
    _ first: SalvagedFile, _ visit: (_ holder: RecordName, _ target: RecordName) -> Void
  ) throws {
    let file = try SalvagedFile(path: path)
    var requiring: [EntityNumber: (description: EntityDescription, holds: Holds)] = [:]
    for entity in file.entities {
      let holds = Holds(entity, file.relationships)
      if holds.hasRequired { requiring[entity.number] = (entity, holds) }
    }
    if requiring.isEmpty { return }
    func look(_ number: EntityNumber, _ id: UInt64, _ bytes: UnsafeRawBufferPointer) throws {
      guard let entity = requiring[number], ids[number]?.contains(id) == true else { return }
      for (relationship, target) in try entity.holds.targets(
        bytes, entity.description, isRequired: true)
      {
        visit(
          RecordName(entity: number, id: id),
          RecordName(entity: relationship.to.entity, id: target))
      }
    }
    for entity in file.entities where requiring[entity.number] != nil {
      _ = try file.forEachRecord(of: entity) { id, bytes in try look(entity.number, id, bytes) }
    }
    try forEachOrphan(of: first) { entity, id, bytes in try look(entity, id, bytes) }
  }

  func carryLinks(
    _ file: SalvagedFile, orphansOf first: SalvagedFile, into rebuild: StoreRebuild
  ) throws {
    var held: [UInt32: Set<LinkPair>] = [:]
    let ordered = file.relationships.filter { $0.attribute != nil && $0.to.isOrdered }
    if !ordered.isEmpty { held = try heldLinks(ordered, first) }
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
    _ relationships: [RelationshipDescription], _ first: SalvagedFile
  ) throws -> [UInt32: Set<LinkPair>] {
    var links: [UInt32: Set<LinkPair>] = [:]
    let file = try SalvagedFile(path: path)
    var holding: [EntityNumber: (description: EntityDescription, holds: Holds)] = [:]
    for entity in file.entities {
      let mine = relationships.filter { $0.from.entity == entity.number }
      if !mine.isEmpty { holding[entity.number] = (entity, Holds(entity, mine)) }
    }
    func look(_ number: EntityNumber, _ id: UInt64, _ bytes: UnsafeRawBufferPointer) throws {
      guard let entity = holding[number], ids[number]?.contains(id) == true else { return }
      for (relationship, target) in try entity.holds.targets(bytes, entity.description)
      where ids[relationship.to.entity]?.contains(target) == true {
        links[relationship.number, default: []].insert(LinkPair(from: id, to: target))
      }
    }
    for entity in file.entities where holding[entity.number] != nil {
      _ = try file.forEachRecord(of: entity) { id, bytes in try look(entity.number, id, bytes) }
    }
    try forEachOrphan(of: first) { entity, id, bytes in try look(entity, id, bytes) }
    return links
  }
}

/// Which record is meant.
private struct RecordName: Hashable, Comparable {
  var entity: EntityNumber
  var id: UInt64

  static func < (left: RecordName, right: RecordName) -> Bool {
    (left.entity, left.id) < (right.entity, right.id)
  }
}

/// The attributes of an entity that hold ids of records by a relationship.
struct Holds {
  private let relationships: [UInt32: RelationshipDescription]
  let hasRequired: Bool
  /// Attributes that records written now must have, whatever their own layout says.
  private let required: Set<UInt32>
  /// What attributes lead to in records that were written before these were added.
  private let initial: [UInt32: UInt64]

  init(_ entity: EntityDescription, _ relationships: [RelationshipDescription]) {
    var held: [UInt32: RelationshipDescription] = [:]
    for relationship in relationships where relationship.from.entity == entity.number {
      if let attribute = relationship.attribute { held[attribute] = relationship }
    }
    self.relationships = held
    initial = held.keys.reduce(into: [:]) {
      $0[$1] = entity.attribute(number: $1)?.initial.recordID
    }
    let required = Set(held.keys.filter { entity.attribute(number: $0)?.isOptional == false })
    self.required = required
    hasRequired =
      !required.isEmpty
      || entity.layouts.contains { layout in
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

  /// What a record leads to, or only what it must lead to.
  func targets(
    _ bytes: UnsafeRawBufferPointer, _ entity: EntityDescription, isRequired: Bool = false
  ) throws -> [(RelationshipDescription, UInt64)] {
    guard !relationships.isEmpty, let (layout, values) = try values(bytes, entity) else {
      return []
    }
    let held = zip(layout.attributes, values).compactMap {
      attribute, value -> (RelationshipDescription, UInt64)? in
      guard let relationship = relationships[attribute.number], let id = value.recordID,
        !isRequired || !attribute.isOptional || required.contains(attribute.number)
      else { return nil }
      return (relationship, id)
    }
    let initial = initialTargets(layout).filter { !isRequired || required.contains($0.attribute) }
    return held + initial.map { ($0.relationship, $0.target) }
  }

  /// What records of a layout lead to by the initial values of attributes that it does not have.
  private func initialTargets(
    _ layout: RecordLayout
  ) -> [(attribute: UInt32, relationship: RelationshipDescription, target: UInt64)] {
    initial.compactMap { number, target in
      guard layout.slotIndex(ofAttribute: number) == nil, let relationship = relationships[number]
      else { return nil }
      return (number, relationship, target)
    }
  }

  /// The record with null for each id of a record that is lost; and how many these were.
  func emptied(
    _ bytes: UnsafeRawBufferPointer, _ id: UInt64, _ entity: EntityDescription,
    _ isThere: (EntityNumber, UInt64) -> Bool
  ) throws -> ([UInt8], Int) {
    guard !relationships.isEmpty, case (var layout, var values)? = try values(bytes, entity) else {
      return (Array(bytes), 0)
    }
    if initialTargets(layout).contains(where: { !isThere($0.relationship.to.entity, $0.target) }) {
      // The initial value leads to a lost record: then the record has one of its own, which can be null.
      let old = layout
      layout = entity.layout
      values = layout.attributes.map { attribute in
        old.slotIndex(ofAttribute: attribute.number).map { values[$0] }
          ?? entity.attribute(number: attribute.number)?.initial ?? .null
      }
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
