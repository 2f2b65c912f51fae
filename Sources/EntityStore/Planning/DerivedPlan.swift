internal import LMDB
internal import LodestoreFormat

/// A plan derived from another one for a different question about the same records, cached with the
/// other plan.
final class DerivedPlan: Sendable {
  /// The question that a derived plan answers.
  enum Purpose: Hashable {
    /// Reads the values of attributes from the entries of an index.
    case covering([UInt32])
    /// Finds each distinct value of attributes once, by a seek in an index from each value to the
    /// next.
    case stepping([UInt32])
    /// Finds the record with the lowest or highest value of an attribute.
    case first(UInt32, isDescending: Bool)
  }

  let source: QueryPlan
  let purpose: Purpose
  /// The plan; `nil` if none exists for the question.
  let plan: QueryPlan?

  init(source: QueryPlan, purpose: Purpose, plan: QueryPlan?) {
    (self.source, self.purpose, self.plan) = (source, purpose, plan)
  }
}

extension TransactionCore {
  /// Returns the plan for `purpose` that `make` derives from `source`.
  ///
  /// The plan is cached if `source` is cached.
  func plan(
    for purpose: DerivedPlan.Purpose, from source: QueryPlan,
    _ make: () throws(StoreError) -> QueryPlan?
  ) throws(StoreError) -> QueryPlan? {
    // If the source plan is not cached, this plan is not cached either, so that the cache retains
    // no closure of the program.
    guard !isWrite, tracker == nil, source.request.takesPlan else { return try make() }
    var hasher = Hasher()
    hasher.combine(ObjectIdentifier(source))
    hasher.combine(purpose)
    let hash = hasher.finalize()
    // A cached plan retains its source, so no other plan can have the source's identity.
    if let kept = store.recent.object(hash, at: commitNumber) as? DerivedPlan,
      kept.source === source, kept.purpose == purpose
    {
      return kept.plan
    }
    let plan = try make()
    store.recent.note(
      DerivedPlan(source: source, purpose: purpose, plan: plan), hash, at: commitNumber)
    return plan
  }
}
