internal import LMDB
internal import LodestoreFormat

/// Keeps the derived attributes that depend on related records.
///
/// It collects differences by the records that have such attributes, and writes these records before the
/// commit: first the attributes derived from given ones, then those derived from the first, and so on.
///
/// See Format.md, "Derived attributes".
final class DerivedAttributes: ChangeSink {
  let name = "derived attributes"
  private unowned(unsafe) let core: TransactionCore
  private let all: [DerivedTotals]
  /// By ascending rank: each is derived from attributes of lower ranks alone.
  private let ranks: [[DerivedTotals]]
  /// By entity, those whose related records it has, held by an attribute of theirs.
  private var held: [EntityNumber: [DerivedTotals]] = [:]
  /// By entity, those whose related records it has, found by links.
  private var linked: [EntityNumber: [DerivedTotals]] = [:]
  /// By entity, the copies that it has.
  private var copies: [EntityNumber: [DerivedTotals]] = [:]
  /// By entity, the copies that are of its records.
  private var copied: [EntityNumber: [DerivedTotals]] = [:]
  private var readers: [ObjectIdentifier: RelatedReader] = [:]
  /// The links from related records back to those with the attributes.
  private var owners: [ObjectIdentifier: LinkCursor] = [:]

  /// `nil` where the schema has no such attributes.
  init?(_ schema: StoredSchema, core: TransactionCore) {
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
    // Of a removed record the links have been removed before.
    let isRead = linked[number]?.contains { $0.derivation.source != nil } ?? false
    return isRead || copied[number] != nil ? [.oldRecord, .newRecord] : nil
  }

  func isConcerned(byUpdateOf attributes: Set<UInt32>, of entity: StoredEntity) -> Bool {
    func isSource(_ totals: DerivedTotals) -> Bool {
      totals.derivation.source.map { attributes.contains($0.number) } ?? false
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
    do {
      switch change {
      case .insertedRecord(let id, let new): try note(id, nil, new, entity)
      case .updated(let id, let old?, let new?, _): try note(id, old, new, entity)
      case .removed(let id, let old?): try note(id, old, nil, entity)
      case .inserted, .updated, .removed, .cleared: break
      }
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  private func note(
    _ id: UInt64, _ old: RecordView?, _ new: RecordView?, _ entity: StoredEntity
  ) throws {
    for totals in held[entity.number] ?? [] { try noteHeld(totals, old, new, entity) }
    for totals in copies[entity.number] ?? [] {
      guard let new, let attribute = totals.derivation.end.attribute else { continue }
      let target = try entity.recordID(ofAttribute: attribute.number, in: new)
      if try entity.recordID(ofAttribute: attribute.number, in: old) != target {
        totals.forget(id)
      }
    }
    guard let old, let new else { return }
    for totals in (linked[entity.number] ?? []) {
      guard let (before, after) = try change(of: totals, old, new, entity) else { continue }
      try forEachOwner(of: id, totals) { owner in
        try totals.remove(before, from: owner)
        try totals.add(after, to: owner)
      }
    }
    for totals in (copied[entity.number] ?? []) {
      guard try change(of: totals, old, new, entity) != nil else { continue }
      try forEachOwner(of: id, totals) { owner in totals.forget(owner) }
    }
  }

  private func noteHeld(
    _ totals: DerivedTotals, _ old: RecordView?, _ new: RecordView?, _ entity: StoredEntity
  ) throws {
    guard let holder = totals.derivation.holder else { return }
    let before = try entity.recordID(ofAttribute: holder, in: old)
    let after = try entity.recordID(ofAttribute: holder, in: new)
    if before == after, let old, let new {
      guard let owner = after, let (old, new) = try change(of: totals, old, new, entity) else {
        return
      }
      try totals.remove(old, from: owner)
      return try totals.add(new, to: owner)
    }
    if let before, let old { try totals.remove(try source(of: totals, old, entity), from: before) }
    if let after, let new { try totals.add(try source(of: totals, new, entity), to: after) }
  }

  private func source(
    _ totals: DerivedTotals, of view: RecordView, _ entity: StoredEntity
  ) throws -> Value {
    try totals.derivation.source.map { try entity.value(of: $0, in: view) } ?? .null
  }

  private func source(
    of totals: DerivedTotals, _ view: RecordView, _ entity: StoredEntity
  ) throws -> Value {
    try source(totals, of: view, entity)
  }

  /// The source's values before and after; `nil` where they are the same.
  private func change(
    of totals: DerivedTotals, _ old: RecordView, _ new: RecordView, _ entity: StoredEntity
  ) throws -> (Value, Value)? {
    guard totals.derivation.source != nil else { return nil }
    let before = try source(of: totals, old, entity)
    let after = try source(of: totals, new, entity)
    return before.hasSameBytes(as: after) ? nil : (before, after)
  }

  /// Calls `body` with each record that leads to record `id`.
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
        // Of links that begin at the records with the attributes, as many follow each other with one owner.
        // Where values are read the other order is better, in which each record is read once.
        let isForward = side == change.end.side
        let readsValues = totals.contains { $0.derivation.source != nil }
        if isForward, readsValues, change.links.count > 1 {
          try note(change.links.swapped(), ownersFirst: false, isAdded: change.isAdded, totals)
        } else {
          try note(change.links, ownersFirst: isForward, isAdded: change.isAdded, totals)
        }
      }
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// - Parameter ownersFirst: whether the first ids of `links` are those of the records with the attributes.
  private func note(
    _ links: borrowing LinkList, ownersFirst: Bool, isAdded: Bool, _ concerned: [DerivedTotals]
  ) throws {
    for totals in concerned {
      let reader = totals.derivation.source == nil ? nil : try reader(of: totals)
      var last: UInt64?
      var value = Value.null
      for index in 0..<links.count {
        let owner = ownersFirst ? links.id(at: index) : links.other(at: index)
        if let reader {
          let other = ownersFirst ? links.other(at: index) : links.id(at: index)
          if other != last { value = try reader.value(of: other) }
          last = other
        }
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

  func settle(_ core: TransactionCore) throws(StoreError) {
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
