internal import LMDB
internal import LodestoreFormat

/// A plan that was made out of another one, for a question about the same records; kept with it.
final class DerivedPlan: Sendable {
  /// What the plan is for.
  enum Purpose: Hashable {
    /// All values of attributes, from the entries of an index.
    case covering([UInt32])
    /// Each value of attributes once, by steps.
    case stepping([UInt32])
    /// The record with the lowest or highest value of an attribute.
    case first(UInt32, isDescending: Bool)
  }

  let source: QueryPlan
  let purpose: Purpose
  /// `nil` where there is none.
  let plan: QueryPlan?

  init(source: QueryPlan, purpose: Purpose, plan: QueryPlan?) {
    (self.source, self.purpose, self.plan) = (source, purpose, plan)
  }
}

extension TransactionCore {
  /// The plan for `purpose` that `make` makes out of `source`: the same again where `source` is one that
  /// is kept.
  func plan(
    for purpose: DerivedPlan.Purpose, from source: QueryPlan,
    _ make: () throws(StoreError) -> QueryPlan?
  ) throws(StoreError) -> QueryPlan? {
    // Of a source that is not kept itself nothing is, so that no closure of the program is held.
    guard !isWrite, tracker == nil, source.request.takesPlan else { return try make() }
    var hasher = Hasher()
    hasher.combine(ObjectIdentifier(source))
    hasher.combine(purpose)
    let hash = hasher.finalize()
    // Whatever is kept has its source, so that no other plan can have that one's identity.
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
