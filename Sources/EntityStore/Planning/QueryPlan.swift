internal import LMDB
internal import LodestoreFormat

/// The way in which a query is run: how its records are found, checked and ordered.
///
/// A plan is an object, since the planner compares many plans and keeps one.
final class QueryPlan: Sendable {
  enum Arrangement: Sendable {
    /// The results are in the order of record ids.
    case natural(isReversed: Bool)
    /// The results are in the order of an index's entries, one range after the other.
    case index(isReversed: Bool)
    /// The results are in the merged order of several ranges, by the elements after those that are
    /// fixed within each range.
    case merge(isReversed: Bool)
    /// The results are sorted by the keys of the query's order.
    ///
    /// `keeping` is the number of first records to keep, if not all are needed.
    case sort(keeping: Int?)
    /// The results are in the order of the entries of one range, with entries that begin with equal
    /// values sorted together.
    case groups(Groups)
    /// The results are those with the highest scores in a search, or with the shortest distances
    /// from a place or vector. The access finds them in this order.
    case ranked
  }

  /// Groups of index entries with equal values in their first attributes.
  struct Groups: Sendable {
    var attributeCount: Int
    var isReversed: Bool
    /// Whether the results within a group are in the order of their ids.
    var areByID: Bool
  }

  /// The plan that takes over if a run finds fewer results than expected.
  final class Alternative: Sendable {
    let plan: QueryPlan
    /// The number of records read before the alternative takes over.
    let recordLimit: Int

    init(_ plan: QueryPlan, recordLimit: Int) {
      self.plan = plan
      self.recordLimit = recordLimit
    }
  }

  /// The parts that all plans of a query share, so that the planner does not copy them.
  final class Subject: Sendable {
    let entity: StoredEntity
    let request: QueryRequest
    /// The whole condition of the query.
    let condition: BoundCondition
    let order: BoundOrder
    let recordCount: Int

    init(
      _ request: QueryRequest, condition: BoundCondition, order: BoundOrder, entity: StoredEntity,
      recordCount: Int
    ) {
      self.entity = entity
      self.request = request
      self.condition = condition
      self.order = order
      self.recordCount = recordCount
    }
  }

  let subject: Subject
  let access: AccessPath
  /// The part of the condition that remains to be checked on each record.
  let residual: BoundCondition?
  let arrangement: Arrangement
  /// The estimated cost in nanoseconds.
  let cost: Double
  /// The worst-case cost: fewer records than expected fulfil the condition, so that a limit does
  /// not end the run early.
  let worstCaseCost: Double
  let estimatedMatchCount: Int
  let alternative: Alternative?

  init(
    subject: Subject, access: AccessPath, residual: BoundCondition?, arrangement: Arrangement,
    cost: Double, worstCaseCost: Double, estimatedMatchCount: Int, alternative: Alternative? = nil
  ) {
    self.subject = subject
    self.access = access
    self.residual = residual
    self.arrangement = arrangement
    self.cost = cost
    self.worstCaseCost = worstCaseCost
    self.estimatedMatchCount = estimatedMatchCount
    self.alternative = alternative
  }

  /// Returns a copy of the plan with another cost or alternative.
  func with(cost: Double? = nil, alternative: Alternative? = nil) -> QueryPlan {
    QueryPlan(
      subject: subject, access: access, residual: residual, arrangement: arrangement,
      cost: cost ?? self.cost, worstCaseCost: worstCaseCost,
      estimatedMatchCount: estimatedMatchCount, alternative: alternative ?? self.alternative)
  }

  var entity: StoredEntity { subject.entity }
  var request: QueryRequest { subject.request }
  var condition: BoundCondition { subject.condition }
  var order: BoundOrder { subject.order }
  var recordCount: Int { subject.recordCount }

  /// Whether comparing other plans would cost more than running this one, which reads only a few
  /// entries.
  var isCheapest: Bool { residual == nil && worstCaseCost < Planner.Cost.otherPlan }

  /// Whether the plan scans all records.
  var isScan: Bool { if case .scan = access { true } else { false } }

  /// Whether the entries of the access path alone decide which records match.
  var isAnsweredByEntries: Bool { residual == nil }

  /// The number of results before the offset that are skipped as entries, or as records that need
  /// not be read.
  var offsetOfEntries: Int {
    guard residual == nil, !access.hasGivenIDs else { return 0 }
    switch (access, arrangement) {
    case (.scan, .natural(isReversed: false)), (.idRange, .natural(isReversed: false)):
      return request.offset
    case (.index, .index), (.index, .merge), (.index, .natural), (.union, .natural),
      (.intersection, .natural), (.search, .natural):
      return request.offset
    default: return 0
    }
  }

