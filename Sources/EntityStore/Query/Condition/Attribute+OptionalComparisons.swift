// Comparisons of two attributes of which one may be null: false where it is.

extension Attribute where Value: Comparable {
  /// Whether the attribute is below the optional one; false for null.
  @_disfavoredOverload
  public static func < (lhs: Self, rhs: Attribute<E, Value?>) -> Condition<E> {
    lhs.compared(.less, with: rhs)
  }

  /// Whether the attribute is at most the optional one; false for null.
  @_disfavoredOverload
  public static func <= (lhs: Self, rhs: Attribute<E, Value?>) -> Condition<E> {
    lhs.compared(.lessOrEqual, with: rhs)
  }

  /// Whether the attribute is above the optional one; false for null.
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
  /// Whether the optional attribute is below the other one; false for null.
  @_disfavoredOverload
  public static func < <W: Comparable>(lhs: Self, rhs: Attribute<E, W>) -> Condition<E>
  where Value == W? {
    lhs.compared(.less, with: rhs)
  }

  /// Whether the optional attribute is at most the other one; false for null.
  @_disfavoredOverload
  public static func <= <W: Comparable>(lhs: Self, rhs: Attribute<E, W>) -> Condition<E>
  where Value == W? {
    lhs.compared(.lessOrEqual, with: rhs)
  }

  /// Whether the optional attribute is above the other one; false for null.
  @_disfavoredOverload
  public static func > <W: Comparable>(lhs: Self, rhs: Attribute<E, W>) -> Condition<E>
  where Value == W? {
    lhs.compared(.greater, with: rhs)
  }

  /// Whether the optional attribute is at least the other one; false for null.
  @_disfavoredOverload
  public static func >= <W: Comparable>(lhs: Self, rhs: Attribute<E, W>) -> Condition<E>
  where Value == W? {
    lhs.compared(.greaterOrEqual, with: rhs)
  }

  /// Whether the optional attribute is equal to the other one.
  @_disfavoredOverload
  public static func == <W: Equatable>(lhs: Self, rhs: Attribute<E, W>) -> Condition<E>
  where Value == W? {
    lhs.compared(.equal, with: rhs)
  }

  /// Whether the optional attribute is different from the other one.
  @_disfavoredOverload
  public static func != <W: Equatable>(lhs: Self, rhs: Attribute<E, W>) -> Condition<E>
  where Value == W? {
    lhs.compared(.notEqual, with: rhs)
  }
}
