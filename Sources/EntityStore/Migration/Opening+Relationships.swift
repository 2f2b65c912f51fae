internal import LMDB
internal import LodestoreFormat

extension Opening {
  /// Applies the declared relationships to the file; runs after the entities have been changed.
  func evolveRelationships() throws {
    let entities = try store.trees.descriptions(in: transaction.reads)
    let stored = try store.trees.relationships(in: transaction.reads)
    let evolution = try RelationshipEvolution(stored, declared: declared, entities: entities)
    if let first = evolution.changed.first {
      try StoredSchema.checkTreeCount(
        before: (entities, stored), after: (entities, evolution.result),
        of: entities.first { $0.number == first.from.entity }?.name ?? "")
    }
    for gone in evolution.removed {
      try store.empty(gone.trees, in: transaction)
      try store.trees.remove(gone, in: transaction)
    }
    for var relationship in evolution.changed {
      let isNew = relationship.number == 0
      if isNew {
        relationship.number = try store.nextNumber(
          CounterKey.nextRelationship, "the next relationship's number",
          after: try store.trees.relationships(in: transaction.reads).map(\.number).max() ?? 0,
          in: transaction)
      }
      try store.trees.put(relationship, in: transaction)
      for name in relationship.trees {
        _ = try store.environment.openOrMakeTree(name, in: transaction)
      }
      let orders = stored.first { $0.number == relationship.number }?.orders ?? []
      try store.empty(orders.filter { !relationship.orders.contains($0) }, in: transaction)
      if isNew, relationship.attribute != nil { try checkTargets(of: relationship) }
      for side in RelationshipSide.allCases where relationship[side].isOrdered {
        if orders.contains(.order(relationship: relationship.number, side: side)) { continue }
        try order(relationship, side)
      }
    }
  }

  /// Orders the existing links by their ids.
  private func order(_ relationship: RelationshipDescription, _ side: RelationshipSide) throws {
    let core = try store.writing(transaction)
    guard let end = core.schema.relationship(relationship.number)?.end(side),
      let links = end.links, let order = try LinkOrderWriter(end, core: core)
    else { return }
    let cursor = try LinkCursor(links, core: core)
    try LinkCursor(links, core: core).forEachSource { (owner, _) throws(StoreError) in
      try order.append(try cursor.ids(of: owner), to: owner)
    }
  }

  /// Throws when an id that an attribute already holds has no record.
  private func checkTargets(of relationship: RelationshipDescription) throws {
    let core = try store.writing(transaction)
    guard let stored = core.schema.relationship(relationship.number) else { return }
    try core.checkTargets(ofAll: stored)
  }
}
