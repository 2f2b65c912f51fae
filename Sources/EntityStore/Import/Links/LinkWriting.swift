internal import LMDB
internal import LodestoreFormat

/// A page whose records are merged, and whose links are not complete yet.
struct MergedLinks {
  let page: DecodedPage
  /// The links that attributes of the page's records hold.
  let found: PageLinks
  let merge: BatchMerge
  let outcomes: [BatchMerge.Outcome]
}

/// Writing of a page's links after its records.
extension ImportEngine {
  /// Notes the unresolved links of attributes, and writes the links that the page's records do not
  /// hold in their own attributes.
  func finish(
    _ merged: MergedLinks, in destination: ImportDestination, state: inout ImportState,
    remembered: inout RememberedLinks.ByPage
  ) throws {
    let core = destination.core
    for (position, link) in links.enumerated() {
      let records = linked(position, merged.page).compactMap { one -> (LinkedRow, UInt64)? in
        switch merged.outcomes[one.row] {
        case .inserted(let id), .updated(let id), .unchanged(let id): (one, id)
        case .ignored, .rejected: nil
        }
      }
      guard !records.isEmpty else { continue }
      let resolver = try LinkResolver(link, of: destination.entity, core)
      if link.isToOne {
        for (one, id) in records {
          try noteOpen(
            one, ofRecord: id, link: position, on: resolver.end, merged: merged, core: core,
            state: &state, remembered: &remembered)
        }
      } else {
        try write(
          last(records), link: position, by: resolver, page: merged.page.number, core: core,
          state: &state, remembered: &remembered)
      }
    }
  }

  /// Adds a record's unresolved link to the pending links, or removes a pending link that the page
  /// replaces.
  private func noteOpen(
    _ one: LinkedRow, ofRecord id: UInt64, link position: Int, on end: RelationshipEnd,
    merged: MergedLinks, core: WriteCore, state: inout ImportState,
    remembered: inout RememberedLinks.ByPage
  ) throws(StoreError) {
    let page = merged.page.number
    let open = merged.found.unresolved[one.row]?.first { $0.link == position }
    let isTaken = open.map { merged.merge.untaken[one.row]?.contains($0.place) != true } ?? true
    let isPending = state.pendingLinks?.contains { $0.link == position && $0.id == id } ?? false
    if isPending, isTaken {
      let isSaid = if open != nil { true } else { try hasDeclaredLink(one, id, end, core) }
      // An earlier page gave the record another key for this link. The present page replaces it, so
      // the pending link is removed.
      if isSaid { state.pendingLinks?.removeAll { $0.link == position && $0.id == id } }
    }
    guard let open, let number = end.attribute?.number else { return }
    let document = EntityDescription.document(of: open.key).encoded()
    let pending = PendingLink(
      link: position, id: id, page: page, record: one.record, key: document)
    if isTaken {
      note(pending, in: &state)
    } else if rule.keeps(number) {
      // The policy forbids changing the link, whatever its target. So the key is reported now, and
      // not looked up again.
      report(pending, open.key, in: &state.report)
    } else {
      return
    }
    remembered.add(id, key: document, link: position, page: page)
  }

  /// Returns whether the record has the link that the page contains; the merge rule may have kept
  /// another.
  private func hasDeclaredLink(
    _ one: LinkedRow, _ id: UInt64, _ end: RelationshipEnd, _ core: WriteCore
  ) throws(StoreError) -> Bool {
    guard let attribute = end.attribute?.number, let bytes = try core.record(id, of: end.source)
    else { return false }
    let target = try end.source.recordID(
      ofAttribute: attribute, in: try end.source.view(bytes, id: id))
    return one.keys.isEmpty ? target == nil : target != nil
  }

  /// Returns the rows, but of several rows of one record only the last.
  private func last(_ records: [(LinkedRow, UInt64)]) -> [(LinkedRow, UInt64)] {
    var places: [UInt64: Int] = [:]
    for (index, record) in records.enumerated() { places[record.1] = index }
    if places.count == records.count { return records }
    return records.enumerated().filter { places[$0.element.1] == $0.offset }.map(\.element)
  }