  /// Returns this plan with the plan of `others` that has the lowest worst-case cost as its
  /// alternative.
  ///
  /// The alternative takes over when this plan has cost as much as the alternative is expected to
  /// cost. A limit is expected to end a run early, but only if the matches are spread evenly.
  func withFallback(among others: [QueryPlan]) -> QueryPlan {
    guard mayFindLess else { return self }
    let others = others.filter { !$0.needsWholeKeys && $0 !== self }
    guard let least = others.map(\.worstCaseCost).min(), least < worstCaseCost || needsWholeKeys
    else { return self }
    // Among plans with similar worst-case costs, the one with the lowest expected cost is chosen,
    // so that it takes over early.
    let similar = others.filter { $0.worstCaseCost <= 1.5 * least }
    guard let cheapest = similar.min(by: { $0.cost < $1.cost }) else { return self }
    let perRecord: Double =
      switch access {
      case .scan, .idRange: Planner.Cost.scannedRecord + condition.checkingCost
      default: Planner.Cost.entry + Planner.Cost.fetchedRecord
      }
    let recordLimit = max(256, Int(clamping: Int64(min(cheapest.cost / perRecord, 1e15))))
    return with(alternative: Alternative(cheapest, recordLimit: recordLimit))
  }

  /// Whether the run may cost more than expected, because a limit may not end it early.
  var mayFindLess: Bool { request.limit != nil && (worstCaseCost > cost || needsWholeKeys) }

  /// Whether the run must stop at a cut key, so that it needs an alternative.
  var needsWholeKeys: Bool {
    switch arrangement {
    case .groups, .merge: true
    case .natural, .index, .sort, .ranked: false
    }
  }
}

/// A cached plan, valid until a record expires of an entity that the plan depends on.
///
/// A plan contains the ids of the records that had expired when it was made.
private final class CachedPlan: Sendable {
  let plan: QueryPlan
  /// The entities with expiry that the plan depends on.
  let expiring: [StoredEntity]

  init(_ plan: QueryPlan, _ expiring: [StoredEntity]) {
    self.plan = plan
    self.expiring = expiring
  }
}

extension TransactionCore {
  /// Binds `request` to `entity` and chooses a plan.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` for an unknown name or a type that does not fit,
  ///   before any record is read.
  func plan(_ request: QueryRequest, for entity: StoredEntity) throws(StoreError) -> QueryPlan {
    guard !isWrite, tracker == nil, let hash = request.planHash(for: entity) else {
      return try newPlan(request, for: entity).plan
    }
    if let kept = store.recent.object(hash, at: commitNumber) as? CachedPlan,
      kept.plan.entity === entity, kept.plan.request.hasPlan(of: request),
      try !hasExpired(ofAny: kept.expiring)
    {
      return kept.plan
    }
    let (plan, expiring) = try newPlan(request, for: entity)
    if try !hasExpired(ofAny: expiring) {
      store.recent.note(CachedPlan(plan, expiring), hash, at: commitNumber)
    }
    return plan
  }

  /// Creates a plan without the cache.
  ///
  /// - Returns: the plan, and the entities with expiry that it depends on.
  private func newPlan(
    _ request: QueryRequest, for entity: StoredEntity
  ) throws(StoreError) -> (plan: QueryPlan, expiring: [StoredEntity]) {
    try prepareSearch()
    var whole = ConditionBinding(entity, request.positions, core: self)
    let bound = try whole.bind(request.condition)
    tracker?.note(bound.region)
    let condition = NormalForm.of(try leavingOutExpired(bound, of: entity))
    // The positions refer to the condition's text, not to the order.
    var binding = ConditionBinding(entity, [:], core: self)
    // The normal form of a condition that is always false has neither a search nor a `NEAR`.
    binding.condition = bound
    let order = try BoundOrder(request.order, binding)
    tracker?.note(order.region)
    try request.checkWindow()
    try request.after?.check(request, entity)
    var expiring: [StoredEntity] = []
    if schema.hasExpiry {
      let others = bound.region.entities.union(order.region.entities)
      expiring = schema.expiring.filter { $0 === entity || others.contains($0.number) }
    }
    return (try plan(request, condition: condition, order: order, for: entity), expiring)
  }

  func plan(
    _ request: QueryRequest, condition: BoundCondition, order: BoundOrder, for entity: StoredEntity
  ) throws(StoreError) -> QueryPlan {
    let statistics = try PlannerStatistics(of: entity, core: self)
    return try wrappingErrors {
      try Planner(
        request, condition: condition, order: order, entity: entity, statistics: statistics
      ).plan()
    }
  }
  /// Returns the plan that finds the related records of `test`.
  func target(of test: RelatedTest) throws(StoreError) -> QueryPlan {
    var request = QueryRequest()
    request.wantsOnlyEntries = true
    let order = try BoundOrder([], ConditionBinding(test.end.target))
    return try plan(request, condition: test.condition, order: order, for: test.end.target)
  }
}
