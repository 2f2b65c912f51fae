/// The reason why a closure of a predicate failed for an entity.
struct PredicateEvaluationError: Error, Hashable, CustomStringConvertible {
  let reason: String
  /// The part of the predicate, as its author would write it.
  let expression: String

  init(_ reason: String, in expression: String) {
    self.reason = reason
    self.expression = expression
  }

  var description: String { "\(reason) in '\(expression)'" }
}