  /// Writes the to-many links of records.
  private func write(
    _ records: [(LinkedRow, UInt64)], link position: Int, by resolver: LinkResolver, page: Int,
    core: WriteCore, state: inout ImportState, remembered: inout RememberedLinks.ByPage
  ) throws {
    // Earlier pages gave these records other keys for the link. The present page replaces them, so
    // the pending links are removed.
    let recordIDs = Set(records.map(\.1))
    state.pendingLinks?.removeAll { $0.link == position && recordIDs.contains($0.id) }
    let keys = records.flatMap(\.0.keys)
    var made: [UInt64] = []
    let ids = try resolver.ids(of: keys, made: &made, core)
    try noteMade(made, by: resolver.link, resolver.end.source, in: &state)
    var list = LinkList(expectedCount: keys.count)
    var wanted: [UInt64: Set<UInt64>] = [:]
    var orders: [UInt64: [UInt64]] = [:]
    var next = 0
    for (one, id) in records {
      wanted[id] = []
      var places: [Value: Int] = [:]
      for key in one.keys {
        let target = ids[next]
        next += 1
        let place = places[key] ?? places.count
        places[key] = place
        if target > 0 {
          wanted[id, default: []].insert(target)
          orders[id, default: []].append(target)
          list.append(id, target)
          remembered.add(id, target, link: position, page: page)
        } else {
          let document = EntityDescription.document(of: key).encoded()
          note(
            PendingLink(
              link: position, id: id, page: page, record: one.record, key: document,
              place: resolver.end.order == nil ? nil : place),
            in: &state)
          remembered.add(id, key: document, link: position, page: page)
        }
      }
    }
    if let attribute = resolver.end.opposite.attribute {
      let refused = try hold(wanted, by: attribute, resolver.end, core, &state.report)
      if !refused.isEmpty {
        var refusals = PageRefusals(page: page)
        for (one, id) in records { refusals.refused[one.row] = refused[id] }
        throw refusals
      }
    } else {
      try replace(list, wanted, by: resolver.end, core, &state.report)
    }
    if resolver.end.order != nil { try arrange(orders, by: resolver.end, core) }
  }

  /// Orders the links of each record as the record lists their keys.
  private func arrange(
    _ orders: [UInt64: [UInt64]], by end: RelationshipEnd, _ core: WriteCore
  ) throws(StoreError) {
    for (id, others) in orders.sorted(by: { $0.key < $1.key }) {
      // Another record of the page may have taken over one of the targets, which is left out here.
      var rest = Set(try core.relatedIDs(of: id, by: end))
      try core.arrange(others.filter { rest.remove($0) != nil }, of: id, by: end)
    }
  }

  /// Sets the attribute of the target records, one after the other, to lead to the page's records.
  ///
  /// A unique index or a rule of the target may refuse a link.
  ///
  /// - Parameter wanted: for each record of the page, the records that should lead to it.
  /// - Returns: for each record of the page with a refused link, the error.
  private func hold(
    _ wanted: [UInt64: Set<UInt64>], by attribute: EntityDescription.Attribute,
    _ end: RelationshipEnd, _ core: WriteCore, _ report: inout ImportReport
  ) throws(StoreError) -> [UInt64: StoreError] {
    var refused: [UInt64: StoreError] = [:]
    // For each target, the record to which it will lead, and the record of the page that requests
    // the change.
    var changes: [UInt64: (target: UInt64?, by: UInt64)] = [:]
    for (id, others) in wanted.sorted(by: { $0.key < $1.key }) {
      let present = Set(try core.relatedIDs(of: id, by: end))
      let (gone, new) = (present.subtracting(others), others.subtracting(present))
      for other in gone where changes[other] == nil { changes[other] = (nil, id) }
      for other in new { changes[other] = (id, id) }
      report.linkCounts.removed += gone.count
      report.linkCounts.added += new.count
    }
    for (other, change) in changes.sorted(by: { $0.key < $1.key }) {
      do throws(StoreError) {
        if change.target == nil, !attribute.isOptional { throw .requiredLink(end, other) }
        _ = try core.set(attribute.number, of: other, to: change.target, in: end.target)
      } catch  where error.refusesValue {
        refused[change.by] = error
      }
    }
    return refused
  }

  private func replace(
    _ list: consuming LinkList, _ wanted: [UInt64: Set<UInt64>], by end: RelationshipEnd,
    _ core: WriteCore, _ report: inout ImportReport
  ) throws(StoreError) {
    var gone = LinkList()
    for id in wanted.keys.sorted() {
      for other in try core.relatedIDs(of: id, by: end)
      where wanted[id]?.contains(other) == false {
        gone.append(id, other)
      }
    }
    report.linkCounts.removed += try core.unlink(gone, by: end)
    report.linkCounts.added += try core.link(list, by: end)
  }

  // MARK: Reporting

  func count(_ change: LinkTally.Change, in report: inout ImportReport) {
    guard change.added > 0 || change.removed > 0 else { return }
    report.linkCounts.added += change.added
    report.linkCounts.removed += change.removed
  }

  private func note(_ pending: PendingLink, in state: inout ImportState) {
    if (state.pendingLinks?.count ?? 0) < PendingLink.most {
      state.pendingLinks = (state.pendingLinks ?? []) + [pending]
    } else {
      report(pending, PendingLink.value(of: pending.key), in: &state.report)
    }
  }

  func report(_ pending: PendingLink, _ key: Value, in report: inout ImportReport) {
    report.linkCounts.note(
      .init(
        page: pending.page, record: pending.record, member: self.links[pending.link].member,
        key: KeyText.text(of: key)))
  }
}

extension ImportReport {
  /// The counts in ``links``, or zero counts while ``links`` is `nil`.
  var linkCounts: Links {
    get { links ?? Links() }
    set { links = newValue }
  }
}

extension MergeRule {
  /// Whether the policy forbids changing the attribute of a stored record.
  fileprivate func keeps(_ attribute: UInt32) -> Bool {
    if case .policy(let policies) = self { policies.keeps(attribute) } else { false }
  }
}
