internal import LodestoreEssentials

extension PredicateExpressions.Negation: UnaryPredicateNode {
  var input: Wrapped { wrapped }
  var operation: Operation { { !$0 } }
  var notation: PredicateNotation { .prefix("!") }

  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    try scope.condition(wrapped).opposite
  }
}

extension PredicateExpressions.UnaryMinus: UnaryPredicateNode {
  var input: Wrapped { wrapped }
  var notation: PredicateNotation { .prefix("-") }

  var operation: Operation {
    guard Output.self is any FixedWidthInteger.Type else { return { -$0 } }
    return { try checked(.subtract, Output.zero, $0) }
  }
}

extension PredicateExpressions.ForcedUnwrap: UnaryPredicateNode {
  var input: Inner { inner }
  var notation: PredicateNotation { .suffix("!") }

  var operation: Operation {
    { optional in
      guard let value = optional else { throw PredicateFault.nilUnwrapped }
      return value
    }
  }

  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand {
    guard case .attribute(let attribute) = scope.operand(inner) else { return folded(in: scope) }
    return scope.isPresent(attribute.name) ? .attribute(attribute) : .opaque
  }
}

extension PredicateExpressions.ConditionalCast: UnaryPredicateNode {
  var operation: Operation { { $0 as? Desired } }
  var notation: PredicateNotation { .cast("as?", Desired.self) }
}

extension PredicateExpressions.ForceCast: UnaryPredicateNode {
  var notation: PredicateNotation { .cast("as!", Desired.self) }

  var operation: Operation {
    { input in
      guard let value = input as? Desired else { throw PredicateFault.otherType }
      return value
    }
  }
}

extension PredicateExpressions.TypeCheck: UnaryPredicateNode {
  var operation: Operation { { $0 is Desired } }
  var notation: PredicateNotation { .cast("is", Desired.self) }
}

extension PredicateExpressions.SequenceMinimum: UnaryPredicateNode {
  var input: Elements { elements }
  var operation: Operation { { $0.min() } }
  var notation: PredicateNotation { .suffix(".min()") }
}

extension PredicateExpressions.SequenceMaximum: UnaryPredicateNode {
  var input: Elements { elements }
  var operation: Operation { { $0.max() } }
  var notation: PredicateNotation { .suffix(".max()") }
}

// MARK: Closures over elements

extension PredicateExpressions.SequenceContainsWhere: ClosurePredicateNode {
  var input: LHS { sequence }
  var body: RHS { test }
  var operation: Operation { { try $0.contains(where: $1) } }
  var notation: PredicateNotation { .closure("contains") }
}

extension PredicateExpressions.SequenceAllSatisfy: ClosurePredicateNode {
  var input: LHS { sequence }
  var body: RHS { test }
  var operation: Operation { { try $0.allSatisfy($1) } }
  var notation: PredicateNotation { .closure("allSatisfy") }
}

extension PredicateExpressions.Filter: ClosurePredicateNode {
  var input: LHS { sequence }
  var body: RHS { filter }
  var operation: Operation { { try $0.filter($1) } }
  var notation: PredicateNotation { .closure("filter") }
}
