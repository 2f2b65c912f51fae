// What people try first, refused with what to write instead.
//
// No overload of `&&` and `||`: together with `==` on attributes, even unavailable ones for two conditions,
// with a result of their own, made the compiler take 3 to 34 seconds for faulty chains in unrelated code
// (Swift 6.3; UnrelatedChains in the tests has some). None of lines that are Swift's own `Bool`: with one,
// the compiler talks of other operators where a type is wrong.

extension ConditionBuilder {
  /// Refused: an attribute that is neither true nor false.
  @available(
    *, unavailable,
    message: "only a Bool is a condition by itself; compare this attribute with a value"
  )
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public static func buildExpression<Value>(_ attribute: Attribute<E, Value>) -> Condition<E> {
    .allOf([])
  }
}

extension ConditionBuilder {
  /// Refused: an assignment, or a call without a result.
  @available(*, unavailable, message: "a line of a condition compares: write == for =")
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public static func buildExpression(_ line: Void) -> Condition<E> { .allOf([]) }
}

extension Attribute {
  /// Refused: null, of a required attribute.
  @available(
    *, unavailable, message: "this attribute is required and never nil; leave the line out"
  )
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public static func == (lhs: Self, rhs: _OptionalNilComparisonType) -> Condition<E> { .all }

  /// Refused: null, of a required attribute.
  @available(
    *, unavailable, message: "this attribute is required and never nil; leave the line out"
  )
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public static func != (lhs: Self, rhs: _OptionalNilComparisonType) -> Condition<E> { .all }
}

extension Entity {
  /// Refused: a key path is no condition.
  @available(*, unavailable, message: "a condition is a closure: where { $0.isSeen }")
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public static func `where`<Value>(
    _ path: KeyPath<Attributes, Attribute<Self, Value>>
  ) -> Query<Self> { all }
}

extension Query {
  /// Refused: a key path is no condition.
  @available(*, unavailable, message: "a condition is a closure: where { $0.isSeen }")
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public func `where`<Value>(_ path: KeyPath<E.Attributes, Attribute<E, Value>>) -> Query { self }
}

// Of a condition by a key path the compiler says otherwise that it cannot tell the path's type. With these
// for values of any type, it would talk of key paths where a case of an enumeration is misspelt.

/// Refused: a comparison of a key path.
@available(*, unavailable, message: "a condition is a closure: where { $0.episode == 4 }")
@_disfavoredOverload
@_documentation(visibility: internal)
public func == <E: Entity, Value: AttributeValue>(
  path: KeyPath<E.Attributes, Attribute<E, Value>>, value: Value
) -> Condition<E> { .all }

/// Refused: a comparison of a key path.
@available(*, unavailable, message: "a condition is a closure: where { $0.episode != 4 }")
@_disfavoredOverload
@_documentation(visibility: internal)
public func != <E: Entity, Value: AttributeValue>(
  path: KeyPath<E.Attributes, Attribute<E, Value>>, value: Value
) -> Condition<E> { .all }

/// Refused: a comparison of a key path.
@available(*, unavailable, message: "a condition is a closure: where { $0.episode < 4 }")
@_disfavoredOverload
@_documentation(visibility: internal)
public func < <E: Entity, Value: AttributeValue>(
  path: KeyPath<E.Attributes, Attribute<E, Value>>, value: Value
) -> Condition<E> { .all }

/// Refused: a comparison of a key path.
@available(*, unavailable, message: "a condition is a closure: where { $0.episode <= 4 }")
@_disfavoredOverload
@_documentation(visibility: internal)
public func <= <E: Entity, Value: AttributeValue>(
  path: KeyPath<E.Attributes, Attribute<E, Value>>, value: Value
) -> Condition<E> { .all }

/// Refused: a comparison of a key path.
@available(*, unavailable, message: "a condition is a closure: where { $0.episode > 4 }")
@_disfavoredOverload
@_documentation(visibility: internal)
public func > <E: Entity, Value: AttributeValue>(
  path: KeyPath<E.Attributes, Attribute<E, Value>>, value: Value
) -> Condition<E> { .all }

/// Refused: a comparison of a key path.
@available(*, unavailable, message: "a condition is a closure: where { $0.episode >= 4 }")
@_disfavoredOverload
@_documentation(visibility: internal)
public func >= <E: Entity, Value: AttributeValue>(
  path: KeyPath<E.Attributes, Attribute<E, Value>>, value: Value
) -> Condition<E> { .all }
