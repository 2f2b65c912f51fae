internal import LMDB
internal import LodestoreFormat

/// Maintains the derived attributes that depend on related records.
///
/// The sink collects differences, grouped by the records that have such attributes, and writes
/// these records before the commit. Attributes derived from stored attributes come first, then
/// those derived from the first, and so on.
///
/// See Format.md, "Derived attributes".
final class DerivedAttributes: ChangeSink {
  let name = "derived attributes"
  private unowned(unsafe) let core: WriteCore
  private let all: [DerivedTotals]
  /// The attributes by ascending rank; each is derived only from attributes of lower ranks.
  private let ranks: [[DerivedTotals]]
  /// For each entity, the attributes derived from its records through an attribute that holds the
  /// link.
  private var held: [EntityNumber: [DerivedTotals]] = [:]
  /// For each entity, the attributes derived from its records through link trees.
  private var linked: [EntityNumber: [DerivedTotals]] = [:]
  /// For each entity, its attributes that copy a value of another record.
  private var copies: [EntityNumber: [DerivedTotals]] = [:]
  /// For each entity, the attributes of any entity that copy values of its records.
  private var copied: [EntityNumber: [DerivedTotals]] = [:]
  private var readers: [ObjectIdentifier: RelatedReader] = [:]
  /// For each derivation, the cursor over the links from related records back to the records that
  /// have the derived attribute.
  private var owners: [ObjectIdentifier: LinkCursor] = [:]

  /// Returns `nil` when no attribute is derived from related records.
  init?(_ schema: StoredSchema, core: WriteCore) {
    guard !schema.derived.isEmpty else { return nil }
    self.core = core
    all = schema.derived.map(DerivedTotals.init)
    ranks = Dictionary(grouping: all, by: \.derivation.rank).sorted { $0.key < $1.key }.map(\.value)
    for totals in all {
      let end = totals.derivation.end
      if totals.derivation.kind == .copy {
        copies[end.source.number, default: []].append(totals)
        copied[end.target.number, default: []].append(totals)
      } else if totals.derivation.holder != nil {
        held[end.target.number, default: []].append(totals)
      } else {
        linked[end.target.number, default: []].append(totals)
      }
    }
  }

  func interest(in entity: StoredEntity) -> ChangeInterest? {
    let number = entity.number
    if held[number] != nil || copies[number] != nil { return [.oldRecord, .newRecord] }
    // Links in link trees are removed before their record, and reported separately. The bytes of a
    // related record are therefore needed only for derivations that read its values.
    let isRead = linked[number]?.contains { $0.derivation.readsRecords } ?? false
    return isRead || copied[number] != nil ? [.oldRecord, .newRecord] : nil
  }

  func isConcerned(byUpdateOf attributes: Set<UInt32>, of entity: StoredEntity) -> Bool {
    func isSource(_ totals: DerivedTotals) -> Bool {
      totals.derivation.isConcerned(byUpdateOf: attributes)
    }
    let number = entity.number
    return held[number]?.contains {
      isSource($0) || $0.derivation.holder.map(attributes.contains) ?? false
    } ?? false
      || linked[number]?.contains(where: isSource) ?? false
      || copied[number]?.contains(where: isSource) ?? false
      || copies[number]?.contains {
        $0.derivation.end.attribute.map { attributes.contains($0.number) } ?? false
      } ?? false
  }

  // MARK: Changes

