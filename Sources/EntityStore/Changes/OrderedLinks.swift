internal import LMDB
internal import LodestoreFormat

/// Keeps the order of what records lead to: what is added comes last, what is removed loses its position.
final class OrderedLinks: ChangeSink {
  let name = "the order of relationships"
  private let orders: [Side]
  /// By entity, the sides whose links an attribute of its records holds.
  private var held: [EntityNumber: [Side]] = [:]

  private struct Side {
    let end: RelationshipEnd
    let order: LinkOrder

    /// The attribute of the records that the side leads to, where it holds the links.
    var holder: UInt32? { end.opposite.attribute?.number }
  }

  /// `nil` where the schema has no order.
  init?(_ schema: StoredSchema, core: TransactionCore) throws(StoreError) {
    var orders: [Side] = []
    for relationship in schema.relationships {
      for side in RelationshipSide.allCases {
        let end = relationship.end(side)
        if let order = try LinkOrder(end, core: core) {
          orders.append(Side(end: end, order: order))
        }
      }
    }
    guard !orders.isEmpty else { return nil }
    self.orders = orders
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
    switch change {
    case .insertedRecord(let id, let new): try note(id, nil, new, entity)
    case .updated(let id, let old?, let new?, _): try note(id, old, new, entity)
    case .removed(let id, let old?): try note(id, old, nil, entity)
    case .inserted, .updated, .removed, .cleared: break
    }
  }

  private func note(
    _ id: UInt64, _ old: RecordView?, _ new: RecordView?, _ entity: StoredEntity
  ) throws(StoreError) {
    for side in held[entity.number] ?? [] {
      guard let holder = side.holder else { continue }
      let before = try entity.recordID(ofAttribute: holder, in: old)
      let after = try entity.recordID(ofAttribute: holder, in: new)
      if before == after { continue }
      if let before { try side.order.remove(id, from: before) }
      if let after { try side.order.append(CollectionOfOne(id), to: after) }
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
    _ links: borrowing LinkList, isAdded: Bool, _ side: Side
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
        try side.order.append(others, to: owner)
      } else {
        for other in others { try side.order.remove(other, from: owner) }
      }
    }
  }
}
