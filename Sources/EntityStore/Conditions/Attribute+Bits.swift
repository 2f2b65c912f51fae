internal import LodestoreFormat

// Bitwise operators on an integer attribute. Their result for null is null.

extension Attribute where Value: AttributeValue & FixedWidthInteger {
  /// The bits set in both the attribute and `mask`.
  ///
  ///     Message.where { $0.flags & 4 != 0 }
  public static func & (lhs: Self, mask: Value) -> Self { lhs.combined(.and, mask) }

  /// The bits set in the attribute, in `mask`, or in both.
  public static func | (lhs: Self, mask: Value) -> Self { lhs.combined(.or, mask) }

  /// The bits set in either the attribute or `mask`, but not in both.
  public static func ^ (lhs: Self, mask: Value) -> Self { lhs.combined(.exclusiveOr, mask) }
}

extension Attribute {
  /// The bits set in both the optional attribute and `mask`; null for null.
  @_documentation(visibility: internal)
  public static func & <W: AttributeValue & FixedWidthInteger>(lhs: Self, mask: W) -> Self
  where Value == W? { lhs.combined(.and, mask) }

  /// The bits set in the optional attribute, in `mask`, or in both; null for null.
  @_documentation(visibility: internal)
  public static func | <W: AttributeValue & FixedWidthInteger>(lhs: Self, mask: W) -> Self
  where Value == W? { lhs.combined(.or, mask) }

  /// The bits set in either the optional attribute or `mask`, but not in both; null for null.
  @_documentation(visibility: internal)
  public static func ^ <W: AttributeValue & FixedWidthInteger>(lhs: Self, mask: W) -> Self
  where Value == W? { lhs.combined(.exclusiveOr, mask) }

  fileprivate func combined<W: AttributeValue>(_ op: ArithmeticOperator, _ mask: W) -> Self
  where Value: AttributeValue {
    deriving(.arithmetic(op, operand, .value(ConditionConstant.value(mask))))
  }
}

extension Attribute where Value: OptionSet, Value.RawValue: AttributeValue & FixedWidthInteger {
  /// Whether the attribute's set contains all of `members`.
  ///
  ///     Message.where { $0.flags.contains(.unread) }
  public func contains(_ members: Value) -> Condition<E> {
    let bits = Operand.value(ConditionConstant.value(members.rawValue))
    if let failure { return Condition(.failure(failure)) }
    return Condition(.comparison(Comparison(.arithmetic(.and, operand, bits), .equal, bits)))
  }
}
