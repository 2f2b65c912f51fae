internal import LMDB
internal import LodestoreFormat

/// Maintains the order of related records: an added link comes last, a removed link loses its
/// position.
///
/// A link that a write removes and adds again exists before and after the write. If its position
/// changed, the history records a move.
final class OrderedLinks: ChangeSink {
  let name = "the order of relationships"
  let writesOnRecord = true
  private let core: WriteCore
  private let orders: [OrderedSide]
  /// For each entity, the sides whose links are held in an attribute of its records.
  private var held: [EntityNumber: [OrderedSide]] = [:]
  /// Whether the history may record moves.
  private let reportsMoves: Bool

  private final class OrderedSide {
    let end: RelationshipEnd
    let order: LinkOrderWriter
    /// The positions of links that this write removed, by owner and target.
    var vacated: [LinkPair: UInt64] = [:]

    init(_ end: RelationshipEnd, _ order: LinkOrderWriter) {
      self.end = end
      self.order = order
    }

    /// The attribute of the targets, if it holds the links of the side.
    var holder: UInt32? { end.opposite.attribute?.number }
  }

  /// Returns `nil` when the schema has no ordered relationship.
  init?(_ schema: StoredSchema, core: WriteCore) throws(StoreError) {
    var orders: [OrderedSide] = []
    for relationship in schema.relationships {
      for side in RelationshipSide.allCases {
        let end = relationship.end(side)
        if let order = try LinkOrderWriter(end, core: core) {
          orders.append(OrderedSide(end, order))
        }
      }
    }
    guard !orders.isEmpty else { return nil }
    self.core = core
    self.orders = orders
    reportsMoves = schema.keepsHistory
    for side in orders where side.holder != nil {
      held[side.end.target.number, default: []].append(side)
    }
  }

  func interest(in entity: StoredEntity) -> ChangeInterest? {
    held[entity.number] == nil ? nil : [.oldRecord, .newRecord]
  }

  func isConcerned(byUpdateOf attributes: Set<UInt32>, of entity: StoredEntity) -> Bool {
    held[entity.number]?.contains { $0.holder.map(attributes.contains) ?? false } ?? false
  }

  func record(_ change: RecordChange, of entity: StoredEntity) throws(StoreError) {
    guard let (id, old, new) = change.both else { return }
    for side in held[entity.number] ?? [] {
      guard let holder = side.holder else { continue }
      let before = try entity.recordID(ofAttribute: holder, in: old)
      let after = try entity.recordID(ofAttribute: holder, in: new)
      if before == after { continue }
      // The positions of a deleted record's links are not kept, since its links cannot be added
      // again in the write.
      if let before { try remove(id, from: before, side, canReturn: new != nil) }
      if let after { try append([id], to: after, side) }
    }
  }

  func record(_ change: borrowing LinkChange) throws(StoreError) {
    for side in orders where side.end.relationship === change.end.relationship {
      if side.end.side == change.end.side {
        try note(change.links, isAdded: change.isAdded, side)
      } else {
        try note(change.links.swapped(), isAdded: change.isAdded, side)
      }
    }
  }

  /// - Parameter links: sorted by the ids of the side.
  private func note(
    _ links: borrowing LinkList, isAdded: Bool, _ side: OrderedSide
  ) throws(StoreError) {
    var index = 0
    while index < links.count {
      let owner = links.id(at: index)
      var others: [UInt64] = []
      while index < links.count, links.id(at: index) == owner {
        others.append(links.other(at: index))
        index += 1
      }
      if isAdded {
        try append(others, to: owner, side)
      } else {
        for other in others { try remove(other, from: owner, side, canReturn: true) }
      }
    }
  }

  private func remove(
    _ other: UInt64, from owner: UInt64, _ side: OrderedSide, canReturn: Bool
  ) throws(StoreError) {
    if reportsMoves, canReturn, let position = try side.order.position(of: other, in: owner) {
      side.vacated[LinkPair(from: owner, to: other)] = position
    }
    try side.order.remove(other, from: owner)
  }

  private func append(
    _ others: [UInt64], to owner: UInt64, _ side: OrderedSide
  ) throws(StoreError) {
    guard !side.vacated.isEmpty else { return try side.order.append(others, to: owner) }
    try core.moveLinks(of: owner, by: side.end) { () throws(StoreError) in
      var moved: [UInt64] = []
      for other in others {
        if let position = side.vacated.removeValue(forKey: LinkPair(from: owner, to: other)) {
          // A link that was removed and added again, and whose old position is after all others,
          // gets that position back and counts as not moved.
          if try side.order.putBack(other, in: owner, at: position) { continue }
          moved.append(other)
        }
        try side.order.append(CollectionOfOne(other), to: owner)
      }
      return moved
    }
  }
}
