// Integer arithmetic that throws where Swift traps, for types that are known only at run time.

/// Returns the sum, difference or product of two integers, or throws on overflow.
func checked<T>(_ sign: ArithmeticOperator, _ left: T, _ right: T) throws -> T {
  guard let result = (left as? any FixedWidthInteger)?.combined(sign, right) as? T else {
    throw PredicateFault.overflow
  }
  return result
}

extension FixedWidthInteger {
  fileprivate func combined(_ sign: ArithmeticOperator, _ other: Any) -> Any? {
    guard let other = other as? Self else { return nil }
    let (value, overflows) =
      switch sign {
      case .add: addingReportingOverflow(other)
      case .subtract: subtractingReportingOverflow(other)
      default: multipliedReportingOverflow(by: other)
      }
    return overflows ? nil : value
  }

  fileprivate func overflows(dividedBy other: Any) -> Bool {
    (other as? Self).map { dividedReportingOverflow(by: $0).overflow } ?? true
  }
}

extension BinaryInteger {
  /// Throws if `/` and `%` have no result: for a divisor of zero, and for the least integer divided
  /// by -1.
  func checkDivision(by divisor: Self) throws {
    guard divisor != 0 else { throw PredicateFault.divisionByZero }
    guard let integer = self as? any FixedWidthInteger else { return }
    if integer.overflows(dividedBy: divisor) { throw PredicateFault.overflow }
  }
}
