// Arithmetic of which Swift traps, on integers whose type is not known where it is written.

extension FixedWidthInteger {
  func sum(_ other: Any) -> Any? {
    guard let other = other as? Self else { return nil }
    let (value, overflows) = addingReportingOverflow(other)
    return overflows ? nil : value
  }

  func difference(_ other: Any) -> Any? {
    guard let other = other as? Self else { return nil }
    let (value, overflows) = subtractingReportingOverflow(other)
    return overflows ? nil : value
  }

  func product(_ other: Any) -> Any? {
    guard let other = other as? Self else { return nil }
    let (value, overflows) = multipliedReportingOverflow(by: other)
    return overflows ? nil : value
  }

  func negative() -> Any? {
    let (value, overflows) = Self.zero.subtractingReportingOverflow(self)
    return overflows ? nil : value
  }

  fileprivate func overflows(dividedBy other: Any) -> Bool {
    (other as? Self).map { dividedReportingOverflow(by: $0).overflow } ?? true
  }
}

extension BinaryInteger {
  /// Whether `/` and `%` have a value: not by zero, nor of the least integer by -1.
  func canBeDivided(by divisor: Self) -> Bool {
    guard divisor != 0 else { return false }
    return (self as? any FixedWidthInteger).map { !$0.overflows(dividedBy: divisor) } ?? true
  }
}
