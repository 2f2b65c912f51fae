internal import LodestoreFormat

extension PredicateOperand {
  /// `left operator right`, of sides of type `T`; nil when only code can tell.
  ///
  /// `operator` is one of the six comparisons, and `holds` is what Swift says of two constants.
  static func compare<T>(
    _ left: PredicateOperand, _ operator: Comparison.Operator, _ right: PredicateOperand,
    as type: T.Type, holds: (T, T) -> Bool
  ) -> ConditionTree? {
    switch (left, right) {
    case (.constant(let a as T), .constant(let b as T)): return .constant(holds(a, b))
    case (.attribute(let attribute), .constant(let constant)):
      return compare(attribute, `operator`, constant, as: type)?.condition
    case (.constant(let constant), .attribute(let attribute)):
      return compare(attribute, `operator`.mirrored, constant, as: type)?.condition
    case (.attribute(let a), .attribute(let b)):
      return compare(a, `operator`, b, as: type)
    case (.defaulted(let attribute, let value as T), .constant(let constant as T)):
      return compare(attribute, `operator`, constant, as: type)?
        .whenNull(holds(value, constant), of: attribute)
    case (.constant(let constant as T), .defaulted(let attribute, let value as T)):
      return compare(attribute, `operator`.mirrored, constant, as: type)?
        .whenNull(holds(constant, value), of: attribute)
    default: return nil
    }
  }

  /// A condition on an attribute, and what it is for null.
  struct Clause {
    var condition: ConditionTree
    var isTrueForNull: Bool

    func whenNull(_ value: Bool, of attribute: PredicateAttribute) -> ConditionTree {
      if value == isTrueForNull { return condition }
      return value
        ? .anyOf([condition, attribute.isNull]) : .allOf([attribute.isNotNull, condition])
    }
  }

  static func compare<T>(
    _ attribute: PredicateAttribute, _ operator: Comparison.Operator, _ constant: Any,
    as type: T.Type
  ) -> Clause? {
    guard attribute.isScalar, let value = StoredEquivalent.value(for: constant) else { return nil }
    let isEquality = `operator` == .equal || `operator` == .notEqual
    // Null is null whatever the type; of other values the type decides.
    guard value != .null || !isEquality else {
      guard !StoredEquivalent.isNestedOptional(type) else { return nil }
      let condition = attribute.compared(`operator`, value)
      return Clause(condition: condition, isTrueForNull: `operator` == .equal)
    }
    guard let stored = StoredEquivalent(of: type) else { return nil }
    if isEquality {
      let condition = attribute.compared(`operator`, value)
      return Clause(condition: condition, isTrueForNull: `operator` == .notEqual)
    }
    switch (stored.order, `operator`) {
    case (.none, _): return nil
    case (.sameButNaN, .less), (.sameButNaN, .lessOrEqual):
      // Not-a-number is below everything, and >= and > are false of it as of no other number.
      let condition = attribute.compared(`operator`.opposite, value).negated
      return Clause(condition: condition, isTrueForNull: true)
    default:
      return Clause(condition: attribute.compared(`operator`, value), isTrueForNull: false)
    }
  }

  private static func compare<T>(
    _ a: PredicateAttribute, _ operator: Comparison.Operator, _ b: PredicateAttribute,
    as type: T.Type
  ) -> ConditionTree? {
    // Not for enumerations: without a value, what their `==` does is unknown.
    guard a.isScalar, b.isScalar, let comparable = T.self as? any ComparedAsStored.Type,
      comparable.storedOrder != .sameButNaN
    else { return nil }
    let isEquality = `operator` == .equal || `operator` == .notEqual
    guard isEquality || comparable.storedOrder == .same else { return nil }
    return .comparison(Comparison(a.path, `operator`, b.path))
  }
}

extension Comparison.Operator {
  /// The operator with its sides exchanged.
  fileprivate var mirrored: Comparison.Operator {
    switch self {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    default: self
    }
  }

  /// The operator that is true where this one is false, of numbers.
  fileprivate var opposite: Comparison.Operator {
    switch self {
    case .less: .greaterOrEqual
    case .lessOrEqual: .greater
    case .greater: .lessOrEqual
    case .greaterOrEqual: .less
    case .equal: .notEqual
    case .notEqual: .equal
    default: self
    }
  }
}
