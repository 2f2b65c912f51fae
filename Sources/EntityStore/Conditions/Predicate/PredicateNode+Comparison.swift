internal import LodestoreEssentials

extension PredicateExpressions.Equal: BinaryPredicateNode {
  var operands: (LHS, RHS) { (lhs, rhs) }
  var operation: Operation { { $0 == $1 } }
  var notation: PredicateNotation { .infix("==", .comparison) }
  var sign: Comparison.Operator? { .equal }

  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    try scope.lowerEquality(lhs, rhs) ?? condition(in: scope)
  }
}

extension PredicateExpressions.NotEqual: BinaryPredicateNode {
  var operands: (LHS, RHS) { (lhs, rhs) }
  var operation: Operation { { $0 != $1 } }
  var notation: PredicateNotation { .infix("!=", .comparison) }
  var sign: Comparison.Operator? { .notEqual }

  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    try scope.lowerEquality(lhs, rhs)?.opposite ?? condition(in: scope)
  }
}

extension PredicateExpressions.Comparison: BinaryPredicateNode {
  var operands: (LHS, RHS) { (lhs, rhs) }

  var operation: Operation {
    switch op {
    case .lessThan: { $0 < $1 }
    case .lessThanOrEqual: { $0 <= $1 }
    case .greaterThan: { $0 > $1 }
    case .greaterThanOrEqual: { $0 >= $1 }
    @unknown default: { _, _ in throw PredicateFault.unknownOperator }
    }
  }

  var notation: PredicateNotation { .infix(sign?.canonicalText ?? "\(op)", .comparison) }

  var sign: Comparison.Operator? {
    switch op {
    case .lessThan: .less
    case .lessThanOrEqual: .lessOrEqual
    case .greaterThan: .greater
    case .greaterThanOrEqual: .greaterOrEqual
    @unknown default: nil
    }
  }
}

extension PredicateScope {
  /// Lowers equality with a Boolean constant, for which the other side can be any condition.
  fileprivate func lowerEquality<L: PredicateExpression>(
    _ lhs: L, _ rhs: some PredicateExpression
  ) throws(StoreError) -> ConditionTree? {
    guard L.Output.self == Bool.self || L.Output.self == Bool?.self else { return nil }
    if let constant = boolean(rhs) { return try lowerEquality(lhs, with: constant) }
    if let constant = boolean(lhs) { return try lowerEquality(rhs, with: constant) }
    return nil
  }

  private func boolean(_ node: some PredicateExpression) -> Bool? {
    switch node {
    case let node as PredicateExpressions.Value<Bool>: node.value
    case let node as PredicateExpressions.Value<Bool?>: node.value
    default: nil
    }
  }

  private func lowerEquality(
    _ node: some PredicateExpression, with constant: Bool
  ) throws(StoreError) -> ConditionTree? {
    guard let node = node as? any PredicateNode else { return nil }
    if let node = node as? any PredicateExpression<Bool> {
      let condition = try condition(node)
      return constant ? condition : condition.opposite
    }
    guard let optional = node as? any PredicateExpression<Bool?> else { return nil }
    // If the other side is nil, it equals neither `true` nor `false`.
    let condition = try condition(optional, whenNil: .constant(!constant))
    return constant ? condition : condition?.opposite
  }
}
