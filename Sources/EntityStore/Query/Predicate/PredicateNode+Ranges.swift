#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PredicateExpressions.Range: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let low = try scope.compile(lower)
    let high = try scope.compile(upper)
    return Compiled { frame in
      let lowest = try low.run(&frame)
      let end = try high.run(&frame)
      guard lowest <= end else { throw scope.failure("a range that ends before it starts", self) }
      return lowest..<end
    }
  }

  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand {
    guard case .constant(let low as LHS.Output) = scope.operand(lower),
      case .constant(let high as LHS.Output) = scope.operand(upper), low <= high
    else { return .opaque }
    return .constant(low..<high)
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    PredicateText(scope.text(lower), "..<", scope.text(upper), .range)
  }
}

extension PredicateExpressions.ClosedRange: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let low = try scope.compile(lower)
    let high = try scope.compile(upper)
    return Compiled { frame in
      let lowest = try low.run(&frame)
      let highest = try high.run(&frame)
      guard lowest <= highest else {
        throw scope.failure("a range that ends before it starts", self)
      }
      return lowest...highest
    }
  }

  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand {
    guard case .constant(let low as LHS.Output) = scope.operand(lower),
      case .constant(let high as LHS.Output) = scope.operand(upper), low <= high
    else { return .opaque }
    return .constant(low...high)
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    PredicateText(scope.text(lower), "...", scope.text(upper), .range)
  }
}

extension PredicateExpressions.RangeExpressionContains: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Bool> {
    let range = try scope.compile(range)
    let element = try scope.compile(element)
    return Compiled { try range.run(&$0).contains(element.run(&$0)) }
  }

  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    guard case .constant(let range) = scope.operand(range),
      let range = range as? any ConstantRange
    else { return nil }
    return PredicateOperand.isMember(scope.operand(element), of: range)
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    scope.text(range).followed(by: ".contains(\(scope.text(element).string))")
  }
}
