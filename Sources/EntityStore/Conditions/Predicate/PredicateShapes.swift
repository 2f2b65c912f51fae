internal import LodestoreEssentials

// Most nodes compute their value from the values of one or two others. Such a node declares only
// its operation and notation; compiling, folding and writing are implemented here for all of them.

/// The reason why a node has no value, where `evaluate` would trap.
enum PredicateFault: String, Error {
  case overflow
  case divisionByZero = "division by zero"
  case nilUnwrapped = "nil unwrapped"
  case otherType = "value of another type"
  case indexOutOfRange = "index out of range"
  case rangeOutOfRange = "range out of range"
  case reversedRange = "a range that ends before it starts"
  case unknownOperator = "unknown operator"
}

/// A node that computes its value from the value of another node.
protocol UnaryPredicateNode: PredicateNode {
  associatedtype Input: PredicateExpression
  typealias Operation = (Input.Output) throws -> Output

  var input: Input { get }
  /// The operation, which throws ``PredicateFault`` if there is no value.
  var operation: Operation { get }
  var notation: PredicateNotation { get }
}

extension UnaryPredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let input = try scope.compile(input)
    let operation = operation
    return Compiled { frame in
      let value = try input.run(&frame)
      do { return try operation(value) } catch let fault as PredicateFault {
        throw scope.failure(fault, self)
      }
    }
  }

  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand { folded(in: scope) }

  /// Returns the value as a constant, if the input is a constant.
  func folded<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand {
    guard case .constant(let input as Input.Output) = scope.operand(input),
      let value = try? operation(input)
    else { return .opaque }
    return .constant(value)
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    PredicateText(notation, scope.text(input))
  }
}

/// A node that computes its value from the values of two other nodes.
protocol BinaryPredicateNode: PredicateNode {
  associatedtype Left: PredicateExpression
  associatedtype Right: PredicateExpression
  typealias Operation = (Left.Output, Right.Output) throws -> Output

  var operands: (Left, Right) { get }
  /// The operation, which throws ``PredicateFault`` if there is no value.
  var operation: Operation { get }
  var notation: PredicateNotation { get }
  /// The equivalent operator of conditions; for ``Comparison/Operator/in`` the sides are exchanged.
  var sign: Comparison.Operator? { get }
}

extension BinaryPredicateNode {
  var sign: Comparison.Operator? { nil }

  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let left = try scope.compile(operands.0)
    let right = try scope.compile(operands.1)
    let operation = operation
    return Compiled { frame in
      let first = try left.run(&frame)
      let second = try right.run(&frame)
      do { return try operation(first, second) } catch let fault as PredicateFault {
        throw scope.failure(fault, self)
      }
    }
  }

  /// Returns the value as a constant, if both operands are constants.
  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand {
    guard case .constant(let left) = scope.operand(operands.0),
      case .constant(let right) = scope.operand(operands.1), let value = value(left, right)
    else { return .opaque }
    return .constant(value)
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    PredicateText(notation, scope.text(operands.0), scope.text(operands.1))
  }

  /// Returns the value for two constants, or `nil` if `evaluate` would trap.
  func value(_ left: Any, _ right: Any) -> Output? {
    guard let left = left as? Left.Output, let right = right as? Right.Output else { return nil }
    return try? operation(left, right)
  }
}

/// A node that calls a closure with the elements of another node.
protocol ClosurePredicateNode: PredicateNode {
  associatedtype Input: PredicateExpression
  associatedtype Element
  associatedtype Body: PredicateExpression
  typealias Operation = (Input.Output, (Element) throws -> Body.Output) throws -> Output

  var input: Input { get }
  var variable: PredicateExpressions.Variable<Element> { get }
  var body: Body { get }
  var operation: Operation { get }
  var notation: PredicateNotation { get }
}

extension ClosurePredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let input = try scope.compile(input)
    let (inner, slot) = scope.binding(variable)
    let body = try inner.compile(body)
    let operation = operation
    return Compiled { frame in
      try operation(try input.run(&frame)) { element in
        frame.bind(element, to: slot)
        return try body.run(&frame)
      }
    }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    PredicateText(notation, scope.text(input), scope.binding(variable).scope.text(body))
  }
}
