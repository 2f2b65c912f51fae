#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PredicateExpressions.Arithmetic: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let left = try scope.compile(lhs)
    let right = try scope.compile(rhs)
    let operation = try operation(in: scope)
    return Compiled { frame in
      guard let value = operation(try left.run(&frame), try right.run(&frame)) else {
        throw scope.failure("overflow", self)
      }
      return value
    }
  }

  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand {
    guard case .constant(let left as Output) = scope.operand(lhs),
      case .constant(let right as Output) = scope.operand(rhs),
      let value = try? operation(in: scope)(left, right)
    else { return .opaque }
    return .constant(value)
  }

  private func operation<E: Entity>(
    in scope: PredicateScope<E>
  ) throws(StoreError) -> (Output, Output) -> Output? {
    switch op {
    case .add:
      checked {
        $0 + $1
      } integers: {
        $0.sum($1)
      }
    case .subtract:
      checked {
        $0 - $1
      } integers: {
        $0.difference($1)
      }
    case .multiply:
      checked {
        $0 * $1
      } integers: {
        $0.product($1)
      }
    @unknown default: throw .unusableExpression(text(in: scope).string, entity: E.schema.name)
    }
  }

  private func checked(
    _ plain: @escaping (Output, Output) -> Output,
    integers: @escaping (any FixedWidthInteger, Any) -> Any?
  ) -> (Output, Output) -> Output? {
    guard Output.self is any FixedWidthInteger.Type else { return plain }
    return { left, right in
      (left as? any FixedWidthInteger).flatMap { integers($0, right) } as? Output
    }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    let left = scope.text(lhs)
    let right = scope.text(rhs)
    return switch op {
    case .add: PredicateText(left, "+", right, .sum)
    case .subtract: PredicateText(left, "-", right, .sum)
    case .multiply: PredicateText(left, "*", right, .product)
    @unknown default: PredicateText(left, "\(op)", right, .product)
    }
  }
}

extension PredicateExpressions.UnaryMinus: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let operand = try scope.compile(wrapped)
    return Compiled { frame in
      guard let value = negative(of: try operand.run(&frame)) else {
        throw scope.failure("overflow", self)
      }
      return value
    }
  }

  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand {
    guard case .constant(let operand as Output) = scope.operand(wrapped),
      let value = negative(of: operand)
    else { return .opaque }
    return .constant(value)
  }

  private func negative(of value: Output) -> Output? {
    guard let integer = value as? any FixedWidthInteger else { return -value }
    return integer.negative() as? Output
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    PredicateText(prefix: "-", scope.text(wrapped))
  }
}

extension PredicateExpressions.IntDivision: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let left = try scope.compile(lhs)
    let right = try scope.compile(rhs)
    return Compiled { frame in
      let dividend = try left.run(&frame)
      let divisor = try right.run(&frame)
      guard divisor != 0 else { throw scope.failure("division by zero", self) }
      guard dividend.canBeDivided(by: divisor) else { throw scope.failure("overflow", self) }
      return dividend / divisor
    }
  }

  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand {
    guard case .constant(let left as Output) = scope.operand(lhs),
      case .constant(let right as Output) = scope.operand(rhs), left.canBeDivided(by: right)
    else { return .opaque }
    return .constant(left / right)
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    PredicateText(scope.text(lhs), "/", scope.text(rhs), .product)
  }
}

extension PredicateExpressions.IntRemainder: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let left = try scope.compile(lhs)
    let right = try scope.compile(rhs)
    return Compiled { frame in
      let dividend = try left.run(&frame)
      let divisor = try right.run(&frame)
      guard divisor != 0 else { throw scope.failure("division by zero", self) }
      guard dividend.canBeDivided(by: divisor) else { throw scope.failure("overflow", self) }
      return dividend % divisor
    }
  }

  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand {
    guard case .constant(let left as Output) = scope.operand(lhs),
      case .constant(let right as Output) = scope.operand(rhs), left.canBeDivided(by: right)
    else { return .opaque }
    return .constant(left % right)
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    PredicateText(scope.text(lhs), "%", scope.text(rhs), .product)
  }
}

extension PredicateExpressions.FloatDivision: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let left = try scope.compile(lhs)
    let right = try scope.compile(rhs)
    return Compiled { try left.run(&$0) / right.run(&$0) }
  }

  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand {
    guard case .constant(let left as Output) = scope.operand(lhs),
      case .constant(let right as Output) = scope.operand(rhs)
    else { return .opaque }
    return .constant(left / right)
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    PredicateText(scope.text(lhs), "/", scope.text(rhs), .product)
  }
}
