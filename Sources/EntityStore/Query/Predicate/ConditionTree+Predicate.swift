#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension ConditionTree {
  /// Lowers `predicate`, in its order: to clauses where a tree means the same, elsewhere to Swift code
  /// on the decoded entity.
  ///
  /// Throws ``StoreError/Code/invalidQuery`` naming the part that can be neither lowered nor
  /// evaluated.
  init<E: Entity>(_ predicate: Predicate<E>) throws(StoreError) {
    self = try PredicateScope(record: predicate.variable).condition(predicate.expression)
  }
}
