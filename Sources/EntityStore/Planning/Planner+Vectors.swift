internal import LodestoreFormat

/// Access to records by the distances of their vectors from another.
struct VectorAccess: Sendable {
  let vector: BoundVector
  /// The access to the records of which the nearest are found; `nil` for all records.
  let within: AccessPath?
  let estimatedMatchCount: Int

  /// The access as lines for plans.
  func lines(_ entity: StoredEntity) -> [PlanDescription.Line] {
    let text =
      "\(vector.index.entries.name) for \(vector.text), \(vector.candidates) candidates"
      + (within == nil ? "" : ", of the records found by")
    return [.init("vectors", text)] + (within?.lines(entity) ?? [])
  }
}

extension Planner {
  /// The costs in nanoseconds of a word of a code, of a candidate and of a block.
  ///
  /// The costs were measured on a million vectors of 384 dimensions.
  private static let (word, candidate, block) = (1.5, 600.0, 150.0)

  /// Returns the plan that finds the nearest vectors in their order, or `nil` for another clause or
  /// order.
  ///
  /// If one of `candidates` finds few records, only their vectors are compared.
  func vectorPlan(of clause: BoundCondition, among candidates: [QueryPlan]) -> QueryPlan? {
    guard case .proximity(let proximity) = clause, let vector = proximity as? BoundVector,
      !vector.index.isBuilding, let wanted = request.wantedCount
    else { return nil }
    let form = VectorForm(dimensions: vector.index.description.dimensions)
    let count = Double(statistics.recordCount)
    let blocks = count / Double(form.span(.signs)) * Self.block
    let filter = candidates.filter { $0.estimatedMatchCount < statistics.recordCount / 2 }
      .min { $0.estimatedMatchCount < $1.estimatedMatchCount }
    let matches = filter?.estimatedMatchCount ?? statistics.recordCount
    let access = AccessPath.vectors(
      VectorAccess(vector: vector, within: filter?.access, estimatedMatchCount: matches))
    guard case .ranked = order.arrangement(for: access, request: request) else { return nil }
    let rest = (filter.map { $0.residual.map(\.conjuncts) ?? [] } ?? clauses).filter {
      if case .proximity(let other) = $0, other === vector { false } else { !$0.isAlways }
    }
    let collected =
      filter.map {
        Double($0.access.estimatedEntryCount(statistics.recordCount))
          * (2 * Cost.entry + Cost.sortedID)
      } ?? 0
    let signs =
      filter == nil && matches > StoreOptions.mostVectorsWithoutLists
      ? min(matches, BoundVector.signCount(forCandidates: vector.candidates, of: matches)) : matches
    let compared = min(Double(matches), Double(max(vector.candidates, wanted)))
    let cost =
      collected + blocks + Double(signs) * Double(form.width / 64) * Self.word
      + compared * Self.candidate + min(compared, 2 * Double(wanted)) * Cost.fetchedRecord
    return QueryPlan(
      subject: subject, access: access,
      residual: rest.isEmpty ? nil : rest.count == 1 ? rest[0] : .all(rest), arrangement: .ranked,
      cost: cost, worstCaseCost: cost, estimatedMatchCount: matches)
  }
}
