internal import LMDB
internal import LodestoreFormat

extension ImportEngine {
  /// One record of the pages, with the keys that a member of it has.
  private struct Linked {
    var row: Int
    var page: Int
    var record: Int
    var keys: [Value]
  }

  private func linked(
    _ position: Int, _ pages: ArraySlice<DecodedPage>, _ ends: [Int]
  ) -> [Linked] {
    var found: [Linked] = []
    for (number, page) in pages.enumerated() {
      guard let keys = page.links.first(where: { $0.link == position }) else { continue }
      let start = number == 0 ? 0 : ends[number - 1]
      var rows: [Int: Int] = [:]
      for (offset, origin) in page.origins.enumerated() { rows[origin.record] = start + offset }
      for one in keys.records {
        guard let row = rows[one.record] else { continue }
        found.append(Linked(row: row, page: page.number, record: one.record, keys: one.keys))
      }
    }
    return found
  }

  /// Writes the ids of records that are led to into incoming ones, before these are compared with what is
  /// stored.
  ///
  /// Where the record is not there yet it is null, and looked up again later.
  func resolveBefore(
    _ pages: ArraySlice<DecodedPage>, _ ends: [Int], _ batch: inout IncomingRecords,
    _ entity: StoredEntity, _ core: TransactionCore, _ report: inout ImportReport
  ) throws(StoreError) {
    guard !rule.takesParts else { return }
    for (position, link) in links.enumerated() where link.isToOne {
      let records = linked(position, pages, ends)
      guard !records.isEmpty else { continue }
      let resolver = try LinkResolver(link, of: entity, core)
      guard let number = resolver.end.attribute?.number,
        let slot = entity.layout.slotIndex(ofAttribute: number).map({ entity.layout.slots[$0] })
      else { continue }
      var made = 0
      let ids = try resolver.ids(of: records.map { $0.keys.first ?? .null }, made: &made)
      count(made: made, in: &report)
      for (one, id) in zip(records, ids) { try batch.setID(id, in: slot, at: one.row) }
    }
  }

  /// Counts the links that ``resolveBefore(_:_:_:_:_:_:)`` gives to records; `nil` where it gives none.
  func linkTally(of entity: StoredEntity, _ core: TransactionCore) -> LinkTally? {
    guard !rule.takesParts else { return nil }
    let attributes = links.filter(\.isToOne).compactMap { link in
      core.schema.end(named: link.name, of: entity)?.attribute?.number
    }
    return attributes.isEmpty ? nil : LinkTally(attributes, of: entity)
  }

  /// Writes the links of records that have been written, and collects what is to be remembered of
  /// them.
  func resolveAfter(
    _ pages: ArraySlice<DecodedPage>, _ ends: [Int], _ outcomes: [BatchMerge.Outcome],
    _ entity: StoredEntity, _ core: TransactionCore, _ state: inout ImportState,
    _ remembered: inout RememberedLinks.ByPage
  ) throws(StoreError) {
    for (position, link) in links.enumerated() {
      let records = last(
        linked(position, pages, ends).compactMap { one -> (Linked, UInt64)? in
          switch outcomes[one.row] {
          case .inserted(let id), .updated(let id), .unchanged(let id): (one, id)
          case .ignored, .rejected: nil
          }
        })
      guard !records.isEmpty else { continue }
      // What an earlier part said of these records is no longer so.
      let said = Set(records.map(\.1))
      state.pendingLinks?.removeAll { $0.link == position && said.contains($0.id) }
      let resolver = try LinkResolver(link, of: entity, core)
      let keys = records.flatMap(\.0.keys)
      var made = 0
      let ids = try resolver.ids(of: keys, made: &made)
      count(made: made, in: &state.report)
      var list = LinkList(expectedCount: keys.count)
      var wanted: [UInt64: Set<UInt64>] = [:]
      var next = 0
      for (one, id) in records {
        wanted[id] = []
        for key in one.keys {
          let target = ids[next]
          next += 1
          if target > 0 {
            wanted[id, default: []].insert(target)
            list.append(id, target)
            // An attribute that no longer leads there has changed its record, which is seen anyway.
            if !link.isToOne { remembered.add(id, target, link: position, page: one.page) }
          } else {
            let document = EntityDescription.document(of: key).encoded()
            note(
              PendingLink(
                link: position, id: id, page: one.page, record: one.record, key: document),
              in: &state)
            remembered.add(id, key: document, link: position, page: one.page)
          }
        }
      }
      if link.isToOne {
        // One that leads nowhere is looked up again; without a key the record says null itself, if it
        // says all.
        let unresolved = Set(records.filter { !$0.0.keys.isEmpty }.map(\.1))
        wanted = wanted.filter { id, targets in
          !targets.isEmpty || rule.takesParts && !unresolved.contains(id)
        }
        try hold(wanted, by: resolver.end, entity, core, &state.report)
        continue
      }
      try replace(list, wanted, by: resolver.end, core, &state.report)
    }
  }

