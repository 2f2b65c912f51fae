internal import LMDB
internal import LodestoreFormat

/// A relationship in two stores.
struct RelationshipPair: Sendable {
  let older: StoredRelationship?
  let newer: StoredRelationship?

  /// Whether the relationship has link trees.
  var hasLinks: Bool { older?.linksFrom != nil || newer?.linksFrom != nil }

  var label: String {
    guard let one = newer ?? older else { return "" }
    let (from, to) = (one.end(.from), one.end(.to))
    return from.name == nil && to.name != nil ? to.label : from.label
  }

  /// Returns a link difference from the perspective of the side with a name.
  func difference(_ kind: HistoryLinks.Kind, _ from: UInt64, _ to: UInt64) -> LinkDifference? {
    guard let end = (newer ?? older)?.namedEnd else { return nil }
    let isSwapped = end.side == .to
    return LinkDifference(
      entity: end.source.name, relationship: end.name ?? "", target: end.target.name, kind: kind,
      recordID: isSwapped ? to : from, targetID: isSwapped ? from : to)
  }
}

/// The links of one relationship that a read leaves out, because one of their records has expired.
struct ExpiredLinks {
  private let from: ExpiredRecords?
  private let to: ExpiredRecords?

  init(_ relationship: StoredRelationship?, _ core: TransactionCore) throws(StoreError) {
    from = if let relationship { try core.expired(of: relationship.from) } else { nil }
    to = if let relationship { try core.expired(of: relationship.to) } else { nil }
  }

  func contains(_ from: UInt64, _ to: UInt64) -> Bool {
    self.from?.contains(from) ?? false || self.to?.contains(to) ?? false
  }

  /// Returns whether both reads leave out the links of the same records.
  func areAll(of other: ExpiredLinks) -> Bool {
    from?.ids == other.from?.ids && to?.ids == other.to?.ids
  }
}

/// One side of an ordered relationship in two stores.
struct OrderPair: Sendable {
  let older: RelationshipEnd
  let newer: RelationshipEnd
}

extension DifferenceStep {
  mutating func runLinks(
    _ pair: RelationshipPair, _ visit: (FoundDifference) throws -> Void
  ) throws -> Bool {
    let oldExpired = try ExpiredLinks(pair.older, older)
    let newExpired = try ExpiredLinks(pair.newer, newer)
    return try mergeKeys(pair.older?.linksFrom?.tree, pair.newer?.linksFrom?.tree) {
      key, before, after, budget in
      guard let from = KeyDecoder.leadingID(key), let to = KeyDecoder.recordIDSuffix(key) else {
        throw StoreError.damagedRelationship(pair.label, "a link has a key that is none")
      }
      let wasThere = before != nil && !oldExpired.contains(from, to)
      let isThere = after != nil && !newExpired.contains(from, to)
      if wasThere == isThere { return }
      budget.find(32)
      if let link = pair.difference(isThere ? .added : .removed, from, to) {
        try visit(.link(link))
      }
    }
  }

  /// Compares the order of each owner's targets.
  ///
  /// Stored position numbers are not compared, because only their order has a meaning.
  mutating func runOrder(
    _ pair: OrderPair, _ visit: (FoundDifference) throws -> Void
  ) throws -> Bool {
    guard let old = try LinkOrder(pair.older, core: older),
      let new = try LinkOrder(pair.newer, core: newer)
    else { return true }
    let oldExpired = try ExpiredLinks(pair.older.relationship, older)
    let newExpired = try ExpiredLinks(pair.newer.relationship, newer)
    func isRead(_ owner: UInt64, _ other: UInt64) -> Bool {
      let (from, to) = pair.newer.side == .from ? (owner, other) : (other, owner)
      return !oldExpired.contains(from, to) && !newExpired.contains(from, to)
    }
    var next: UInt64 = 0
    if case .id(let id) = place { next = id }
    while let owner = try old.owner(from: next) {
      if budget.isSpent {
        place = .id(owner)
        return false
      }
      let before = try old.ids(of: owner).filter { isRead(owner, $0) }
      let after = try new.ids(of: owner).filter { isRead(owner, $0) }
      budget.visits -= 1 + before.count
      for other in Self.moved(before, after) {
        budget.find(32)
        try visit(
          .link(
            LinkDifference(
              entity: pair.newer.source.name, relationship: pair.newer.name ?? "",
              target: pair.newer.target.name, kind: .moved, recordID: owner, targetID: other)))
      }
      guard owner < .max else { return true }
      next = owner + 1
    }
    return true
  }

  /// Returns a smallest set of common elements that must move to get the new order, in that order.
  static func moved(_ before: [UInt64], _ after: [UInt64]) -> [UInt64] {
    if before == after { return [] }
    let places = Dictionary(
      before.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    let common = after.compactMap { other in places[other].map { (other: other, place: $0) } }
    let staying = Set(RowMoves.longestAscending(Array(common.indices)) { common[$0].place })
    return common.indices.filter { !staying.contains($0) }.map { common[$0].other }
  }
}
