internal import LodestoreFormat

// The comparisons of attributes with constants and with each other. Each comes for `AttributePath`
// (in `.matching { … }`) and for key paths.

extension AttributePath where Value: AttributeValue & Equatable {
  /// Whether the attribute has this value; null is equal to null.
  public static func == (lhs: Self, rhs: Value) -> Condition<E> {
    lhs.compared(.equal, .value(ConditionConstant.value(rhs)), or: { $0 == rhs })
  }

  /// Whether the attribute has another value, or null where `rhs` is none.
  public static func != (lhs: Self, rhs: Value) -> Condition<E> {
    lhs.compared(.notEqual, .value(ConditionConstant.value(rhs)), or: { $0 != rhs })
  }

  /// Whether the attribute has one of these values.
  @_disfavoredOverload
  public func isIn(_ values: some Sequence<Value>) -> Condition<E> {
    let list = Array(values)
    return compared(
      .in, .values(ConditionConstant.values(list)), or: { list.contains($0) })
  }
}

extension AttributePath where Value: AttributeValue & Comparable {
  /// Whether the attribute is below `rhs`.
  public static func < (lhs: Self, rhs: Value) -> Condition<E> {
    lhs.compared(.less, .value(ConditionConstant.value(rhs)), or: { $0 < rhs })
  }

  /// Whether the attribute is at most `rhs`.
  public static func <= (lhs: Self, rhs: Value) -> Condition<E> {
    lhs.compared(.lessOrEqual, .value(ConditionConstant.value(rhs)), or: { $0 <= rhs })
  }

  /// Whether the attribute is above `rhs`.
  public static func > (lhs: Self, rhs: Value) -> Condition<E> {
    lhs.compared(.greater, .value(ConditionConstant.value(rhs)), or: { $0 > rhs })
  }

  /// Whether the attribute is at least `rhs`.
  public static func >= (lhs: Self, rhs: Value) -> Condition<E> {
    lhs.compared(.greaterOrEqual, .value(ConditionConstant.value(rhs)), or: { $0 >= rhs })
  }

  /// Whether the attribute lies within `range`, both ends included.
  public func isIn(_ range: ClosedRange<Value>) -> Condition<E> {
    let bounds = [range.lowerBound, range.upperBound].map { ConditionConstant.value($0) }
    return compared(.between, .values(bounds), or: { range.contains($0) })
  }

  /// Whether the attribute lies within `range`, its upper end excluded.
  public func isIn(_ range: Range<Value>) -> Condition<E> {
    self >= range.lowerBound && self < range.upperBound
  }
}

extension AttributePath {
  /// Whether the optional attribute is below `rhs`; false for null.
  public static func < <W: AttributeValue & Comparable>(
    lhs: Self, rhs: W
  ) -> Condition<E> where Value == W? {
    lhs.compared(.less, .value(ConditionConstant.value(rhs)), or: { $0.map { $0 < rhs } ?? false })
  }

  /// Whether the optional attribute is at most `rhs`; false for null.
  public static func <= <W: AttributeValue & Comparable>(
    lhs: Self, rhs: W
  ) -> Condition<E> where Value == W? {
    lhs.compared(
      .lessOrEqual, .value(ConditionConstant.value(rhs)), or: { $0.map { $0 <= rhs } ?? false })
  }

  /// Whether the optional attribute is above `rhs`; false for null.
  public static func > <W: AttributeValue & Comparable>(
    lhs: Self, rhs: W
  ) -> Condition<E> where Value == W? {
    lhs.compared(
      .greater, .value(ConditionConstant.value(rhs)), or: { $0.map { $0 > rhs } ?? false })
  }

  /// Whether the optional attribute is at least `rhs`; false for null.
  public static func >= <W: AttributeValue & Comparable>(
    lhs: Self, rhs: W
  ) -> Condition<E> where Value == W? {
    lhs.compared(
      .greaterOrEqual, .value(ConditionConstant.value(rhs)), or: { $0.map { $0 >= rhs } ?? false })
  }

  /// Whether the optional attribute lies within `range`, both ends included; false for null.
  public func isIn<W: AttributeValue & Comparable>(
    _ range: ClosedRange<W>
  ) -> Condition<E> where Value == W? {
    let bounds = [range.lowerBound, range.upperBound].map { ConditionConstant.value($0) }
    return compared(.between, .values(bounds), or: { $0.map(range.contains) ?? false })
  }
}

extension AttributePath {
  /// Whether the enumeration has this case.
  public static func == (lhs: Self, rhs: Value) -> Condition<E>
  where Value: RawRepresentable & Equatable & Sendable, Value.RawValue: AttributeValue {
    lhs.compared(.equal, .value(ConditionConstant.value(rhs.rawValue)), or: { $0 == rhs })
  }

  /// Whether the enumeration has another case.
  public static func != (lhs: Self, rhs: Value) -> Condition<E>
  where Value: RawRepresentable & Equatable & Sendable, Value.RawValue: AttributeValue {
    lhs.compared(.notEqual, .value(ConditionConstant.value(rhs.rawValue)), or: { $0 != rhs })
  }

  /// Whether the optional enumeration has this case, or is null like `rhs`.
  public static func == <W: RawRepresentable & Equatable & Sendable>(
    lhs: Self, rhs: W?
  ) -> Condition<E> where Value == W?, W.RawValue: AttributeValue {
    lhs.compared(.equal, .value(ConditionConstant.value(rhs?.rawValue)), or: { $0 == rhs })
  }

  /// Whether the enumeration has one of these cases.
  @_disfavoredOverload
  public func isIn(_ values: some Sequence<Value>) -> Condition<E>
  where Value: RawRepresentable & Equatable & Sendable, Value.RawValue: AttributeValue {
    let list = Array(values)
    return compared(
      .in, .values(ConditionConstant.values(list.map(\.rawValue))), or: { list.contains($0) })
  }
}

extension AttributePath where Value == JSONValue {
  /// Whether a number or a text in the JSON is below `rhs`; false for other kinds.
  public static func < (lhs: Self, rhs: JSONValue) -> Condition<E> {
    lhs.compared(.less, .value(ConditionConstant.value(rhs)), or: { _ in false })
  }

  /// Whether a number or a text in the JSON is at most `rhs`; false for other kinds.
  public static func <= (lhs: Self, rhs: JSONValue) -> Condition<E> {
    lhs.compared(.lessOrEqual, .value(ConditionConstant.value(rhs)), or: { _ in false })
  }

  /// Whether a number or a text in the JSON is above `rhs`; false for other kinds.
  public static func > (lhs: Self, rhs: JSONValue) -> Condition<E> {
    lhs.compared(.greater, .value(ConditionConstant.value(rhs)), or: { _ in false })
  }

  /// Whether a number or a text in the JSON is at least `rhs`; false for other kinds.
  public static func >= (lhs: Self, rhs: JSONValue) -> Condition<E> {
    lhs.compared(.greaterOrEqual, .value(ConditionConstant.value(rhs)), or: { _ in false })
  }

  /// Whether the array or text in the JSON contains `element`.
  public func contains(_ element: JSONValue) -> Condition<E> {
    compared(.contains, .value(ConditionConstant.value(element)), or: { _ in false })
  }
}

extension AttributePath
where Value: Collection & Sendable, Value.Element: AttributeValue & Equatable {
  /// Whether the collection has the element.
  public func contains(_ element: Value.Element) -> Condition<E> {
    compared(
      .contains, .value(ConditionConstant.value(element)), or: { $0.contains(element) })
  }
}
