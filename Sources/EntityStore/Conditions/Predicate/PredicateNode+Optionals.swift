internal import LodestoreEssentials

extension PredicateExpressions.NilCoalesce: BinaryPredicateNode {
  var operands: (LHS, RHS) { (lhs, rhs) }
  var operation: Operation { { $0 ?? $1 } }
  var notation: PredicateNotation { .infix("??", .coalescing) }

  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let left = try scope.compile(lhs)
    let right = try scope.compile(rhs)
    return Compiled { frame in
      if let value = try left.run(&frame) { return value }
      return try right.run(&frame)
    }
  }

  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand {
    switch scope.operand(lhs) {
    case .attribute(let attribute):
      guard attribute.isScalar, case .constant(let value) = scope.operand(rhs) else {
        return .opaque
      }
      return .defaulted(attribute, value)
    case .constant(let value as LHS.Output):
      return value.map { .constant($0) } ?? scope.operand(rhs)
    default: return .opaque
    }
  }

  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    guard let left = lhs as? any PredicateExpression<Bool?>,
      let right = rhs as? any PredicateExpression<Bool>
    else { return nil }
    return try scope.condition(left, whenNil: scope.condition(right))
  }
}

extension PredicateExpressions.OptionalFlatMap: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let wrapped = try scope.compile(wrapped)
    let (inner, slot) = scope.binding(variable)
    let code: Any = try inner.compile(transform)
    let plain = (code as? Compiled<E, Result>).map { plain in
      Compiled<E, Result?> { try plain.run(&$0) }
    }
    guard let transform = plain ?? code as? Compiled<E, Result?> else {
      throw .unusableExpression(text(in: scope).string, entity: E.schema.name)
    }
    return Compiled { frame in
      guard let value = try wrapped.run(&frame) else { return nil }
      frame.bind(value, to: slot)
      return try transform.run(&frame)
    }
  }

  func lowered<E: Entity>(
    in scope: PredicateScope<E>, whenNil: ConditionTree
  ) throws(StoreError) -> ConditionTree? {
    let operand = scope.operand(wrapped)
    let inner = scope.unwrapping(wrapped, as: variable)
    func body() throws(StoreError) -> ConditionTree? {
      if let transform = transform as? any PredicateExpression<Bool> {
        return try inner.condition(transform)
      }
      guard let transform = transform as? any PredicateExpression<Bool?> else { return nil }
      return try inner.condition(transform, whenNil: whenNil)
    }
    switch operand {
    case .constant(let value as Wrapped?): return value == nil ? whenNil : try body()
    case .attribute(let attribute):
      guard attribute.isScalar, !(Wrapped.self is any OptionalValue.Type), let body = try body()
      else { return nil }
      let whenPresent = ConditionTree.allOf([attribute.isNotNull, body])
      return .anyOf([whenPresent, .allOf([attribute.isNull, whenNil])])
    default: return nil
    }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    let transform = scope.binding(variable).scope.text(transform)
    return PredicateText(.closure("flatMap"), scope.text(wrapped), transform)
  }
}
