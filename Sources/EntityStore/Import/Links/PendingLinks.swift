internal import LodestoreFormat

/// Resolving of pending links at the end of an import.
extension ImportEngine {
  /// Looks up the keys of pending links again, and reports the keys that still have no record.
  ///
  /// When a unique index or a rule refuses a link, only the link is rejected: its record stays as
  /// its page wrote it.
  func resolvePending(_ state: inout ImportState, _ core: WriteCore) throws(StoreError) {
    let pending = state.pendingLinks ?? []
    state.pendingLinks = nil
    guard !pending.isEmpty else { return }
    let entity = try self.entity(core)
    state.report.links = state.report.linkCounts
    for (position, link) in self.links.enumerated() {
      let mine = pending.filter { $0.link == position }
      guard !mine.isEmpty else { continue }
      let resolver = try LinkResolver(link, of: entity, core)
      let keys = mine.map { PendingLink.value(of: $0.key) }
      let ids = try resolver.ids(of: keys)
      var placed: [UInt64: PlacedLinks] = [:]
      for ((one, key), id) in zip(zip(mine, keys), ids) {
        if id == 0 {
          placed[one.id, default: PlacedLinks()].pass(one)
          report(one, key, in: &state.report)
          continue
        }
        do throws(StoreError) {
          if try add(one, id, by: resolver.end, entity, core) {
            state.report.linkCounts.added += 1
            placed[one.id, default: PlacedLinks()].add(one, id)
          }
        } catch  where error.refusesValue {
          placed[one.id, default: PlacedLinks()].pass(one)
          state.report.reject(
            .init(
              page: one.page, record: one.record, byteOffset: nil, attribute: link.name,
              reason: "the record was stored without its '\(link.member)': \(error.message)"))
        }
      }
      guard resolver.end.order != nil else { continue }
      for (id, links) in placed.sorted(by: { $0.key < $1.key }) where !links.isEmpty {
        let order = try core.orderedIDs(of: id, by: resolver.end)
        try core.arrange(links.arranged(order), of: id, by: resolver.end)
      }
    }
  }

  /// Links the record of a pending link with `target`; returns false when it already was linked or
  /// no longer exists.
  private func add(
    _ one: PendingLink, _ target: UInt64, by end: RelationshipEnd, _ entity: StoredEntity,
    _ core: WriteCore
  ) throws(StoreError) -> Bool {
    guard try core.record(one.id, of: entity) != nil else { return false }
    if let attribute = end.attribute {
      return try core.set(attribute.number, of: one.id, to: target, in: entity)
    }
    if let attribute = end.opposite.attribute {
      return try core.set(attribute.number, of: target, to: one.id, in: end.target)
    }
    var list = LinkList(expectedCount: 1)
    list.append(one.id, target)
    return try core.link(list, by: end) > 0
  }
}

/// The resolved links of one record, with the positions of their keys among all keys of its member.
private struct PlacedLinks {
  private var made: [(place: Int, target: UInt64)] = []
  /// The positions, among all keys of the member, of the keys that led to no link.
  ///
  /// Either no record has the key, or the link was refused.
  private var passed: Set<Int> = []

  mutating func add(_ one: PendingLink, _ target: UInt64) {
    if let place = one.place { made.append((place, target)) }
  }

  mutating func pass(_ one: PendingLink) {
    if let place = one.place { passed.insert(place) }
  }

  var isEmpty: Bool { made.isEmpty }

  /// Returns `order` with the target of each resolved link moved to the position of its key.
  ///
  /// In `order`, the resolved links come after the others.
  func arranged(_ order: [UInt64]) -> [UInt64] {
    let targets = Set(made.map(\.target))
    var result = order.filter { !targets.contains($0) }
    for (place, target) in made.sorted(by: { $0.place < $1.place }) {
      let missing = passed.count { $0 < place }
      result.insert(target, at: min(max(place - missing, 0), result.count))
    }
    return result
  }
}

extension WriteCore {
  /// Sets an attribute of a stored record to an id or to null; returns whether the record changed.
  ///
  /// - Throws: the errors of an update of one record; nothing was written then.
  func set(
    _ attribute: UInt32, of id: UInt64, to target: UInt64?, in entity: StoredEntity
  ) throws(StoreError) -> Bool {
    let changes = changes(of: entity)
    guard let place = entity.layout.slotIndex(ofAttribute: attribute),
      var values = try changes.values(of: id)
    else { return false }
    values[place] = target.map { .integer(Int64(bitPattern: $0)) } ?? .null
    return try changes.update(id, to: try changes.encode(values))
  }
}
