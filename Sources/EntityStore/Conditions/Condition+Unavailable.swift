// Conditions in forms that people try first, refused with a message that shows the right form.
//
// `&&` and `||` are refused between two conditions, by functions whose result type nothing else
// takes. With a condition as the result, or with further operands, the compiler slows down on
// unrelated code. For 30 faulty chains it takes 12 to 80 seconds instead of 0.5 (Swift 6.3;
// `faultyChains` of the tests). For a chain of three conditions the compiler therefore names the
// result type, whose name tells the author how to write the condition.
//
// No overload refuses `store.read { $0 }`. The compiler prefers a closure without a result to an
// unavailable overload. A deprecated overload would also be chosen for correct closures of several
// lines.
//
// No overload takes lines of Swift's own `Bool`. With such an overload, the compiler reports other
// operators where a type is wrong.

/// The result of joining conditions by `&&`, which is refused.
@_documentation(visibility: internal)
public struct _WriteEachConditionOnALine<E: Entity> {}

/// The result of joining conditions by `||`, which is refused.
@_documentation(visibility: internal)
public struct _WriteAnyOf<E: Entity> {}

/// Refused, because the lines of a condition are already joined by AND.
@available(
  *, unavailable,
  message:
    "write each condition on a line of its own, or separate them by ';': all of them must hold"
)
@_disfavoredOverload @_documentation(visibility: internal)
public func && <E: Entity>(lhs: Condition<E>, rhs: Condition<E>) -> _WriteEachConditionOnALine<E> {
  _WriteEachConditionOnALine()
}

/// Refused, because ``anyOf(_:)`` joins alternatives.
@available(
  *, unavailable, message: "write anyOf($0.isSeen, $0.episode == 4): one of them must hold"
)
@_disfavoredOverload @_documentation(visibility: internal)
public func || <E: Entity>(lhs: Condition<E>, rhs: Condition<E>) -> _WriteAnyOf<E> { _WriteAnyOf() }

extension ConditionBuilder {
  /// Takes the result of the refused `&&`, so that the compiler reports the operator.
  @_disfavoredOverload @_documentation(visibility: internal)
  public static func buildExpression(_ line: _WriteEachConditionOnALine<E>) -> Condition<E> { .all }

  /// Takes the result of the refused `||`, so that the compiler reports the operator.
  @_disfavoredOverload @_documentation(visibility: internal)
  public static func buildExpression(_ line: _WriteAnyOf<E>) -> Condition<E> { .all }
}

extension Sequence where Element: AttributeValue {
  /// Refused, because an attribute is not an element of the sequence.
  @available(*, unavailable, message: "ask the attribute: $0.episode.isIn([1, 4])")
  @_disfavoredOverload @_documentation(visibility: internal)
  public func contains<E: Entity>(_ attribute: Attribute<E, Element>) -> Condition<E> { .all }

  /// Refused, because an attribute is not an element of the sequence.
  @available(*, unavailable, message: "ask the attribute: $0.episode.isIn([1, 4])")
  @_disfavoredOverload @_documentation(visibility: internal)
  public func contains<E: Entity>(_ attribute: Attribute<E, Element?>) -> Condition<E> { .all }
}

extension ClosedRange where Bound: AttributeValue {
  /// Refused, because an attribute is not a value in the range.
  @available(*, unavailable, message: "ask the attribute: $0.episode.isIn(1...4)")
  @_disfavoredOverload @_documentation(visibility: internal)
  public func contains<E: Entity>(_ attribute: Attribute<E, Bound>) -> Condition<E> { .all }

  /// Refused, because an attribute is not a value in the range.
  @available(*, unavailable, message: "ask the attribute: $0.episode.isIn(1...4)")
  @_disfavoredOverload @_documentation(visibility: internal)
  public func contains<E: Entity>(_ attribute: Attribute<E, Bound?>) -> Condition<E> { .all }
}

extension Range where Bound: AttributeValue {
  /// Refused, because an attribute is not a value in the range.
  @available(*, unavailable, message: "ask the attribute: $0.episode.isIn(1..<4)")
  @_disfavoredOverload @_documentation(visibility: internal)
  public func contains<E: Entity>(_ attribute: Attribute<E, Bound>) -> Condition<E> { .all }

  /// Refused, because an attribute is not a value in the range.
  @available(*, unavailable, message: "ask the attribute: $0.episode.isIn(1..<4)")
  @_disfavoredOverload @_documentation(visibility: internal)
  public func contains<E: Entity>(_ attribute: Attribute<E, Bound?>) -> Condition<E> { .all }
}

