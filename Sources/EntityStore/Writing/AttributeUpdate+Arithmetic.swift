internal import LodestoreFormat

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Arithmetic on the right side of an assignment in an update. A null operand makes the result null.
// A result beyond the type's range makes the update throw ``StoreError/Code/unstorableValue``.

extension UpdatedAttribute {
  fileprivate static func combined<A, B>(
    _ op: ArithmeticOperator, _ left: UpdatedAttribute<E, A>, _ right: UpdatedAttribute<E, B>
  ) -> Self {
    Self(.arithmetic(op, left.operand, right.operand))
  }

  fileprivate static func combined<A, B: AttributeValue>(
    _ op: ArithmeticOperator, _ left: UpdatedAttribute<E, A>, _ right: B
  ) -> Self {
    Self(.arithmetic(op, left.operand, .value(ConditionConstant.value(right))))
  }
}

// MARK: Dates

extension UpdatedAttribute where Value == Date {
  /// The date plus `seconds`.
  ///
  ///     try tx.update(Loan.all) { $0.dueAt = $0.dueAt + 86_400 }
  public static func + (date: Self, seconds: TimeInterval) -> Self { combined(.add, date, seconds) }

  /// The date minus `seconds`.
  public static func - (date: Self, seconds: TimeInterval) -> Self {
    combined(.subtract, date, seconds)
  }

  /// The date plus the seconds in another attribute.
  public static func + (date: Self, seconds: UpdatedAttribute<E, TimeInterval>) -> Self {
    combined(.add, date, seconds)
  }

  /// The date minus the seconds in another attribute.
  public static func - (date: Self, seconds: UpdatedAttribute<E, TimeInterval>) -> Self {
    combined(.subtract, date, seconds)
  }

  /// The seconds from `start` to `end`; negative when `start` is later.
  public static func - (end: Self, start: Self) -> UpdatedAttribute<E, TimeInterval> {
    .combined(.subtract, end, start)
  }

  /// Adds `seconds` to the date.
  public static func += (date: inout Self, seconds: TimeInterval) { date = date + seconds }

  /// Subtracts `seconds` from the date.
  public static func -= (date: inout Self, seconds: TimeInterval) { date = date - seconds }
}

extension UpdatedAttribute where Value == Date? {
  /// The date plus `seconds`; null for a null date.
  @_documentation(visibility: internal)
  public static func + (date: Self, seconds: TimeInterval) -> Self { combined(.add, date, seconds) }

  /// The date minus `seconds`; null for a null date.
  @_documentation(visibility: internal)
  public static func - (date: Self, seconds: TimeInterval) -> Self {
    combined(.subtract, date, seconds)
  }

  /// The date plus the seconds in another attribute; null when an operand is null.
  @_documentation(visibility: internal)
  public static func + (date: Self, seconds: UpdatedAttribute<E, TimeInterval>) -> Self {
    combined(.add, date, seconds)
  }

  /// The date minus the seconds in another attribute; null when an operand is null.
  @_documentation(visibility: internal)
  public static func - (date: Self, seconds: UpdatedAttribute<E, TimeInterval>) -> Self {
    combined(.subtract, date, seconds)
  }

  /// The seconds from `start` to `end`; null when one of the two is null.
  @_documentation(visibility: internal)
  public static func - (end: Self, start: Self) -> UpdatedAttribute<E, TimeInterval?> {
    .combined(.subtract, end, start)
  }

  /// The seconds from `start` to `end`; null when `end` is null.
  @_documentation(visibility: internal)
  public static func - (
    end: Self, start: UpdatedAttribute<E, Date>
  ) -> UpdatedAttribute<E, TimeInterval?> {
    .combined(.subtract, end, start)
  }

  /// Adds `seconds` to the date; null stays null.
  @_documentation(visibility: internal)
  public static func += (date: inout Self, seconds: TimeInterval) { date = date + seconds }

  /// Subtracts `seconds` from the date; null stays null.
  @_documentation(visibility: internal)
  public static func -= (date: inout Self, seconds: TimeInterval) { date = date - seconds }
}

// Operators for assigning the date of a required attribute to an optional one.
extension UpdatedAttribute where Value == Date? {
  /// The date plus `seconds`, for an optional attribute.
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public static func + (date: UpdatedAttribute<E, Date>, seconds: TimeInterval) -> Self {
    combined(.add, date, seconds)
  }

  /// The date minus `seconds`, for an optional attribute.
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public static func - (date: UpdatedAttribute<E, Date>, seconds: TimeInterval) -> Self {
    combined(.subtract, date, seconds)
  }
}

// MARK: Numbers

extension UpdatedAttribute where Value: AttributeValue & Numeric {
  /// The sum of an attribute and a number.
  public static func + (left: Self, right: Value) -> Self { combined(.add, left, right) }

  /// The sum of two attributes.
  public static func + (left: Self, right: Self) -> Self { combined(.add, left, right) }

  /// The difference of an attribute and a number.
  public static func - (left: Self, right: Value) -> Self { combined(.subtract, left, right) }

  /// The difference of two attributes.
  public static func - (left: Self, right: Self) -> Self { combined(.subtract, left, right) }

  /// The product of an attribute and a number.
  public static func * (left: Self, right: Value) -> Self { combined(.multiply, left, right) }

  /// The product of two attributes.
  public static func * (left: Self, right: Self) -> Self { combined(.multiply, left, right) }
}
