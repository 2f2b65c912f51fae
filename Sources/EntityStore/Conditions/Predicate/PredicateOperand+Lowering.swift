internal import LodestoreFormat

// Lowers comparisons to conditions: with constants, with another attribute, with a list or a range,
// and of texts.

/// A condition on an attribute, with its result for null.
struct PredicateClause {
  var condition: ConditionTree
  var isTrueForNull = false

  func whenNull(_ value: Bool, of attribute: PredicateAttribute) -> ConditionTree {
    if value == isTrueForNull { return condition }
    return value
      ? .anyOf([condition, attribute.isNull]) : .allOf([attribute.isNotNull, condition])
  }
}

extension BinaryPredicateNode {
  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    condition(in: scope)
  }

  /// Returns the node as a condition with its ``sign``, or `nil` if it must be compiled.
  func condition<E: Entity>(in scope: PredicateScope<E>) -> ConditionTree? {
    switch (scope.operand(operands.0), scope.operand(operands.1)) {
    case (.constant(let left), .constant(let right)):
      (value(left, right) as? Bool).map(ConditionTree.constant)
    case (.attribute(let left), .attribute(let right)): condition(left, right)
    case (.attribute(let attribute), .constant(let constant)):
      clause(attribute, constant, isMirrored: false)?.condition
    case (.constant(let constant), .attribute(let attribute)):
      clause(attribute, constant, isMirrored: true)?.condition
    case (.defaulted(let attribute, let value), .constant(let constant)):
      (self.value(value, constant) as? Bool).flatMap {
        clause(attribute, constant, isMirrored: false)?.whenNull($0, of: attribute)
      }
    case (.constant(let constant), .defaulted(let attribute, let value)):
      (self.value(constant, value) as? Bool).flatMap {
        clause(attribute, constant, isMirrored: true)?.whenNull($0, of: attribute)
      }
    default: nil
    }
  }

  /// Returns the comparison of an attribute with a constant.
  ///
  /// - Parameter isMirrored: whether the constant is the left operand.
  private func clause(
    _ attribute: PredicateAttribute, _ constant: Any, isMirrored: Bool
  ) -> PredicateClause? {
    switch sign {
    case nil: nil
    case .in: isMirrored ? attribute.isMember(of: constant, as: Right.Output.self) : nil
    case .beginsWith, .contains: textClause(attribute, constant, isMirrored: isMirrored)
    case let sign?:
      attribute.clause(isMirrored ? sign.flipped ?? sign : sign, constant, as: Left.Output.self)
    }
  }

  private var isOfTexts: Bool {
    Left.Output.self == String.self && Right.Output.self == String.self
  }

  private func textClause(
    _ attribute: PredicateAttribute, _ constant: Any, isMirrored: Bool
  ) -> PredicateClause? {
    guard isOfTexts, attribute.type == .string, let sign, let text = constant as? String,
      !isMirrored || sign == .contains
    else { return nil }
    return PredicateClause(
      condition: attribute.compared(isMirrored ? .in : sign, .string(text)))
  }

  private func condition(_ a: PredicateAttribute, _ b: PredicateAttribute) -> ConditionTree? {
    guard let sign, sign != .in else { return nil }
    if sign == .beginsWith || sign == .contains {
      guard isOfTexts, a.type == .string, b.type == .string else { return nil }
    } else {
      // Comparisons of enumerations are not lowered. Their `==` can only be checked with a constant
      // value, and here both sides are attributes.
      guard a.isScalar, b.isScalar,
        let order = (Left.Output.self as? any ComparedAsStored.Type)?.storedOrder,
        order == .same || order == .none && sign.isEquality
      else { return nil }
    }
    return .comparison(Comparison(a.path, sign, b.path))
  }
}

extension PredicateAttribute {
  /// Returns the comparison with a constant of type `T`, or with null.
  fileprivate func clause<T>(
    _ sign: Comparison.Operator, _ constant: Any, as type: T.Type
  ) -> PredicateClause? {
    guard isScalar, let value = StoredEquivalent.value(for: constant) else { return nil }
    // Null equals null for every type. For other values the type decides.
    guard value != .null || !sign.isEquality else {
      guard !StoredEquivalent.isNestedOptional(type) else { return nil }
      return PredicateClause(condition: compared(sign, value), isTrueForNull: sign == .equal)
    }
    guard let order = StoredOrder(of: type) else { return nil }
    if sign.isEquality {
      return PredicateClause(condition: compared(sign, value), isTrueForNull: sign == .notEqual)
    }
    switch (order, sign) {
    case (.none, _): return nil
    // In Swift, not-a-number is below all numbers, so it passes < and <= with any number, and fails
    // >= and >.
    case (.sameButNaN, .less):
      return PredicateClause(
        condition: compared(.greaterOrEqual, value).negated, isTrueForNull: true)
    case (.sameButNaN, .lessOrEqual):
      return PredicateClause(condition: compared(.greater, value).negated, isTrueForNull: true)
    default: return PredicateClause(condition: compared(sign, value))
    }
  }

  /// Returns the condition that a list or a range contains the attribute, a value of type `T`.
  fileprivate func isMember<T>(of constant: Any, as type: T.Type) -> PredicateClause? {
    if let range = constant as? any ConstantRange { return isWithin(range) }
    guard isScalar, StoredOrder(of: type) != nil,
      let values = (constant as? any ListOfConstants)?.storedValues
    else { return nil }
    let present = values.filter { $0 != .null }
    let isPresent: ConditionTree =
      present.isEmpty ? .constant(false) : .comparison(Comparison(path, .in, .values(present)))
    guard present.count < values.count else { return PredicateClause(condition: isPresent) }
    return PredicateClause(condition: .anyOf([isPresent, isNull]), isTrueForNull: true)
  }

  private func isWithin<R: ConstantRange>(_ range: R) -> PredicateClause? {
    let bound: Comparison.Operator = range.isHighestIncluded ? .lessOrEqual : .less
    switch (range.lowest, range.highest) {
    case (let low?, nil): return clause(.greaterOrEqual, low, as: R.Bound.self)
    case (nil, let high?): return clause(bound, high, as: R.Bound.self)
    case (let low?, let high?):
      guard isScalar, let order = StoredOrder(of: R.Bound.self), order != .none,
        let low = StoredEquivalent.value(for: low), let high = StoredEquivalent.value(for: high)
      else { return nil }
      guard !range.isHighestIncluded else {
        return PredicateClause(
          condition: .comparison(Comparison(path, .between, .values([low, high]))))
      }
      // In Swift, not-a-number is below the upper bound, but not at or above the lower bound. So
      // the range excludes it, as the condition does.
      return PredicateClause(
        condition: .all([compared(.greaterOrEqual, low), compared(.less, high)]))
    case (nil, nil): return nil
    }
  }
}

extension Comparison.Operator {
  fileprivate var isEquality: Bool { self == .equal || self == .notEqual }
}
