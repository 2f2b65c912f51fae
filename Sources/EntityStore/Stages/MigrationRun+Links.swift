internal import LMDB
internal import LodestoreFormat

/// Links requested by a step, which are created when the declared relationships exist.
struct MigratedLinks {
  var source: EntityNumber
  var target: EntityNumber
  /// The name of the relationship on the side of the source.
  var relationship: String
  var pairs: [(source: UInt64, target: UInt64)]
  /// The order of the sources of each target, if the relationship was ordered.
  var orders: [(target: UInt64, sources: [UInt64])]
}

extension MigrationRun {
  /// Returns the order of the records that lead to each target through an attribute.
  func orders(
    of held: RelationshipDescription, _ core: WriteCore
  ) throws -> [(target: UInt64, sources: [UInt64])] {
    guard let relationship = core.schema.relationship(held.number),
      let order = try LinkOrder(relationship.end(.to), core: core)
    else { return [] }
    var found: [(UInt64, [UInt64])] = []
    var next = try order.owner(from: 0)
    while let owner = next {
      found.append((owner, try order.ids(of: owner)))
      next = owner < .max ? try order.owner(from: owner + 1) : nil
    }
    return found
  }

  /// Creates the links that steps have requested, between records that still exist.
  func makeLinks() throws {
    for made in links {
      let core = try core()
      let source = core.schema.entity(made.source)
      let target = core.schema.entity(made.target)
      // If a later step has removed one of the entities, its links are not created.
      guard let source, let target else { continue }
      guard let end = core.schema.end(named: made.relationship, of: source), end.links != nil,
        end.target.number == made.target
      else {
        throw StoreError.cannotMigrate(
          "the step toMany leads to '\(made.relationship)', which is no relationship to many "
            + "\(target.name) with links of its own", entity: source.name)
      }
      var list = LinkList(expectedCount: made.pairs.count)
      for pair in made.pairs
      where try core.record(pair.source, of: source) != nil
        && core.record(pair.target, of: target) != nil
      {
        list.append(pair.source, pair.target)
      }
      _ = try core.addLinks(list, by: end)
      if let order = try LinkOrderWriter(end.opposite, core: core) {
        // Another step may have created such a link, so only new ones are appended.
        for (owner, sources) in made.orders {
          let fresh = try sources.filter { try order.position(of: $0, in: owner) == nil }
          try order.append(fresh, to: owner)
        }
      }
      touched.formUnion([end.source.number, end.target.number])
    }
  }
}
