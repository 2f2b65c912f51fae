package import LodestoreFormat

/// A query planned in a transaction; it can be run several times.
///
/// The calls rethrow the errors of closures unchanged.
package struct DynamicQuery {
  let plan: QueryPlan
  let core: TransactionCore

  /// Whether the query may read all records.
  package var isScan: Bool { plan.isScan }

  /// The entities in which records are looked up, the queried one first.
  ///
  /// `isByElements` is true if the lookup may use an element index, which has an entry for each
  /// element of a list.
  package var lookups: [(entity: DynamicEntity, isByElements: Bool)] {
    var found: [(entity: StoredEntity, isByElements: Bool)] = []
    func note(_ entity: StoredEntity, isByElements: Bool) {
      if let known = found.firstIndex(where: { $0.entity === entity }) {
        if isByElements { found[known].isByElements = true }
      } else {
        found.append((entity, isByElements))
      }
    }
    func visit(_ plan: QueryPlan) {
      note(plan.entity, isByElements: false)
      visit(plan.access, of: plan.entity)
      if let alternative = plan.alternative { visit(alternative.plan) }
    }
    func visit(_ access: AccessPath, of entity: StoredEntity) {
      switch access {
      case .elements: note(entity, isByElements: true)
      case .related(let related): visit(related.target)
      case .union(let paths): for path in paths { visit(path, of: entity) }
      case .nothing, .scan, .ids, .idRange, .index, .search, .place, .intersection: break
      case .vectors(let access): if let within = access.within { visit(within, of: entity) }
      }
    }
    visit(plan)
    return found.map { (DynamicEntity(stored: $0.entity), $0.isByElements) }
  }

  // MARK: Results

  /// Visits the results in order, until `body` returns false.
  package func forEach(control: RunControl? = nil, _ body: (DynamicRecord) throws -> Bool) throws {
    let run = try PlanRun(plan, core: core, control: control)
    let entity = plan.entity
    // A run converts every error to an error of the store. An error of `body`, such as a closed
    // pipe, is therefore kept here and thrown afterwards.
    var failure: (any Error)?
    do {
      try run.forEach { id, bytes in
        do {
          return try body(DynamicRecord(id: id, bytes: bytes, entity: entity))
        } catch {
          failure = error
          throw error
        }
      }
    } catch {
      throw failure ?? error
    }
  }

  /// Visits the results of one page, whose size is the request's limit; returns the token of the
  /// next page.
  package func forEachOfPage(
    control: RunControl? = nil, _ body: (DynamicRecord) throws -> Void
  ) throws -> ContinuationToken? {
    let run = try PlanRun(plan, core: core, control: control)
    let entity = plan.entity
    var failure: (any Error)?
    do {
      return try run.forEachOfPage { id, bytes in
        do {
          try body(DynamicRecord(id: id, bytes: bytes, entity: entity))
        } catch {
          failure = error
          throw error
        }
      }
    } catch {
      throw failure ?? error
    }
  }

  /// The ids of the results in order.
  package func ids(control: RunControl? = nil) throws(StoreError) -> [UInt64] {
    try PlanRun(plan, core: core, control: control).ids()
  }

  /// The number of results.
  package func count(control: RunControl? = nil) throws(StoreError) -> Int {
    try PlanRun(plan, core: core, control: control).count()
  }

  /// Calls `body` with each combination of the values of `keys` and its number of results.
  ///
  /// The combinations are in ascending order. The request's limit and offset are ignored.
  package func forEachGroup(
    by keys: [DynamicExpression], control: RunControl? = nil,
    _ body: (_ keys: [Value], _ count: Int) throws(StoreError) -> Void
  ) throws(StoreError) {
    let run = try PlanRun(plan, core: core, control: control)
    try run.forEachGroup(by: keys.map(\.operand), []) { (row) throws(StoreError) in
      try body(row.keys, row.count)
    }
  }

  /// The groups of ``forEachGroup(by:control:_:)`` as an array.
  package func groups(
    by keys: [DynamicExpression], control: RunControl? = nil
  ) throws(StoreError) -> [(keys: [Value], count: Int)] {
    var groups: [(keys: [Value], count: Int)] = []
    try forEachGroup(by: keys, control: control) { groups.append(($0, $1)) }
    return groups
  }

  // MARK: Plans

  /// The plan of the query; does not run it.
  package func explanation() -> QueryExplanation { QueryExplanation(plan.description, nil) }

  /// Runs the query, and returns its plan with the numbers of index entries and records that the
  /// run read.
  ///
  /// - Parameter isCounted: whether only the number of results is needed.
  package func analysis(
    isCounted: Bool, control: RunControl? = nil
  ) throws(StoreError) -> QueryExplanation {
    let run = try PlanRun(plan, core: core, control: control)
    if isCounted {
      _ = try run.count()
    } else {
      try run.forEach { _, _ in true }
    }
    return QueryExplanation(plan.description, run.counts)
  }
}
