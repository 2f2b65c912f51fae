internal import LMDB
internal import LodestoreFormat

// Comparisons of an attribute with a constant and with another attribute. Conditions have two truth
// values: null equals null and nothing else, and every other comparison with null is false.

extension Attribute where Value: Equatable {
  /// Whether the attribute equals a value; null equals null.
  public static func == (lhs: Self, rhs: Value) -> Condition<E> { lhs.compared(.equal, rhs) }

  /// Whether the attribute differs from `rhs`; null differs from every value but null.
  public static func != (lhs: Self, rhs: Value) -> Condition<E> { lhs.compared(.notEqual, rhs) }

  /// Whether two attributes are equal.
  public static func == (lhs: Self, rhs: Self) -> Condition<E> { lhs.compared(.equal, with: rhs) }

  /// Whether two attributes are different.
  public static func != (lhs: Self, rhs: Self) -> Condition<E> {
    lhs.compared(.notEqual, with: rhs)
  }

  /// Whether the attribute has one of these values.
  @_disfavoredOverload
  public func isIn(_ values: some Collection<Value>) -> Condition<E> { contained(in: values) }
}

extension Attribute {
  /// Whether the attribute is null, for types whose values cannot be compared.
  @_disfavoredOverload
  public static func == <W>(lhs: Self, rhs: _OptionalNilComparisonType) -> Condition<E>
  where Value == W? { lhs.compared(.equal, .value(.null)) }

  /// Whether the attribute has a value, for types whose values cannot be compared.
  @_disfavoredOverload
  public static func != <W>(lhs: Self, rhs: _OptionalNilComparisonType) -> Condition<E>
  where Value == W? { lhs.compared(.notEqual, .value(.null)) }

  /// Whether the optional attribute has one of these values.
  @_disfavoredOverload
  public func isIn<W: Equatable>(_ values: some Collection<W>) -> Condition<E> where Value == W? {
    contained(in: values.map { .some($0) })
  }

  /// Whether the attribute equals an optional attribute.
  @_disfavoredOverload
  public static func == (lhs: Self, rhs: Attribute<E, Value?>) -> Condition<E>
  where Value: Equatable { lhs.compared(.equal, with: rhs) }

  /// Whether the attribute differs from an optional attribute.
  @_disfavoredOverload
  public static func != (lhs: Self, rhs: Attribute<E, Value?>) -> Condition<E>
  where Value: Equatable { lhs.compared(.notEqual, with: rhs) }
}

extension Attribute where Value: Comparable {
  /// Whether the attribute is less than `rhs`.
  public static func < (lhs: Self, rhs: Value) -> Condition<E> { lhs.compared(.less, rhs) }

  /// Whether the attribute is at most `rhs`.
  public static func <= (lhs: Self, rhs: Value) -> Condition<E> { lhs.compared(.lessOrEqual, rhs) }

  /// Whether the attribute is greater than `rhs`.
  public static func > (lhs: Self, rhs: Value) -> Condition<E> { lhs.compared(.greater, rhs) }

  /// Whether the attribute is at least `rhs`.
  public static func >= (lhs: Self, rhs: Value) -> Condition<E> {
    lhs.compared(.greaterOrEqual, rhs)
  }

  /// Whether the left attribute is less than the right one.
  public static func < (lhs: Self, rhs: Self) -> Condition<E> { lhs.compared(.less, with: rhs) }

  /// Whether the left attribute is at most the right one.
  public static func <= (lhs: Self, rhs: Self) -> Condition<E> {
    lhs.compared(.lessOrEqual, with: rhs)
  }

  /// Whether the left attribute is greater than the right one.
  public static func > (lhs: Self, rhs: Self) -> Condition<E> { lhs.compared(.greater, with: rhs) }

  /// Whether the left attribute is at least the right one.
  public static func >= (lhs: Self, rhs: Self) -> Condition<E> {
    lhs.compared(.greaterOrEqual, with: rhs)
  }

  /// Whether the attribute lies within a range: `1...5`, `1..<5`, `1...`, `...5` or `..<5`.
  public func isIn<R: RangeExpression<Value>>(_ range: R) -> Condition<E> { within(range) { $0 } }
}

extension Attribute {
  /// Whether the optional attribute is less than `rhs`; false for null.
  public static func < <W: Comparable>(lhs: Self, rhs: W) -> Condition<E> where Value == W? {
    lhs.compared(.less, rhs)
  }

  /// Whether the optional attribute is at most `rhs`; false for null.
  public static func <= <W: Comparable>(lhs: Self, rhs: W) -> Condition<E> where Value == W? {
    lhs.compared(.lessOrEqual, rhs)
  }

