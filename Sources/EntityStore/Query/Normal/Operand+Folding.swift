internal import LodestoreFormat

extension Comparison {
  /// The comparison with expressions of constants replaced by their values, as the evaluation of a
  /// record would find them.
  func withFoldedConstants() -> Comparison {
    guard left.hasFoldableParts || right.hasFoldableParts else { return self }
    var folded = self
    folded.left = left.folded()
    folded.right = right.folded()
    return folded
  }
}

extension Operand {
  /// Whether ``folded()`` could change it: cheap, as most operands are paths and constants.
  fileprivate var hasFoldableParts: Bool {
    switch self {
    case .value, .values, .path, .variable: false
    case .list, .arithmetic, .negative, .conditional, .subquery, .cast, .call: true
    }
  }

  /// The value where all parts are constants; otherwise with those parts folded that are.
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
    case .call(let function, let arguments):
      return folded(function, arguments.map { $0.folded() })
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

  /// A scalar constant.
  private var constant: Value? {
    switch self {
    case .value(.document): nil
    case .value(let value): value
    default: nil
    }
  }
}

extension Value {
  /// The value as a constant; `nil` for collections, for what lies in a record, and for null, as
  /// the kinds of what gives no value are still to be checked.
  fileprivate init?(_ value: DynamicValue) {
    switch value {
    case .null, .text, .data, .collection, .list: return nil
    case .bool, .integer, .unsigned, .double, .decimal, .date, .uuid, .string, .bytes:
      self = value.owned
    }
  }
}
