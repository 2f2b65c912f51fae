internal import LodestoreFormat

extension Comparison {
  /// Returns the comparison with constant expressions replaced by the values that evaluation would
  /// give.
  func withFoldedConstants() -> Comparison {
    guard left.hasFoldableParts || right.hasFoldableParts else { return self }
    var folded = self
    folded.left = left.folded()
    folded.right = right.folded()
    return folded
  }
}

extension Operand {
  /// Whether ``folded()`` could change the operand.
  ///
  /// The check is cheap, since most operands are paths and constants.
  fileprivate var hasFoldableParts: Bool {
    switch self {
    case .value, .values, .path, .variable: false
    case .list, .arithmetic, .negative, .conditional, .subquery, .cast, .call: true
    }
  }

  /// Returns the value if all parts are constants, otherwise the operand with its constant parts
  /// folded.
  func folded() -> Operand {
    switch self {
    case .value, .values, .path, .variable, .subquery, .conditional: return self
    case .list(let elements):
      let elements = elements.map { $0.folded() }
      let values = elements.compactMap(\.constant)
      return values.count == elements.count ? .values(values) : .list(elements)
    case .arithmetic(let op, let left, let right):
      let (left, right) = (left.folded(), right.folded())
      if let a = left.constant, let b = right.constant,
        let value = Value(Arithmetic.value(op, DynamicValue(a), DynamicValue(b)))
      {
        return .value(value)
      }
      return .arithmetic(op, left, right)
    case .negative(let inner):
      let inner = inner.folded()
      if let constant = inner.constant,
        let value = Value(Arithmetic.value(.subtract, .integer(0), DynamicValue(constant)))
      {
        return .value(value)
      }
      return .negative(inner)
    case .cast(let inner, let type):
      let inner = inner.folded()
      if type != .json, let constant = inner.constant,
        let value = Value(Cast.value(DynamicValue(constant), to: type))
      {
        return .value(value)
      }
      return .cast(inner, type)
    case .call(let function, let arguments): return folded(function, arguments.map { $0.folded() })
    }
  }

  private func folded(_ function: OperandFunction, _ arguments: [Operand]) -> Operand {
    let call = Operand.call(function, arguments)
    guard arguments.count == 1, let constant = arguments[0].constant else { return call }
    let argument = DynamicValue(constant)
    let value: DynamicValue? =
      switch function {
      case .uppercase, .lowercase, .canonical, .length, .abs, .floor, .ceiling, .trunc, .sqrt,
        .onesComplement:
        ConditionEvaluator.call(function, on: argument)
      default: nil
      }
    return value.flatMap { Value($0) }.map { .value($0) } ?? call
  }

  /// The constant, if the operand is a scalar one.
  private var constant: Value? {
    switch self {
    case .value(.document): nil
    case .value(let value): value
    default: nil
    }
  }
}

extension Value {
  /// Creates a constant from the result of folding.
  ///
  /// The result is `nil` for collections and for values in a record's bytes. Null also gives `nil`,
  /// so that the kinds of the original operands are still checked.
  fileprivate init?(_ value: DynamicValue) {
    switch value {
    case .null, .text, .data, .collection, .list: return nil
    case .bool, .integer, .unsigned, .double, .decimal, .date, .uuid, .string, .bytes:
      self = value.owned
    }
  }
}