  /// Of what is said of one record in several places the last.
  private func last(_ records: [(Linked, UInt64)]) -> [(Linked, UInt64)] {
    var places: [UInt64: Int] = [:]
    for (index, record) in records.enumerated() { places[record.1] = index }
    if places.count == records.count { return records }
    return records.enumerated().filter { places[$0.element.1] == $0.offset }.map(\.element)
  }

  /// Looks up once more what led to no record; what still does not is reported.
  func resolvePending(
    _ state: inout ImportState, _ core: TransactionCore
  ) throws(StoreError) {
    let pending = state.pendingLinks ?? []
    state.pendingLinks = nil
    guard !pending.isEmpty else { return }
    let entity = try self.entity(core)
    for (position, link) in links.enumerated() {
      let mine = pending.filter { $0.link == position }
      guard !mine.isEmpty else { continue }
      let resolver = try LinkResolver(link, of: entity, core)
      let keys = mine.map { PendingLink.value(of: $0.key) }
      var made = 0
      let ids = try resolver.ids(of: keys, made: &made)
      var list = LinkList(expectedCount: mine.count)
      var held: [UInt64: Set<UInt64>] = [:]
      for (position, one) in mine.enumerated() {
        if ids[position] == 0 {
          report(one, keys[position], in: &state.report)
        } else if try core.record(one.id, of: entity) != nil {
          list.append(one.id, ids[position])
          held[one.id] = [ids[position]]
        }
      }
      if link.isToOne {
        try hold(held, by: resolver.end, entity, core, &state.report)
      } else {
        let added = try core.link(list, by: resolver.end)
        var links = state.report.links ?? .init()
        links.added += added
        state.report.links = links
      }
    }
  }

  // MARK: Writing

  private func replace(
    _ list: consuming LinkList, _ wanted: [UInt64: Set<UInt64>], by end: RelationshipEnd,
    _ core: TransactionCore, _ report: inout ImportReport
  ) throws(StoreError) {
    var gone = LinkList()
    for id in wanted.keys.sorted() {
      for other in try core.relatedIDs(of: id, by: end)
      where wanted[id]?.contains(other) == false {
        gone.append(id, other)
      }
    }
    var orders: [UInt64: [UInt64]] = [:]
    if end.order != nil {
      for index in 0..<list.count {
        orders[list.id(at: index), default: []].append(list.other(at: index))
      }
    }
    var links = report.links ?? .init()
    links.removed += try core.unlink(gone, by: end)
    links.added += try core.link(list, by: end)
    report.links = links
    for (id, others) in orders.sorted(by: { $0.key < $1.key }) {
      try core.arrange(others, of: id, by: end)
    }
  }

  /// Has the attribute of records lead to others.
  private func hold(
    _ wanted: [UInt64: Set<UInt64>], by end: RelationshipEnd, _ entity: StoredEntity,
    _ core: TransactionCore, _ report: inout ImportReport
  ) throws(StoreError) {
    guard let attribute = end.attribute else { return }
    var byTarget: [UInt64: [UInt64]] = [:]
    for (id, targets) in wanted { byTarget[targets.first ?? 0, default: []].append(id) }
    var links = report.links ?? .init()
    for (target, ids) in byTarget.sorted(by: { $0.key < $1.key }) {
      let value: Value = target == 0 ? .null : .integer(Int64(bitPattern: target))
      let batch = try core.batchUpdate(
        of: entity, [(name: attribute.name, operand: .value(.null), constant: value)], [:])
      try batch.update(ids.sorted())
      if target == 0 {
        links.removed += batch.updatedCount
      } else {
        links.added += batch.updatedCount
      }
    }
    report.links = links
  }

  // MARK: Reporting

  func count(_ change: LinkTally.Change, in report: inout ImportReport) {
    guard change.added > 0 || change.removed > 0 else { return }
    var links = report.links ?? .init()
    links.added += change.added
    links.removed += change.removed
    report.links = links
  }

  private func count(made: Int, in report: inout ImportReport) {
    guard made > 0 else { return }
    var links = report.links ?? .init()
    links.made += made
    report.links = links
  }

  private func note(_ pending: PendingLink, in state: inout ImportState) {
    if (state.pendingLinks?.count ?? 0) < PendingLink.most {
      state.pendingLinks = (state.pendingLinks ?? []) + [pending]
    } else {
      report(pending, PendingLink.value(of: pending.key), in: &state.report)
    }
  }

  private func report(_ pending: PendingLink, _ key: Value, in report: inout ImportReport) {
    var links = report.links ?? .init()
    links.note(
      .init(
        page: pending.page, record: pending.record, member: self.links[pending.link].member,
        key: KeyText.text(of: key)))
    report.links = links
  }
}
