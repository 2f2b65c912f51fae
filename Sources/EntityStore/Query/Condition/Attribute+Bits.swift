internal import LodestoreFormat

// Tests of the bits of an integer attribute. A null attribute gives null.

extension Attribute where Value: AttributeValue & FixedWidthInteger {
  /// The bits that the attribute and `mask` both have.
  ///
  ///     Message.where { $0.flags & 4 != 0 }
  public static func & (lhs: Self, mask: Value) -> Self { lhs.combined(.and, mask) }

  /// The bits that the attribute or `mask` has.
  public static func | (lhs: Self, mask: Value) -> Self { lhs.combined(.or, mask) }

  /// The bits that either the attribute or `mask` has, and not both.
  public static func ^ (lhs: Self, mask: Value) -> Self { lhs.combined(.exclusiveOr, mask) }
}

extension Attribute {
  /// The bits that the optional attribute and `mask` both have; null for null.
  @_documentation(visibility: internal)
  public static func & <W: AttributeValue & FixedWidthInteger>(lhs: Self, mask: W) -> Self
  where Value == W? {
    lhs.combined(.and, mask)
  }

  /// The bits that the optional attribute or `mask` has; null for null.
  @_documentation(visibility: internal)
  public static func | <W: AttributeValue & FixedWidthInteger>(lhs: Self, mask: W) -> Self
  where Value == W? {
    lhs.combined(.or, mask)
  }

  /// The bits that either the optional attribute or `mask` has, and not both; null for null.
  @_documentation(visibility: internal)
  public static func ^ <W: AttributeValue & FixedWidthInteger>(lhs: Self, mask: W) -> Self
  where Value == W? {
    lhs.combined(.exclusiveOr, mask)
  }

  fileprivate func combined<W: AttributeValue>(_ op: ArithmeticOperator, _ mask: W) -> Self
  where Value: AttributeValue {
    deriving(.arithmetic(op, operand, .value(ConditionConstant.value(mask))))
  }
}

extension Attribute where Value: OptionSet, Value.RawValue: AttributeValue & FixedWidthInteger {
  /// Whether the set has all members of `members`.
  ///
  ///     Message.where { $0.flags.contains(.unread) }
  public func contains(_ members: Value) -> Condition<E> {
    let bits = Operand.value(ConditionConstant.value(members.rawValue))
    if let failure { return Condition(.failure(failure)) }
    return Condition(.comparison(Comparison(.arithmetic(.and, operand, bits), .equal, bits)))
  }
}
