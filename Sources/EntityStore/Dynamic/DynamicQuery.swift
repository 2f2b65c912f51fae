package import LodestoreFormat

/// A query that has been planned in a transaction; it can be run more than once.
///
/// What a closure throws comes out of the calls as it is.
package struct DynamicQuery {
  let plan: QueryPlan
  let core: TransactionCore

  /// Whether all records may be read.
  package var isScan: Bool { plan.isScan }

  /// The entities in which records are looked for, the one asked for first; and whether that may be by an
  /// index over elements.
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
      case .nothing, .scan, .ids, .idRange, .index, .intersection: break
      }
    }
    visit(plan)
    return found.map { (DynamicEntity(stored: $0.entity), $0.isByElements) }
  }

  // MARK: Results

  /// Visits the results in order, until `body` returns false.
  package func forEach(
    control: RunControl? = nil, _ body: (DynamicRecord) throws -> Bool
  ) throws {
    let run = try PlanRun(plan, core: core, control: control)
    let entity = plan.entity
    // Runs throw the store's errors only; a closed pipe or a full disk is none of them.
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

  /// Visits the results, of which the request's limit makes a page, and returns the token of the next.
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

  /// How many results there are.
  package func count(control: RunControl? = nil) throws(StoreError) -> Int {
    try PlanRun(plan, core: core, control: control).count()
  }

  /// Tells how many results there are of each combination of the values of `keys`, in ascending
  /// order of these.
  ///
  /// Limit and offset are ignored.
  package func forEachGroup(
    by keys: [DynamicExpression], control: RunControl? = nil,
    _ body: (_ keys: [Value], _ count: Int) throws(StoreError) -> Void
  ) throws(StoreError) {
    let run = try PlanRun(plan, core: core, control: control)
    try run.forEachGroup(by: keys.map(\.operand), []) { (row) throws(StoreError) in
      try body(row.keys, row.count)
    }
  }

  /// The same in an array.
  package func groups(
    by keys: [DynamicExpression], control: RunControl? = nil
  ) throws(StoreError) -> [(keys: [Value], count: Int)] {
    var groups: [(keys: [Value], count: Int)] = []
    try forEachGroup(by: keys, control: control) { groups.append(($0, $1)) }
    return groups
  }

  // MARK: Plans

  /// How the query is run, without running it.
  package func explanation() -> QueryExplanation { QueryExplanation(plan.description, nil) }

  /// Runs the query, and tells what that read beside how it is run.
  ///
  /// - Parameter isCounted: whether only the number of results is wanted.
  package func analysis(isCounted: Bool) throws(StoreError) -> QueryExplanation {
    let run = try PlanRun(plan, core: core)
    if isCounted {
      _ = try run.count()
    } else {
      try run.forEach { _, _ in true }
    }
    return QueryExplanation(plan.description, run.counts)
  }
}
