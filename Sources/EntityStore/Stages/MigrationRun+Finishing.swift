internal import LMDB
internal import LodestoreFormat

extension MigrationRun {
  /// Creates the links that steps have requested, and the data that follows from changed records.
  ///
  /// Called when the declared relationships exist. Computed indexes and orders are built here,
  /// derived attributes later.
  func finish() throws {
    try makeLinks()
    guard !touched.isEmpty else { return }
    let core = try core()
    for entity in core.schema.entities where touched.contains(entity.number) {
      for index in entity.computedIndexes where !index.isBuilding {
        try index.entries.empty(in: transaction)
        try core.build(index, of: entity, work)
      }
    }
    try updateLinksAndOrders(core)
  }

  var sink: (any ChangeSink)? { rules }

  func checkRules(_ core: WriteCore) throws { try rules?.check(core, StoreError.afterStages) }

  /// Checks the link targets of changed entities, and updates orders.
  func updateLinksAndOrders(_ core: WriteCore) throws {
    for relationship in core.schema.relationships
    where touched.contains(relationship.from.number) || touched.contains(relationship.to.number) {
      do throws(StoreError) {
        try core.checkTargets(ofAll: relationship)
      } catch {
        throw StoreError.afterStages(error)
      }
      for side in RelationshipSide.allCases { try updateOrder(of: relationship.end(side), core) }
    }
  }

  /// Removes links that no longer exist from an order of targets, and appends links that it lacks.
  private func updateOrder(of end: RelationshipEnd, _ core: WriteCore) throws {
    guard let links = end.links, let order = try LinkOrderWriter(end, core: core) else { return }
    let cursor = try LinkCursor(links, core: core)
    var next = try order.owner(from: 0)
    while let owner = next {
      let linked = Set(try cursor.ids(of: owner))
      for other in try order.ids(of: owner) where !linked.contains(other) {
        try order.remove(other, from: owner)
      }
      next = owner < .max ? try order.owner(from: owner + 1) : nil
    }
    try LinkCursor(links, core: core).forEachSource { (owner, _) throws(StoreError) in
      let ordered = Set(try order.ids(of: owner))
      try order.append(try cursor.ids(of: owner).filter { !ordered.contains($0) }, to: owner)
      try work?.step()
    }
  }
}

extension StoreError {
  /// The error of opening for a migration after which a record breaks a rule or has a link to a
  /// missing record.
  ///
  /// Returns other errors unchanged.
  static func afterStages(_ error: StoreError) -> StoreError {
    guard error.code == .missingTarget || !error.violations.isEmpty else { return error }
    var refusal = StoreError.cannotMigrate(
      "after the stages, \(error.message)", entity: error.entity, attribute: error.attribute,
      recordID: error.recordID, cause: error)
    refusal.violations = error.violations
    refusal.privateDetail = error.privateDetail
    return refusal
  }
}
