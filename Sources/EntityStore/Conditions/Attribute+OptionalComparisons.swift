// Comparisons of two attributes of which one is optional. A comparison of order with null is false.

extension Attribute where Value: Comparable {
  /// Whether the attribute is less than the optional one; false for null.
  @_disfavoredOverload
  public static func < (lhs: Self, rhs: Attribute<E, Value?>) -> Condition<E> {
    lhs.compared(.less, with: rhs)
  }

  /// Whether the attribute is at most the optional one; false for null.
  @_disfavoredOverload
  public static func <= (lhs: Self, rhs: Attribute<E, Value?>) -> Condition<E> {
    lhs.compared(.lessOrEqual, with: rhs)
  }

  /// Whether the attribute is greater than the optional one; false for null.
  @_disfavoredOverload
  public static func > (lhs: Self, rhs: Attribute<E, Value?>) -> Condition<E> {
    lhs.compared(.greater, with: rhs)
  }

  /// Whether the attribute is at least the optional one; false for null.
  @_disfavoredOverload
  public static func >= (lhs: Self, rhs: Attribute<E, Value?>) -> Condition<E> {
    lhs.compared(.greaterOrEqual, with: rhs)
  }
}

extension Attribute {
  /// Whether the optional attribute is less than the other one; false for null.
  @_disfavoredOverload
  public static func < <W: Comparable>(lhs: Self, rhs: Attribute<E, W>) -> Condition<E>
  where Value == W? { lhs.compared(.less, with: rhs) }

  /// Whether the optional attribute is at most the other one; false for null.
  @_disfavoredOverload
  public static func <= <W: Comparable>(lhs: Self, rhs: Attribute<E, W>) -> Condition<E>
  where Value == W? { lhs.compared(.lessOrEqual, with: rhs) }

  /// Whether the optional attribute is greater than the other one; false for null.
  @_disfavoredOverload
  public static func > <W: Comparable>(lhs: Self, rhs: Attribute<E, W>) -> Condition<E>
  where Value == W? { lhs.compared(.greater, with: rhs) }

  /// Whether the optional attribute is at least the other one; false for null.
  @_disfavoredOverload
  public static func >= <W: Comparable>(lhs: Self, rhs: Attribute<E, W>) -> Condition<E>
  where Value == W? { lhs.compared(.greaterOrEqual, with: rhs) }

  /// Whether the optional attribute equals the other one.
  @_disfavoredOverload
  public static func == <W: Equatable>(lhs: Self, rhs: Attribute<E, W>) -> Condition<E>
  where Value == W? { lhs.compared(.equal, with: rhs) }

  /// Whether the optional attribute differs from the other one.
  @_disfavoredOverload
  public static func != <W: Equatable>(lhs: Self, rhs: Attribute<E, W>) -> Condition<E>
  where Value == W? { lhs.compared(.notEqual, with: rhs) }
}
