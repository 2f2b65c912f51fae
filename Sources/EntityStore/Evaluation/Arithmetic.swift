import LodestoreSystem

/// Arithmetic of expressions, which never traps: an operation without a result gives null.
///
/// Integers stay integers and are exact to 64 bits, and a quotient of integers is rounded towards
/// zero. If an operand is a double, the result is a double. A number of seconds can be added to a
/// date and subtracted from it.
enum Arithmetic {
  static func value(
    _ op: ArithmeticOperator, _ left: DynamicValue, _ right: DynamicValue
  ) -> DynamicValue {
    if let date = dates(op, left, right) { return date }
    guard let a = left.number, let b = right.number else { return .null }
    if case (.integer(let x), .integer(let y)) = (a, b), op != .power {
      return integers(op, x, y).map { DynamicValue(.integer($0)) } ?? .null
    }
    if op.isBitwise { return .null }
    return .double(doubles(op, a.double, b.double))
  }

  private static func dates(
    _ op: ArithmeticOperator, _ left: DynamicValue, _ right: DynamicValue
  ) -> DynamicValue? {
    switch (left, right, op) {
    case (.date(let a), .date(let b), .subtract): .double(a - b)
    case (.date(let a), _, .add): right.number.map { .date(a + $0.double) } ?? .null
    case (.date(let a), _, .subtract): right.number.map { .date(a - $0.double) } ?? .null
    case (_, .date(let b), .add): left.number.map { .date($0.double + b) } ?? .null
    case (.date, _, _), (_, .date, _): .null
    default: nil
    }
  }

  /// Returns the result for two integers of at most 64 bits, so no sum or product overflows 128
  /// bits.
  private static func integers(_ op: ArithmeticOperator, _ a: Int128, _ b: Int128) -> Int128? {
    switch op {
    case .add: a + b
    case .subtract: a - b
    case .multiply: a.multipliedReportingOverflow(by: b).overflow ? nil : a * b
    case .divide: b == 0 ? nil : a / b
    case .remainder: b == 0 ? nil : a % b
    case .power: nil
    case .and: a & b
    case .or: a | b
    case .exclusiveOr: a ^ b
    case .shiftLeft: b < 0 ? nil : a == 0 ? 0 : b > 64 ? nil : a << b
    case .shiftRight: b < 0 ? nil : a >> b
    }
  }

  private static func doubles(_ op: ArithmeticOperator, _ a: Double, _ b: Double) -> Double {
    switch op {
    case .add: a + b
    case .subtract: a - b
    case .multiply: a * b
    case .divide: a / b
    case .remainder: a.truncatingRemainder(dividingBy: b)
    case .power: pow(a, b)
    case .and, .or, .exclusiveOr, .shiftLeft, .shiftRight: .nan
    }
  }

  /// Returns the integer with all bits inverted.
  static func complement(_ value: DynamicValue) -> DynamicValue {
    guard case .integer(let integer)? = value.number else { return .null }
    return DynamicValue(.integer(~integer))
  }

  static func rounded(_ function: OperandFunction, _ value: DynamicValue) -> DynamicValue {
    guard let number = value.number else { return .null }
    switch number {
    case .integer(let integer):
      return DynamicValue(.integer(function == .abs && integer < 0 ? -integer : integer))
    case .double(let double):
      switch function {
      case .abs: return .double(double.magnitude)
      case .floor: return .double(double.rounded(.down))
      case .ceiling: return .double(double.rounded(.up))
      default: return .double(double.rounded(.towardZero))
      }
    }
  }

  // MARK: Collections

  /// Returns the aggregate of the values that are not null.
  ///
  /// Without values a sum or count is 0, and other results are null.
  ///
  /// The minimum and maximum ignore not-a-number, which has no order. Otherwise the result would
  /// depend on its position among the values.
  static func aggregate(_ op: CollectionOperator, _ values: [DynamicValue]) throws -> DynamicValue {
    let present = values.filter { !$0.isNull }
    switch op {
    case .count: return .integer(Int64(present.count))
    case .sum: return sum(present)
    case .avg:
      let numbers = present.compactMap(\.number)
      guard !numbers.isEmpty else { return .null }
      return .double(numbers.reduce(0) { $0 + $1.double } / Double(numbers.count))
    case .min: return try extreme(present, -1)
    case .max: return try extreme(present, 1)
    }
  }

  private static func sum(_ values: [DynamicValue]) -> DynamicValue {
    var total: DynamicValue = .integer(0)
    for value in values where value.number != nil {
      let next = Self.value(.add, total, value)
      guard !next.isNull else { return .null }
      total = next
    }
    return total
  }

  private static func extreme(_ values: [DynamicValue], _ sign: Int) throws -> DynamicValue {
    var best: DynamicValue = .null
    for value in values where !value.isNotANumber {
      if best.isNull {
        best = value
      } else if let order = try DynamicValue.order(value, best, []), order * sign > 0 {
        best = value
      }
    }
    return best
  }
}
