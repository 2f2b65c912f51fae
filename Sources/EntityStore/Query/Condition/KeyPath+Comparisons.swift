internal import LodestoreFormat

// Conditions on key paths: `\.stars > 3 && \.license == "MIT"`. The root is inferred.

/// Whether the attribute has this value; null is equal to null.
public func == <E: Entity, V: AttributeValue & Equatable>(
  lhs: any KeyPath<E, V> & Sendable, rhs: V
) -> Condition<E> {
  AttributePath(lhs) == rhs
}

/// Whether the attribute has another value, or null where `rhs` is none.
public func != <E: Entity, V: AttributeValue & Equatable>(
  lhs: any KeyPath<E, V> & Sendable, rhs: V
) -> Condition<E> {
  AttributePath(lhs) != rhs
}

/// Whether the attribute is below `rhs`.
public func < <E: Entity, V: AttributeValue & Comparable>(
  lhs: any KeyPath<E, V> & Sendable, rhs: V
) -> Condition<E> {
  AttributePath(lhs) < rhs
}

/// Whether the attribute is at most `rhs`.
public func <= <E: Entity, V: AttributeValue & Comparable>(
  lhs: any KeyPath<E, V> & Sendable, rhs: V
) -> Condition<E> {
  AttributePath(lhs) <= rhs
}

/// Whether the attribute is above `rhs`.
public func > <E: Entity, V: AttributeValue & Comparable>(
  lhs: any KeyPath<E, V> & Sendable, rhs: V
) -> Condition<E> {
  AttributePath(lhs) > rhs
}

/// Whether the attribute is at least `rhs`.
public func >= <E: Entity, V: AttributeValue & Comparable>(
  lhs: any KeyPath<E, V> & Sendable, rhs: V
) -> Condition<E> {
  AttributePath(lhs) >= rhs
}

/// Whether the attribute is below `rhs`; false for null.
public func < <E: Entity, V: AttributeValue & Comparable>(
  lhs: any KeyPath<E, V?> & Sendable, rhs: V
) -> Condition<E> {
  AttributePath(lhs) < rhs
}

/// Whether the attribute is at most `rhs`; false for null.
public func <= <E: Entity, V: AttributeValue & Comparable>(
  lhs: any KeyPath<E, V?> & Sendable, rhs: V
) -> Condition<E> {
  AttributePath(lhs) <= rhs
}

/// Whether the attribute is above `rhs`; false for null.
public func > <E: Entity, V: AttributeValue & Comparable>(
  lhs: any KeyPath<E, V?> & Sendable, rhs: V
) -> Condition<E> {
  AttributePath(lhs) > rhs
}

/// Whether the attribute is at least `rhs`; false for null.
public func >= <E: Entity, V: AttributeValue & Comparable>(
  lhs: any KeyPath<E, V?> & Sendable, rhs: V
) -> Condition<E> {
  AttributePath(lhs) >= rhs
}

/// Whether the attribute has this case.
public func == <E: Entity, V: RawRepresentable & Equatable & Sendable>(
  lhs: any KeyPath<E, V> & Sendable, rhs: V
) -> Condition<E>
where V.RawValue: AttributeValue {
  AttributePath(lhs) == rhs
}

/// Whether the attribute has another case.
public func != <E: Entity, V: RawRepresentable & Equatable & Sendable>(
  lhs: any KeyPath<E, V> & Sendable, rhs: V
) -> Condition<E>
where V.RawValue: AttributeValue {
  AttributePath(lhs) != rhs
}

/// Whether a Boolean attribute is false.
public prefix func ! <E: Entity>(path: any KeyPath<E, Bool> & Sendable) -> Condition<E> {
  AttributePath(path) == false
}

extension Condition {
  /// Whether a Boolean attribute is true.
  public static func isTrue(_ path: any KeyPath<E, Bool> & Sendable) -> Condition {
    AttributePath(path) == true
  }

  /// Whether the attribute has one of these values.
  @_disfavoredOverload
  public static func `in`<V: AttributeValue & Equatable>(
    _ path: any KeyPath<E, V> & Sendable, _ values: some Sequence<V>
  ) -> Condition {
    AttributePath(path).isIn(values)
  }

  /// Whether the attribute lies within `range`, both ends included.
  public static func `in`<V: AttributeValue & Comparable>(
    _ path: any KeyPath<E, V> & Sendable, _ range: ClosedRange<V>
  ) -> Condition {
    AttributePath(path).isIn(range)
  }

  /// Whether the attribute lies within `range`, its upper end excluded.
  public static func `in`<V: AttributeValue & Comparable>(
    _ path: any KeyPath<E, V> & Sendable, _ range: Range<V>
  ) -> Condition {
    AttributePath(path).isIn(range)
  }
}

// MARK: Two attributes

/// Whether two attributes are equal.
public func == <E: Entity, V: AttributeValue & Equatable>(
  lhs: any KeyPath<E, V> & Sendable, rhs: any KeyPath<E, V> & Sendable
) -> Condition<E> {
  AttributePath(lhs).compared(.equal, with: AttributePath(rhs)) { $0 == $1 }
}

/// Whether two attributes are different.
public func != <E: Entity, V: AttributeValue & Equatable>(
  lhs: any KeyPath<E, V> & Sendable, rhs: any KeyPath<E, V> & Sendable
) -> Condition<E> {
  AttributePath(lhs).compared(.notEqual, with: AttributePath(rhs)) { $0 != $1 }
}

/// Whether two attributes are in ascending order and different.
public func < <E: Entity, V: AttributeValue & Comparable>(
  lhs: any KeyPath<E, V> & Sendable, rhs: any KeyPath<E, V> & Sendable
) -> Condition<E> {
  AttributePath(lhs).compared(.less, with: AttributePath(rhs)) { $0 < $1 }
}

/// Whether two attributes are in ascending order.
public func <= <E: Entity, V: AttributeValue & Comparable>(
  lhs: any KeyPath<E, V> & Sendable, rhs: any KeyPath<E, V> & Sendable
) -> Condition<E> {
  AttributePath(lhs).compared(.lessOrEqual, with: AttributePath(rhs)) { $0 <= $1 }
}

/// Whether two attributes are in descending order and different.
public func > <E: Entity, V: AttributeValue & Comparable>(
  lhs: any KeyPath<E, V> & Sendable, rhs: any KeyPath<E, V> & Sendable
) -> Condition<E> {
  AttributePath(lhs).compared(.greater, with: AttributePath(rhs)) { $0 > $1 }
}

/// Whether two attributes are in descending order.
public func >= <E: Entity, V: AttributeValue & Comparable>(
  lhs: any KeyPath<E, V> & Sendable, rhs: any KeyPath<E, V> & Sendable
) -> Condition<E> {
  AttributePath(lhs).compared(.greaterOrEqual, with: AttributePath(rhs)) { $0 >= $1 }
}

extension AttributePath where Value: AttributeValue {
  func compared(
    _ operator: Comparison.Operator, with other: AttributePath<E, Value>,
    or test: @escaping @Sendable (Value, Value) -> Bool
  ) -> Condition<E> {
    if let path, let otherPath = other.path {
      return Condition(.comparison(Comparison(.path(path), `operator`, .path(otherPath))))
    }
    guard let keyPath, let otherKeyPath = other.keyPath else { return Condition(.constant(false)) }
    return Condition(
      .closure(
        ConditionClosure(
          text: "\(keyPath) \(`operator`.canonicalText) \(otherKeyPath)"
        ) { (entity: E) in
          test(entity[keyPath: keyPath], entity[keyPath: otherKeyPath])
        }))
  }
}