  func record(_ change: RecordChange, of entity: StoredEntity) throws(StoreError) {
    guard let (id, old, new) = change.both else { return }
    do {
      try note(id, old, new, entity)
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  private func note(
    _ id: UInt64, _ old: RecordView?, _ new: RecordView?, _ entity: StoredEntity
  ) throws {
    for totals in held[entity.number] ?? [] {
      try noteChange(totals, of: id, in: entity, from: old, to: new)
    }
    for totals in copies[entity.number] ?? [] {
      guard let new, let attribute = totals.derivation.end.attribute else { continue }
      let target = try entity.recordID(ofAttribute: attribute.number, in: new)
      if try entity.recordID(ofAttribute: attribute.number, in: old) != target {
        totals.forget(id)
      }
    }
    guard let old, let new else { return }
    for totals in (linked[entity.number] ?? []) where totals.derivation.readsRecords {
      let before = try contribution(to: totals, of: id, old)
      let after = try contribution(to: totals, of: id, new)
      if Self.areSame(before, after) { continue }
      try forEachOwner(of: id, totals) { owner in
        if let before { try totals.remove(before, from: owner) }
        if let after { try totals.add(after, to: owner) }
      }
    }
    for totals in (copied[entity.number] ?? []) {
      let before = try contribution(to: totals, of: id, old)
      if Self.areSame(before, try contribution(to: totals, of: id, new)) { continue }
      try forEachOwner(of: id, totals) { owner in totals.forget(owner) }
    }
  }

  private func noteChange(
    _ totals: DerivedTotals, of id: UInt64, in entity: StoredEntity, from old: RecordView?,
    to new: RecordView?
  ) throws {
    guard let holder = totals.derivation.holder else { return }
    let before = try entity.recordID(ofAttribute: holder, in: old)
    let after = try entity.recordID(ofAttribute: holder, in: new)
    let isMoved = before != after
    if !isMoved, !totals.derivation.readsRecords, old != nil, new != nil { return }
    let removed = before == nil ? nil : try contribution(to: totals, of: id, old)
    let added = after == nil ? nil : try contribution(to: totals, of: id, new)
    if !isMoved, Self.areSame(removed, added) { return }
    if let before, let removed { try totals.remove(removed, from: before) }
    if let after, let added { try totals.add(added, to: after) }
  }

  /// The value that a related record contributes; null when records are only counted.
  ///
  /// Returns `nil` when there is no record, or when a condition excludes it.
  private func contribution(
    to totals: DerivedTotals, of id: UInt64, _ view: RecordView?
  ) throws -> Value? {
    guard let view else { return nil }
    guard totals.derivation.readsRecords else { return .null }
    return try reader(of: totals).contribution(of: view, id: id)
  }

  private static func areSame(_ a: Value?, _ b: Value?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    return a.hasSameBytes(as: b)
  }

  /// Calls `body` with each record that is linked with record `id`.
  private func forEachOwner(
    of id: UInt64, _ totals: DerivedTotals, _ body: (UInt64) throws -> Void
  ) throws {
    guard let links = totals.derivation.end.opposite.links else { return }
    let cursor: LinkCursor
    if let known = owners[ObjectIdentifier(totals)] {
      cursor = known
    } else {
      cursor = try LinkCursor(links, core: core)
      owners[ObjectIdentifier(totals)] = cursor
    }
    try cursor.forEach(of: id) { owner in
      try body(owner)
      return true
    }
  }

  func record(_ change: borrowing LinkChange) throws(StoreError) {
    let concerned = all.filter { $0.derivation.end.relationship === change.end.relationship }
    do {
      for side in RelationshipSide.allCases {
        let totals = concerned.filter { $0.derivation.end.side == side }
        if totals.isEmpty { continue }
        // In one direction, the links are grouped by the records with the derived attributes. When
        // related records must be read, the links are sorted by the related records, so that each
        // of these is read once.
        let isForward = side == change.end.side
        let readsRecords = totals.contains { $0.derivation.readsRecords }
        if isForward, readsRecords, change.links.count > 1 {
          try note(change.links.swapped(), ownersFirst: false, isAdded: change.isAdded, totals)
        } else {
          try note(change.links, ownersFirst: isForward, isAdded: change.isAdded, totals)
        }
      }
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// - Parameter ownersFirst: whether the first ids of `links` are the records with the derived
  ///   attributes.
  private func note(
    _ links: borrowing LinkList, ownersFirst: Bool, isAdded: Bool, _ concerned: [DerivedTotals]
  ) throws {
    for totals in concerned {
      let reader = totals.derivation.readsRecords ? try reader(of: totals) : nil
      var last: UInt64?
      var contribution: Value? = .null
      for index in 0..<links.count {
        let owner = ownersFirst ? links.id(at: index) : links.other(at: index)
        if let reader {
          let other = ownersFirst ? links.other(at: index) : links.id(at: index)
          if other != last { contribution = try reader.contribution(of: other) }
          last = other
        }
        guard let value = contribution else { continue }
        if isAdded {
          try totals.add(value, to: owner)
        } else {
          try totals.remove(value, from: owner)
        }
      }
    }
  }

  private func reader(of totals: DerivedTotals) throws(StoreError) -> RelatedReader {
    if let known = readers[ObjectIdentifier(totals)] { return known }
    let made = try RelatedReader(totals.derivation, core: core)
    readers[ObjectIdentifier(totals)] = made
    return made
  }

  // MARK: Writing

  func flush(_ core: WriteCore) throws(StoreError) {
    for rank in ranks {
      let waiting = rank.filter { !$0.isEmpty }
      for (_, totals) in Dictionary(grouping: waiting, by: \.derivation.owner.number)
        .sorted(by: { $0.key < $1.key })
      {
        try write(totals, of: totals[0].derivation.owner)
      }
    }
  }

  private func write(_ totals: [DerivedTotals], of entity: StoredEntity) throws(StoreError) {
    let differences = totals.map { $0.take() }
    var ids: [UInt64] = []
    for each in differences { ids.append(contentsOf: each.ids) }
    IDSort.sortUnique(&ids)
    let readers = try totals.map { (totals) throws(StoreError) in try reader(of: totals) }
    try core.asConsequence(in: entity) { () throws(StoreError) in
      try core.rewriteDerived(ids, of: entity, Set(totals.map(\.derivation.number))) {
        (id, values) throws in
        for (index, each) in totals.enumerated() {
          let position = each.derivation.position
          if let value = try each.value(of: id, from: values[position], by: differences[index]) {
            values[position] = value
          } else {
            values[position] = try readers[index].derive(id)
            each.drop(id)
          }
        }
      }
    }
  }
}
