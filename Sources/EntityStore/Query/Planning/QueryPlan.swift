internal import LMDB
internal import LodestoreFormat

/// How a query is run: where its records are looked for, what is checked on each, and how they are
/// put in order.
///
/// A class, as the planner compares many and keeps one.
final class QueryPlan: Sendable {
  enum Arrangement: Sendable {
    /// By record id.
    case natural(isReversed: Bool)
    /// As the entries of the ranges of an index come, one range after the other.
    case index(isReversed: Bool)
    /// As the entries of several ranges of an index come, merged by the elements after their first
    /// ones.
    case merge(isReversed: Bool)
    /// Sorted by the keys of the order; `keeping` only the first, where not all are needed.
    case sort(keeping: Int?)
    /// As the entries of the one index range come, those with equal beginnings sorted together.
    case groups(Groups)
  }

  /// Entries of an index with equal values of its first attributes.
  struct Groups: Sendable {
    var attributeCount: Int
    var isReversed: Bool
    /// Whether the results within a group are in the order of their ids.
    var areByID: Bool
  }

  /// A plan that takes over when a run finds less than was expected of it.
  final class Alternative: Sendable {
    let plan: QueryPlan
    /// The number of records that are read before.
    let recordLimit: Int

    init(_ plan: QueryPlan, recordLimit: Int) {
      self.plan = plan
      self.recordLimit = recordLimit
    }
  }

  /// The parts that all plans of a query share, in one place, as the planner compares several
  /// plans.
  final class Subject: Sendable {
    let entity: StoredEntity
    let request: QueryRequest
    /// The whole condition.
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
  /// The part of the condition that is still to be checked on each record.
  let residual: BoundCondition?
  let arrangement: Arrangement
  /// In nanoseconds, by the planner's estimates.
  let cost: Double
  /// The cost when fewer records than expected fulfil the condition, so that a limit does not end
  /// the run early.
  let certainCost: Double
  let estimatedMatchCount: Int
  let alternative: Alternative?

  init(
    subject: Subject, access: AccessPath, residual: BoundCondition?, arrangement: Arrangement,
    cost: Double, certainCost: Double, estimatedMatchCount: Int, alternative: Alternative? = nil
  ) {
    self.subject = subject
    self.access = access
    self.residual = residual
    self.arrangement = arrangement
    self.cost = cost
    self.certainCost = certainCost
    self.estimatedMatchCount = estimatedMatchCount
    self.alternative = alternative
  }

  /// Copies the plan with another cost or alternative.
  func with(cost: Double? = nil, alternative: Alternative? = nil) -> QueryPlan {
    QueryPlan(
      subject: subject, access: access, residual: residual, arrangement: arrangement,
      cost: cost ?? self.cost, certainCost: certainCost, estimatedMatchCount: estimatedMatchCount,
      alternative: alternative ?? self.alternative)
  }

  var entity: StoredEntity { subject.entity }
  var request: QueryRequest { subject.request }
  var condition: BoundCondition { subject.condition }
  var order: BoundOrder { subject.order }
  var recordCount: Int { subject.recordCount }

  /// Whether no other plan is worth being looked for: a few entries that say it all.
  var isCheapest: Bool { residual == nil && certainCost < Planner.Cost.otherPlan }

  /// Whether all records may be read.
  var isScan: Bool {
    if case .scan = access { true } else { false }
  }

  /// Whether the entries of the access path alone say which records match.
  var isAnsweredByEntries: Bool { residual == nil }

  /// How many results of the offset are entries of the access path, or records of a scan that need
  /// not be read.
  var offsetOfEntries: Int {
    guard residual == nil, !access.hasGivenIDs else { return 0 }
    switch (access, arrangement) {
    case (.scan, .natural(isReversed: false)), (.idRange, .natural(isReversed: false)):
      return request.offset
    case (.index, .index), (.index, .merge), (.index, .natural), (.union, .natural),
      (.intersection, .natural):
      return request.offset
    default: return 0
    }
  }

  /// This plan, changing to the surest of `others` when it has cost as much as that one should.
  ///
  /// A limit is expected to end a run early when those that match are spread evenly, which is not
  /// known.
  func changing(to others: [QueryPlan]) -> QueryPlan {
    guard mayFindLess else { return self }
    let others = others.filter { !$0.needsWholeKeys && $0 !== self }
    guard let least = others.map(\.certainCost).min(), least < certainCost || needsWholeKeys
    else { return self }
    // Among the plans that are about as sure, the one that may end soonest takes over: it can do so
    // early.
    let sure = others.filter { $0.certainCost <= 1.5 * least }
    guard let surest = sure.min(by: { $0.cost < $1.cost }) else { return self }
    let perRecord: Double =
      switch access {
      case .scan, .idRange: Planner.Cost.scannedRecord + condition.checkingCost
      default: Planner.Cost.entry + Planner.Cost.fetchedRecord
      }
    let recordLimit = max(256, Int(clamping: Int64(min(surest.cost / perRecord, 1e15))))
    return with(alternative: Alternative(surest, recordLimit: recordLimit))
  }

