internal import LodestoreFormat

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Arithmetic on the right of an assignment in an update. A null operand makes the result null; a
// result beyond the type's range makes the update throw ``StoreError/Code/unstorableValue``.

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
  /// The date `seconds` later.
  ///
  ///     try tx.update(Loan.all) { $0.dueAt = $0.dueAt + 86_400 }
  public static func + (date: Self, seconds: TimeInterval) -> Self { combined(.add, date, seconds) }

  /// The date `seconds` earlier.
  public static func - (date: Self, seconds: TimeInterval) -> Self {
    combined(.subtract, date, seconds)
  }

  /// The date later by the seconds that another attribute has.
  public static func + (date: Self, seconds: UpdatedAttribute<E, TimeInterval>) -> Self {
    combined(.add, date, seconds)
  }

  /// The date earlier by the seconds that another attribute has.
  public static func - (date: Self, seconds: UpdatedAttribute<E, TimeInterval>) -> Self {
    combined(.subtract, date, seconds)
  }

  /// The seconds from one date to the other; negative where `start` is later.
  public static func - (end: Self, start: Self) -> UpdatedAttribute<E, TimeInterval> {
    .combined(.subtract, end, start)
  }

  /// Makes the date `seconds` later.
  public static func += (date: inout Self, seconds: TimeInterval) { date = date + seconds }

  /// Makes the date `seconds` earlier.
  public static func -= (date: inout Self, seconds: TimeInterval) { date = date - seconds }
}

extension UpdatedAttribute where Value == Date? {
  /// The date `seconds` later; null for null.
  @_documentation(visibility: internal)
  public static func + (date: Self, seconds: TimeInterval) -> Self { combined(.add, date, seconds) }

  /// The date `seconds` earlier; null for null.
  @_documentation(visibility: internal)
  public static func - (date: Self, seconds: TimeInterval) -> Self {
    combined(.subtract, date, seconds)
  }

  /// The date later by the seconds that another attribute has; null where one of the two is.
  @_documentation(visibility: internal)
  public static func + (date: Self, seconds: UpdatedAttribute<E, TimeInterval>) -> Self {
    combined(.add, date, seconds)
  }

  /// The date earlier by the seconds that another attribute has; null where one of the two is.
  @_documentation(visibility: internal)
  public static func - (date: Self, seconds: UpdatedAttribute<E, TimeInterval>) -> Self {
    combined(.subtract, date, seconds)
  }

  /// The seconds from one date to the other; null where one of the two is.
  @_documentation(visibility: internal)
  public static func - (end: Self, start: Self) -> UpdatedAttribute<E, TimeInterval?> {
    .combined(.subtract, end, start)
  }

  /// The seconds from a date to an optional one; null for null.
  @_documentation(visibility: internal)
  public static func - (
    end: Self, start: UpdatedAttribute<E, Date>
  ) -> UpdatedAttribute<E, TimeInterval?> {
    .combined(.subtract, end, start)
  }

  /// Makes the date `seconds` later; null stays null.
  @_documentation(visibility: internal)
  public static func += (date: inout Self, seconds: TimeInterval) { date = date + seconds }

  /// Makes the date `seconds` earlier; null stays null.
  @_documentation(visibility: internal)
  public static func -= (date: inout Self, seconds: TimeInterval) { date = date - seconds }
}

// The right side of an assignment of a required attribute's date to an optional attribute.
extension UpdatedAttribute where Value == Date? {
  /// The date `seconds` later, for an optional attribute.
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public static func + (date: UpdatedAttribute<E, Date>, seconds: TimeInterval) -> Self {
    combined(.add, date, seconds)
  }

  /// The date `seconds` earlier, for an optional attribute.
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
