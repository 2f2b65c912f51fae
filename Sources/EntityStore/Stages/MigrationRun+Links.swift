internal import LMDB
internal import LodestoreFormat

/// Links that a step has left, which are made once the declared relationships are there.
struct PendingLinks {
  var source: EntityNumber
  var target: EntityNumber
  /// The relationship as the source knows it.
  var relationship: String
  var pairs: [(source: UInt64, target: UInt64)]
  /// What targets lead to, in order, where they had one.
  var orders: [(target: UInt64, sources: [UInt64])]
}

extension MigrationRun {
  /// The order of what the targets of a relationship by an attribute lead to.
  func orders(
    of held: RelationshipDescription, _ core: TransactionCore
  ) throws -> [(target: UInt64, sources: [UInt64])] {
    guard
      let relationship = core.schema.relationships.first(where: {
        $0.description.number == held.number
      }), let order = try LinkOrder(relationship.end(.to), core: core)
    else { return [] }
    var found: [(UInt64, [UInt64])] = []
    var next = try order.owner(from: 0)
    while let owner = next {
      found.append((owner, try order.ids(of: owner)))
      next = owner < .max ? try order.owner(from: owner + 1) : nil
    }
    return found
  }

  /// Makes the links that steps have left, between records that are still there.
  func makeLinks() throws {
    for pending in links {
      let core = try core()
      let source = core.schema.entities.first { $0.number == pending.source }
      let target = core.schema.entities.first { $0.number == pending.target }
      // A later step has removed one of them.
      guard let source, let target else { continue }
      guard let end = core.schema.end(named: pending.relationship, of: source), end.links != nil
      else {
        throw StoreError.cannotMigrate(
          "the step toMany leads to '\(pending.relationship)', which is no relationship to many with links of "
            + "its own")
      }
      var list = LinkList(expectedCount: pending.pairs.count)
      for pair in pending.pairs
      where try core.record(pair.source, of: source) != nil
        && core.record(pair.target, of: target) != nil
      {
        list.append(pair.source, pair.target)
      }
      _ = try core.addLinks(list, by: end)
      if let order = try LinkOrder(end.opposite, core: core) {
        for (owner, sources) in pending.orders { try order.append(sources, to: owner) }
      }
      touched.formUnion([end.source.number, end.target.number])
    }
  }
}
