internal import LodestoreEssentials

// Nodes that do not always evaluate all of their parts.

extension PredicateExpressions.Conjunction: BinaryPredicateNode {
  var operands: (LHS, RHS) { (lhs, rhs) }
  var operation: Operation { { $0 && $1 } }
  var notation: PredicateNotation { .infix("&&", .and) }

  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Bool> {
    let left = try scope.compile(lhs)
    let right = try scope.compile(rhs)
    return Compiled { try left.run(&$0) && right.run(&$0) }
  }

  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    let left = try scope.condition(lhs)
    return .allOf([left, try scope.assuming(left, is: true).condition(rhs)])
  }
}

extension PredicateExpressions.Disjunction: BinaryPredicateNode {
  var operands: (LHS, RHS) { (lhs, rhs) }
  var operation: Operation { { $0 || $1 } }
  var notation: PredicateNotation { .infix("||", .or) }

  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Bool> {
    let left = try scope.compile(lhs)
    let right = try scope.compile(rhs)
    return Compiled { try left.run(&$0) || right.run(&$0) }
  }

  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    let left = try scope.condition(lhs)
    return .anyOf([left, try scope.assuming(left, is: false).condition(rhs)])
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
    // The test becomes part of both branches, so it must be cheap and unable to fail.
    guard let first = trueBranch as? any PredicateExpression<Bool>,
      let second = falseBranch as? any PredicateExpression<Bool>,
      let condition = try (test as? any PredicateNode)?.lowered(in: scope),
      condition.isFreeOfClosures
    else { return nil }
    let whenTrue = try scope.assuming(condition, is: true).condition(first)
    let whenFalse = try scope.assuming(condition, is: false).condition(second)
    if case .constant(let value) = condition { return value ? whenTrue : whenFalse }
    return .anyOf([.allOf([condition, whenTrue]), .allOf([condition.opposite, whenFalse])])
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    let branches = "\(scope.text(trueBranch).string) : \(scope.text(falseBranch).string)"
    return PredicateText("\(scope.text(test).string) ? \(branches)", .ternary)
  }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let wrapped = try scope.compile(wrapped)
    let key = try scope.compile(key)
    let fallback = try scope.compile(self.default)
    return Compiled { frame in
      if let value = try wrapped.run(&frame)[key.run(&frame)] { return value }
      return try fallback.run(&frame)
    }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    let arguments = "\(scope.text(key).string), default: \(scope.text(self.default).string)"
    return scope.text(wrapped).followed(by: "[\(arguments)]")
  }
}
