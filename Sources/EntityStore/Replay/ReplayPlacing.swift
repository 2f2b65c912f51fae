internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Collects the links that writes have added or moved in ordered relationships, and reads their
/// places.
struct ReplayPlacing {
  /// The links of each relationship, seen from its side `from`.
  private var links: [UInt32: Set<LinkPair>] = [:]
  /// The relationships whose links all count as changed.
  private var replaced: Set<UInt32> = []
  /// For each entity, the relationships whose links are in its records, and have an order.
  private var ends: [EntityNumber: [RelationshipEnd]] = [:]

  /// Whether a change of records may change ordered links that the records hold.
  mutating func concerns(
    _ change: HistoryPart.Change, _ entity: StoredEntity, _ core: TransactionCore
  ) -> Bool {
    let holders = holders(entity, core)
    switch change.kind {
    case .inserted: return !holders.isEmpty
    case .updated(let attributes):
      return holders.contains { end in
        end.attribute.map { attributes.contains($0.number) } ?? false
      }
    case .deleted, .restarted: return false
    }
  }

  /// Whether records of the entity hold ordered links.
  mutating func concerns(_ entity: StoredEntity, _ core: TransactionCore) -> Bool {
    !holders(entity, core).isEmpty
  }

  private mutating func holders(
    _ entity: StoredEntity, _ core: TransactionCore
  ) -> [RelationshipEnd] {
    if let known = ends[entity.number] { return known }
    let found = core.schema.ends(of: entity).filter {
      $0.attribute != nil && $0.opposite.order != nil
    }
    ends[entity.number] = found
    return found
  }

  /// Notes the ordered links that a record holds.
  mutating func note(
    _ id: UInt64, _ record: ByteView, _ entity: StoredEntity, _ core: TransactionCore
  ) throws {
    let view = try entity.view(record, id: id)
    for end in holders(entity, core) {
      guard let attribute = end.attribute,
        let owner = try entity.recordID(ofAttribute: attribute.number, in: view)
      else { continue }
      links[end.relationship.description.number, default: []].insert(
        LinkPair(from: id, to: owner))
    }
  }

  /// Notes links that the history tells.
  mutating func note(_ group: HistoryPart.Links) {
    if group.kind == .removed { return }
    links[group.relationship, default: []].formUnion(group.pairs)
  }

  mutating func replace(_ relationship: StoredRelationship) {
    replaced.insert(relationship.description.number)
  }

  // MARK: Places

  /// The present places of the links.
  func places(_ scope: ReplayScope, _ core: TransactionCore) throws -> [ReplayPlaces] {
    var all: [ReplayPlaces] = []
    for relationship in scope.relationships {
      let number = relationship.description.number
      let isReplaced = replaced.contains(number)
      guard isReplaced || links[number] != nil else { continue }
      for side in RelationshipSide.allCases {
        guard let order = try LinkOrder(relationship.end(side), core: core) else { continue }
        let places =
          isReplaced ? try order.allPlaces() : try order.places(of: links[number] ?? [], side)
        if places.isEmpty { continue }
        all.append(
          ReplayPlaces(
            relationship: number, side: side,
            holder: relationship.linksFrom == nil ? relationship.from.number : nil,
            places: places))
      }
    }
    return all
  }
}

extension LinkOrder {
  fileprivate func places(
    of links: Set<LinkPair>, _ side: RelationshipSide
  ) throws(StoreError) -> [ReplayPlace] {
    var found: [(place: ReplayPlace, position: UInt64)] = []
    for link in links {
      let (owner, other) = side == .from ? (link.from, link.to) : (link.to, link.from)
      guard let position = try position(of: other, in: owner) else { continue }
      let previous = try last(of: owner, before: position)?.other ?? 0
      found.append((ReplayPlace(owner: owner, other: other, previous: previous), position))
    }
    found.sort { ($0.place.owner, $0.position) < ($1.place.owner, $1.position) }
    return found.map(\.place)
  }

  fileprivate func allPlaces() throws(StoreError) -> [ReplayPlace] {
    var places: [ReplayPlace] = []
    var first: UInt64 = 0
    while let owner = try owner(from: first) {
      var previous: UInt64 = 0
      for other in try ids(of: owner) {
        places.append(ReplayPlace(owner: owner, other: other, previous: previous))
        previous = other
      }
      first = owner + 1
    }
    return places
  }
}

extension TransactionCore {
  /// The links of a relationship that has link trees, in ascending order.
  func links(of relationship: StoredRelationship) throws -> [LinkPair] {
    guard let tree = relationship.linksFrom else { return [] }
    var ids: [UInt64] = []
    try LinkCursor(tree, core: self).forEachSource { (id, _) in ids.append(id) }
    var pairs: [LinkPair] = []
    let cursor = try LinkCursor(tree, core: self)
    for id in ids {
      try cursor.forEach(of: id) { other in
        pairs.append(LinkPair(from: id, to: other))
        return true
      }
    }
    return pairs
  }
}
