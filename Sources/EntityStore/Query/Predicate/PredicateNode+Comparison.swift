#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PredicateExpressions.Equal: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Bool> {
    let left = try scope.compile(lhs)
    let right = try scope.compile(rhs)
    return Compiled { try left.run(&$0) == right.run(&$0) }
  }

  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    try scope.lowerEquality(lhs, rhs)
      ?? PredicateOperand.compare(
        scope.operand(lhs), .equal, scope.operand(rhs), as: LHS.Output.self
      ) { $0 == $1 }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    PredicateText(scope.text(lhs), "==", scope.text(rhs), .comparison)
  }
}

extension PredicateExpressions.NotEqual: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Bool> {
    let left = try scope.compile(lhs)
    let right = try scope.compile(rhs)
    return Compiled { try left.run(&$0) != right.run(&$0) }
  }

  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    try scope.lowerEquality(lhs, rhs)?.opposite
      ?? PredicateOperand.compare(
        scope.operand(lhs), .notEqual, scope.operand(rhs), as: LHS.Output.self
      ) { $0 != $1 }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    PredicateText(scope.text(lhs), "!=", scope.text(rhs), .comparison)
  }
}

extension PredicateExpressions.Comparison: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Bool> {
    let left = try scope.compile(lhs)
    let right = try scope.compile(rhs)
    return switch op {
    case .lessThan: Compiled { try left.run(&$0) < right.run(&$0) }
    case .lessThanOrEqual: Compiled { try left.run(&$0) <= right.run(&$0) }
    case .greaterThan: Compiled { try left.run(&$0) > right.run(&$0) }
    case .greaterThanOrEqual: Compiled { try left.run(&$0) >= right.run(&$0) }
    @unknown default: throw .unusableExpression(text(in: scope).string, entity: E.schema.name)
    }
  }

  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    let left = scope.operand(lhs)
    let right = scope.operand(rhs)
    return switch op {
    case .lessThan: PredicateOperand.compare(left, .less, right, as: LHS.Output.self) { $0 < $1 }
    case .lessThanOrEqual:
      PredicateOperand.compare(left, .lessOrEqual, right, as: LHS.Output.self) { $0 <= $1 }
    case .greaterThan:
      PredicateOperand.compare(left, .greater, right, as: LHS.Output.self) { $0 > $1 }
    case .greaterThanOrEqual:
      PredicateOperand.compare(left, .greaterOrEqual, right, as: LHS.Output.self) { $0 >= $1 }
    @unknown default: nil
    }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    let sign =
      switch op {
      case .lessThan: "<"
      case .lessThanOrEqual: "<="
      case .greaterThan: ">"
      case .greaterThanOrEqual: ">="
      @unknown default: "\(op)"
      }
    return PredicateText(scope.text(lhs), sign, scope.text(rhs), .comparison)
  }
}

extension PredicateScope {
  /// Equality with a Boolean constant, whose other side can be any condition.
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
    // Not equal where it is nil, whatever the constant.
    let condition = try condition(optional, whenNil: .constant(!constant))
    return constant ? condition : condition?.opposite
  }
}