  /// Whether the run may cost more than expected, as a limit may not end it early.
  var mayFindLess: Bool { request.limit != nil && (certainCost > cost || needsWholeKeys) }

  /// Whether the run ends at a key that is cut, so that another plan must be there to take over.
  var needsWholeKeys: Bool {
    switch arrangement {
    case .groups, .merge: true
    case .natural, .index, .sort: false
    }
  }
}

/// A plan that is kept for the same query, while no record of the entities that it depends on has
/// expired: a plan names the records that a read leaves out.
private final class KeptPlan: Sendable {
  let plan: QueryPlan
  /// The entities that the plan depends on whose records expire.
  let expiring: [StoredEntity]

  init(_ plan: QueryPlan, _ expiring: [StoredEntity]) {
    self.plan = plan
    self.expiring = expiring
  }
}

extension TransactionCore {
  /// Binds `request` to `entity` and chooses how to run it.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` for a name or a type that does not fit, before any
  ///   record is read.
  func plan(
    _ request: QueryRequest, for entity: StoredEntity
  ) throws(StoreError) -> QueryPlan {
    guard !isWrite, tracker == nil, let hash = request.planHash(for: entity) else {
      return try newPlan(request, for: entity).plan
    }
    if let kept = store.recent.object(hash, at: commitNumber) as? KeptPlan,
      kept.plan.entity === entity, kept.plan.request.hasPlan(of: request),
      try !hasExpired(ofAny: kept.expiring)
    {
      return kept.plan
    }
    let (plan, expiring) = try newPlan(request, for: entity)
    if try !hasExpired(ofAny: expiring) {
      store.recent.note(KeptPlan(plan, expiring), hash, at: commitNumber)
    }
    return plan
  }

  /// - Returns: the plan, and the entities that it depends on whose records expire.
  private func newPlan(
    _ request: QueryRequest, for entity: StoredEntity
  ) throws(StoreError) -> (plan: QueryPlan, expiring: [StoredEntity]) {
    try pendingEntries?.write()
    var whole = ConditionBinding(entity, request.positions, core: self)
    let bound = try whole.bind(request.condition)
    tracker?.note(bound.region)
    let condition = NormalForm.of(try leavingOutExpired(bound, of: entity))
    // Positions are of the condition's text.
    let binding = ConditionBinding(entity, [:], core: self)
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
    _ request: QueryRequest, condition: BoundCondition, order: BoundOrder,
    for entity: StoredEntity
  ) throws(StoreError) -> QueryPlan {
    let statistics = try statistics(of: entity)
    do {
      return try Planner(
        request, condition: condition, order: order, entity: entity, statistics: statistics
      ).plan()
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  func statistics(of entity: StoredEntity) throws(StoreError) -> PlannerStatistics {
    PlannerStatistics(
      recordCount: try count(of: entity), related: { try self.related($0) },
      estimate: { index, range in
        try self.transaction.estimatedCount(of: index.tree, within: range.keys)
      },
      ids: { try self.ids(of: entity) },
      groupSize: { index, range, attributeCount, isReversed in
        try self.groupSize(index, range, attributeCount, isReversed: isReversed)
      },
      firstElements: { try self.firstElements($0, atMost: $1) },
      ends: { try self.ends(of: $0, $1) },
      keys: { try self.keys(of: $1, in: $0, of: entity, behind: $2) })
  }

  /// How the records that `test` asks of are found.
  func related(
    _ test: RelatedTest
  ) throws(StoreError) -> (target: QueryPlan, linkCount: Int) {
    var request = QueryRequest()
    request.wantsOnlyEntries = true
    let order = try BoundOrder([], ConditionBinding(test.end.target))
    let target = try plan(request, condition: test.condition, order: order, for: test.end.target)
    do {
      return (target, try transaction.count(of: test.end.relationship.linksTo.tree))
    } catch {
      throw StoreError(error)
    }
  }

  /// The first and the last id of the records of `entity`.
  func ids(of entity: StoredEntity) throws -> ClosedRange<UInt64>? {
    let cursor = try Cursor(entity.records, in: transaction)
    guard try cursor.first() else { return nil }
    let first = cursor.integerKey
    guard try cursor.last() else { return nil }
    return first...max(first, cursor.integerKey)
  }

  /// About how many entries have the same first attributes as the first entry of `range`, or the
  /// last.
  func groupSize(
    _ index: StoredIndex, _ range: IndexRange, _ attributeCount: Int, isReversed: Bool
  ) throws -> Int {
    let cursor = try Cursor(index.tree, in: transaction)
    var group: [UInt8]?
    try cursor.forEachEntry(in: range.keys, backwards: isReversed) { (key, _) throws in
      group = KeyDecoder.lengthOfBeginning(of: key, elementCount: attributeCount)
        .map { Array(key[..<$0]) }
      return false
    }
    guard let group else { return 0 }
    return try transaction.estimatedCount(
      of: index.tree, within: IndexRange.beginning(with: group).keys)
  }
}
