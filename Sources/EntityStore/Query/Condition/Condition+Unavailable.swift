// What people try first, refused with what to write instead.
//
// `&&` and `||` are refused between two conditions, by functions with a result of their own, which
// nothing else takes. With a condition as the result, or with further operands, the compiler takes
// 12 to 80 seconds for 30 faulty chains in unrelated code, in place of 0.5 (Swift 6.3;
// `faultyChains` of the tests). So of three conditions in a chain the compiler names the result's
// type, whose name says what to write.
//
// `read { $0 }` has no overload of its own: an unavailable one loses against a closure without a
// result, and a deprecated one is taken for closures of several lines.
//
// No overload takes lines that are Swift's own `Bool`: with one, the compiler talks of other
// operators where a type is wrong.

/// Conditions joined by `&&`, which is refused.
@_documentation(visibility: internal)
public struct _WriteEachConditionOnALine<E: Entity> {}

/// Conditions joined by `||`, which is refused.
@_documentation(visibility: internal)
public struct _WriteAnyOf<E: Entity> {}

/// Refused: lines are joined already.
@available(
  *, unavailable,
  message:
    "write each condition on a line of its own, or separate them by ';': all of them must hold"
)
@_disfavoredOverload
@_documentation(visibility: internal)
public func && <E: Entity>(
  lhs: Condition<E>, rhs: Condition<E>
) -> _WriteEachConditionOnALine<E> {
  _WriteEachConditionOnALine()
}

/// Refused: alternatives have a function.
@available(
  *, unavailable, message: "write anyOf($0.isSeen, $0.episode == 4): one of them must hold"
)
@_disfavoredOverload
@_documentation(visibility: internal)
public func || <E: Entity>(lhs: Condition<E>, rhs: Condition<E>) -> _WriteAnyOf<E> {
  _WriteAnyOf()
}

extension ConditionBuilder {
  /// Refused by the operator that makes such a line.
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public static func buildExpression(
    _ line: _WriteEachConditionOnALine<E>
  ) -> Condition<E> { .all }

  /// Refused by the operator that makes such a line.
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public static func buildExpression(_ line: _WriteAnyOf<E>) -> Condition<E> { .all }
}

extension Sequence where Element: AttributeValue {
  /// Refused: an attribute is no element.
  @available(*, unavailable, message: "ask the attribute: $0.episode.isIn([1, 4])")
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public func contains<E: Entity>(_ attribute: Attribute<E, Element>) -> Condition<E> { .all }

  /// Refused: an attribute is no element.
  @available(*, unavailable, message: "ask the attribute: $0.episode.isIn([1, 4])")
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public func contains<E: Entity>(_ attribute: Attribute<E, Element?>) -> Condition<E> { .all }
}

extension ClosedRange where Bound: AttributeValue {
  /// Refused: an attribute is no element.
  @available(*, unavailable, message: "ask the attribute: $0.episode.isIn(1...4)")
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public func contains<E: Entity>(_ attribute: Attribute<E, Bound>) -> Condition<E> { .all }

  /// Refused: an attribute is no element.
  @available(*, unavailable, message: "ask the attribute: $0.episode.isIn(1...4)")
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public func contains<E: Entity>(_ attribute: Attribute<E, Bound?>) -> Condition<E> { .all }
}

extension Range where Bound: AttributeValue {
  /// Refused: an attribute is no element.
  @available(*, unavailable, message: "ask the attribute: $0.episode.isIn(1..<4)")
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public func contains<E: Entity>(_ attribute: Attribute<E, Bound>) -> Condition<E> { .all }

  /// Refused: an attribute is no element.
  @available(*, unavailable, message: "ask the attribute: $0.episode.isIn(1..<4)")
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public func contains<E: Entity>(_ attribute: Attribute<E, Bound?>) -> Condition<E> { .all }
}

extension ConditionBuilder {
  /// Refused: an attribute that is neither true nor false.
  @available(
    *, unavailable,
    message: "only a Bool is a condition by itself; compare this attribute with a value"
  )
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public static func buildExpression<Value>(_ attribute: Attribute<E, Value>) -> Condition<E> {
    .all(of: [])
  }
}

extension ConditionBuilder {
  /// Refused: an assignment, or a call without a result.
  @available(*, unavailable, message: "a line of a condition compares: write == for =")
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public static func buildExpression(_ line: Void) -> Condition<E> { .all(of: []) }
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

extension Attribute where Value: Collection, Value.Element: Codable {
  /// Refused: an element that is a document, of which conditions name a member.
  @available(
    *, unavailable,
    message:
      "elements that are structs are asked by a member: Pod.where(format: \"ANY labels.name == %@\", name)"
  )
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public func contains(_ element: Value.Element) -> Condition<E> { .all }
}

extension Attribute {
  /// Refused: the commonest attribute of a related record, which its id does not have.
  @available(
    *, unavailable, message: "name an attribute of a related record in brackets: $0.person[\\.name]"
  )
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public var name: Attribute<E, String> { Attribute<E, String>(0) }
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

extension Query {
  /// Refused: the direction belongs to the attribute.
  @available(
    *, unavailable, message: "the direction follows the attribute: sorted(by: \\.title.descending)"
  )
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public func sorted<Value>(
    by path: KeyPath<E.Attributes, Attribute<E, Value>>, _ direction: _SortDirection
  ) -> Query { self }

  /// Refused: the direction belongs to the attribute.
  @available(
    *, unavailable, message: "the direction follows the attribute: sorted(by: \\.title.descending)"
  )
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public func sorted<Value>(
    by path: KeyPath<E.Attributes, Attribute<E, Value>>, order direction: _SortDirection
  ) -> Query { self }
}

/// What people write after the attribute of an order, which is refused.
@_documentation(visibility: internal)
public enum _SortDirection {
  case ascending, descending
  case forward, reverse
}
