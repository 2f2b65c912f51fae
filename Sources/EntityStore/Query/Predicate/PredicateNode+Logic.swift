#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PredicateExpressions.Conjunction: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Bool> {
    let left = try scope.compile(lhs)
    let right = try scope.compile(rhs)
    return Compiled { try left.run(&$0) && right.run(&$0) }
  }

  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    let left = try scope.condition(lhs)
    return .allOf([left, try scope.behind(left, being: true).condition(rhs)])
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    PredicateText(scope.text(lhs), "&&", scope.text(rhs), .and)
  }
}

extension PredicateExpressions.Disjunction: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Bool> {
    let left = try scope.compile(lhs)
    let right = try scope.compile(rhs)
    return Compiled { try left.run(&$0) || right.run(&$0) }
  }

  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    let left = try scope.condition(lhs)
    return .anyOf([left, try scope.behind(left, being: false).condition(rhs)])
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    PredicateText(scope.text(lhs), "||", scope.text(rhs), .or)
  }
}

extension PredicateExpressions.Negation: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Bool> {
    let operand = try scope.compile(wrapped)
    return Compiled { try !operand.run(&$0) }
  }

  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    try scope.condition(wrapped).opposite
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    PredicateText(prefix: "!", scope.text(wrapped))
  }
}

extension PredicateExpressions.Conditional: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let test = try scope.compile(test)
    let first = try scope.compile(trueBranch)
    let second = try scope.compile(falseBranch)
    return Compiled { try test.run(&$0) ? first.run(&$0) : second.run(&$0) }
  }

  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand {
    guard case .constant(let value as Bool) = scope.operand(test) else { return .opaque }
    return value ? scope.operand(trueBranch) : scope.operand(falseBranch)
  }

  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    // The test is evaluated twice then, so it must be cheap and unable to fail.
    guard let first = trueBranch as? any PredicateExpression<Bool>,
      let second = falseBranch as? any PredicateExpression<Bool>,
      let condition = try (test as? any PredicateNode)?.lowered(in: scope),
      condition.isFreeOfClosures
    else { return nil }
    let whenTrue = try scope.behind(condition, being: true).condition(first)
    let whenFalse = try scope.behind(condition, being: false).condition(second)
    if case .constant(let value) = condition { return value ? whenTrue : whenFalse }
    return .anyOf([
      .allOf([condition, whenTrue]), .allOf([condition.opposite, whenFalse]),
    ])
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    let branches = "\(scope.text(trueBranch).string) : \(scope.text(falseBranch).string)"
    return PredicateText("\(scope.text(test).string) ? \(branches)", .ternary)
  }
}