  /// Whether the optional attribute is greater than `rhs`; false for null.
  public static func > <W: Comparable>(lhs: Self, rhs: W) -> Condition<E> where Value == W? {
    lhs.compared(.greater, rhs)
  }

  /// Whether the optional attribute is at least `rhs`; false for null.
  public static func >= <W: Comparable>(lhs: Self, rhs: W) -> Condition<E> where Value == W? {
    lhs.compared(.greaterOrEqual, rhs)
  }

  /// Whether the left optional attribute is less than the right one; false for null.
  public static func < <W: Comparable>(lhs: Self, rhs: Self) -> Condition<E> where Value == W? {
    lhs.compared(.less, with: rhs)
  }

  /// Whether the left optional attribute is at most the right one; false for null.
  public static func <= <W: Comparable>(lhs: Self, rhs: Self) -> Condition<E> where Value == W? {
    lhs.compared(.lessOrEqual, with: rhs)
  }

  /// Whether the left optional attribute is greater than the right one; false for null.
  public static func > <W: Comparable>(lhs: Self, rhs: Self) -> Condition<E> where Value == W? {
    lhs.compared(.greater, with: rhs)
  }

  /// Whether the left optional attribute is at least the right one; false for null.
  public static func >= <W: Comparable>(lhs: Self, rhs: Self) -> Condition<E> where Value == W? {
    lhs.compared(.greaterOrEqual, with: rhs)
  }

  /// Whether the optional attribute lies within a range; false for null.
  public func isIn<W: Comparable, R: RangeExpression<W>>(_ range: R) -> Condition<E>
  where Value == W? {
    within(range) { .some($0) }
  }
}

// MARK: Making conditions

extension Attribute {
  func compared(_ operator: Comparison.Operator, _ value: Value) -> Condition<E> {
    do {
      return compared(`operator`, .value(try constant(value)))
    } catch {
      return unencodable(error)
    }
  }

  func compared<V>(_ operator: Comparison.Operator, with other: Attribute<E, V>) -> Condition<E> {
    compared(`operator`, other.operand)
  }

  func compared(
    _ operator: Comparison.Operator, _ right: Operand, options: TextOptions = []
  ) -> Condition<E> {
    if let failure { return Condition(.failure(failure)) }
    return Condition(.comparison(Comparison(operand, `operator`, right, options: options)))
  }

  /// Encodes a constant of a condition.
  ///
  /// A scalar in a JSON value becomes that scalar, since conditions compare a JSON attribute by the
  /// value it holds.
  func constant(_ value: Value) throws -> LodestoreFormat.Value {
    if holdsJSON, let json = value as? JSONValue { return ConditionConstant.value(json) }
    return try coding.store(value).value
  }

  private var holdsJSON: Bool { Value.self == JSONValue.self || Value.self == JSONValue?.self }

  private func contained(in values: some Collection<Value>) -> Condition<E> {
    do {
      let list = Array(values)
      // The type is checked once, because casting each of many values would cost more than the
      // encoding.
      guard !holdsJSON else { return compared(.in, .values(try list.map { try constant($0) })) }
      // The texts may be scattered in memory, so they are prefetched.
      let constants = try StringPrefetch.map(list) { try coding.store($0).value }
      return compared(.in, .values(constants))
    } catch {
      return unencodable(error)
    }
  }

  private func within<Bound: Comparable, R: RangeExpression>(
    _ range: R, _ value: (Bound) -> Value
  ) -> Condition<E> where R.Bound == Bound {
    do {
      switch range {
      case let range as ClosedRange<Bound>:
        let bounds = try [range.lowerBound, range.upperBound].map { try constant(value($0)) }
        return compared(.between, .values(bounds))
      case let range as Range<Bound>:
        return .all(of: [
          compared(.greaterOrEqual, value(range.lowerBound)),
          compared(.less, value(range.upperBound)),
        ])
      case let range as PartialRangeFrom<Bound>:
        return compared(.greaterOrEqual, value(range.lowerBound))
      case let range as PartialRangeThrough<Bound>:
        return compared(.lessOrEqual, value(range.upperBound))
      case let range as PartialRangeUpTo<Bound>: return compared(.less, value(range.upperBound))
      default:
        return Condition(
          .failure(.badQuery("'\(attributeName)' is compared with \(R.self), an unknown range")))
      }
    } catch {
      return unencodable(error)
    }
  }

  private func unencodable(_ error: any Error) -> Condition<E> {
    Condition(
      .failure(
        .badQuery(
          "'\(attributeName)' is compared with a value that cannot be encoded: \(error)")))
  }
}
