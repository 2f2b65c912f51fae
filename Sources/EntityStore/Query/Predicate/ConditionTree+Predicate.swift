#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

extension ConditionTree {
  /// Lowers `predicate`: clauses where the tree means the same, Swift code on the decoded entity
  /// where it does not, in the order of the author.
  ///
  /// Throws ``StoreError/Code/invalidQuery`` naming the part that can be neither lowered nor
  /// evaluated.
  package init<E: Entity>(_ predicate: Predicate<E>) throws(StoreError) {
    self = try PredicateScope(record: predicate.variable).condition(predicate.expression)
  }
}