extension ConditionBuilder {
  /// Refused, because an attribute that is not Boolean is neither true nor false.
  @available(
    *, unavailable,
    message: "only a Bool is a condition by itself; compare this attribute with a value"
  )
  @_disfavoredOverload @_documentation(visibility: internal)
  public static func buildExpression<Value>(_ attribute: Attribute<E, Value>) -> Condition<E> {
    .all(of: [])
  }
}

extension ConditionBuilder {
  /// Refused, because an assignment or a call without a result is no condition.
  @available(*, unavailable, message: "a line of a condition compares: write == for =")
  @_disfavoredOverload @_documentation(visibility: internal)
  public static func buildExpression(_ line: Void) -> Condition<E> { .all(of: []) }
}

extension Attribute {
  /// Refused, because a required attribute is never null.
  @available(
    *, unavailable, message: "this attribute is required and never nil; leave the line out"
  )
  @_disfavoredOverload @_documentation(visibility: internal)
  public static func == (lhs: Self, rhs: _OptionalNilComparisonType) -> Condition<E> { .all }

  /// Refused, because a required attribute is never null.
  @available(
    *, unavailable, message: "this attribute is required and never nil; leave the line out"
  )
  @_disfavoredOverload @_documentation(visibility: internal)
  public static func != (lhs: Self, rhs: _OptionalNilComparisonType) -> Condition<E> { .all }
}

extension Attribute where Value: Collection, Value.Element: Codable {
  /// Refused, because conditions compare a member of an element that is a document, not the
  /// element.
  @available(
    *, unavailable,
    message:
      "elements that are structs are asked by a member: Pod.where(format: \"ANY labels.name == %@\", name)"
  )
  @_disfavoredOverload @_documentation(visibility: internal)
  public func contains(_ element: Value.Element) -> Condition<E> { .all }
}

extension Attribute {
  /// Refused, because a related record's id does not have the record's attributes.
  ///
  /// `name` is the attribute that related records have most often.
  @available(
    *, unavailable, message: "name an attribute of a related record in brackets: $0.person[\\.name]"
  )
  @_disfavoredOverload @_documentation(visibility: internal)
  public var name: Attribute<E, String> { Attribute<E, String>(0) }
}

// Without these overloads the compiler only reports that it cannot infer the key path's type. The
// overloads are limited to `AttributeValue`: for values of any type, the compiler would report key
// paths where a case of an enumeration is misspelt.

/// Refused, because a condition compares an attribute, not a key path.
@available(*, unavailable, message: "a condition is a closure: where { $0.episode == 4 }")
@_disfavoredOverload @_documentation(visibility: internal)
public func == <E: Entity, Value: AttributeValue>(
  path: KeyPath<E.Attributes, Attribute<E, Value>>, value: Value
) -> Condition<E> { .all }

/// Refused, because a condition compares an attribute, not a key path.
@available(*, unavailable, message: "a condition is a closure: where { $0.episode != 4 }")
@_disfavoredOverload @_documentation(visibility: internal)
public func != <E: Entity, Value: AttributeValue>(
  path: KeyPath<E.Attributes, Attribute<E, Value>>, value: Value
) -> Condition<E> { .all }

/// Refused, because a condition compares an attribute, not a key path.
@available(*, unavailable, message: "a condition is a closure: where { $0.episode < 4 }")
@_disfavoredOverload @_documentation(visibility: internal)
public func < <E: Entity, Value: AttributeValue>(
  path: KeyPath<E.Attributes, Attribute<E, Value>>, value: Value
) -> Condition<E> { .all }

/// Refused, because a condition compares an attribute, not a key path.
@available(*, unavailable, message: "a condition is a closure: where { $0.episode <= 4 }")
@_disfavoredOverload @_documentation(visibility: internal)
public func <= <E: Entity, Value: AttributeValue>(
  path: KeyPath<E.Attributes, Attribute<E, Value>>, value: Value
) -> Condition<E> { .all }

/// Refused, because a condition compares an attribute, not a key path.
@available(*, unavailable, message: "a condition is a closure: where { $0.episode > 4 }")
@_disfavoredOverload @_documentation(visibility: internal)
public func > <E: Entity, Value: AttributeValue>(
  path: KeyPath<E.Attributes, Attribute<E, Value>>, value: Value
) -> Condition<E> { .all }

/// Refused, because a condition compares an attribute, not a key path.
@available(*, unavailable, message: "a condition is a closure: where { $0.episode >= 4 }")
@_disfavoredOverload @_documentation(visibility: internal)
public func >= <E: Entity, Value: AttributeValue>(
  path: KeyPath<E.Attributes, Attribute<E, Value>>, value: Value
) -> Condition<E> { .all }
