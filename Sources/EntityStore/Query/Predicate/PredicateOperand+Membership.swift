internal import LodestoreFormat

extension PredicateOperand {
  /// Whether the list holds the element; nil when only code can tell.
  static func isMember<T: Equatable>(
    _ element: PredicateOperand, of list: Any, as type: T.Type, isDefault: (T) -> Bool
  ) -> ConditionTree? {
    let attribute: PredicateAttribute
    var isTrueForNull: Bool?
    switch element {
    case .constant(let value as T): return .constant(isDefault(value))
    case .attribute(let a): attribute = a
    case .defaulted(let a, let value as T):
      attribute = a
      isTrueForNull = isDefault(value)
    default: return nil
    }
    guard attribute.isScalar, StoredEquivalent(of: type) != nil,
      let list = list as? any ListOfConstants, let values = list.storedValues
    else { return nil }
    let present = values.filter { $0 != .null }
    var clause = Clause(condition: .constant(false), isTrueForNull: false)
    if !present.isEmpty {
      clause.condition = .comparison(Comparison(attribute.path, .in, .values(present)))
    }
    if present.count < values.count {
      clause.condition = .anyOf([clause.condition, attribute.isNull])
      clause.isTrueForNull = true
    }
    return clause.whenNull(isTrueForNull ?? clause.isTrueForNull, of: attribute)
  }

  /// Whether the range holds the element; nil when only code can tell.
  static func isMember<R: ConstantRange>(
    _ element: PredicateOperand, of range: R
  ) -> ConditionTree? {
    let attribute: PredicateAttribute
    var isTrueForNull: Bool?
    switch element {
    case .constant(let value as R.Bound): return .constant(range.contains(value))
    case .attribute(let a): attribute = a
    case .defaulted(let a, let value as R.Bound):
      attribute = a
      isTrueForNull = range.contains(value)
    default: return nil
    }
    guard let clause = inside(range, attribute) else { return nil }
    return clause.whenNull(isTrueForNull ?? clause.isTrueForNull, of: attribute)
  }

  private static func inside<R: ConstantRange>(
    _ range: R, _ attribute: PredicateAttribute
  ) -> Clause? {
    let bound: Comparison.Operator = range.isHighestIncluded ? .lessOrEqual : .less
    switch (range.lowest, range.highest) {
    case (let low?, nil): return compare(attribute, .greaterOrEqual, low, as: R.Bound.self)
    case (nil, let high?): return compare(attribute, bound, high, as: R.Bound.self)
    case (let low?, let high?):
      guard attribute.isScalar, let stored = StoredEquivalent(of: R.Bound.self),
        stored.order != .none, let low = StoredEquivalent.value(for: low),
        let high = StoredEquivalent.value(for: high)
      else { return nil }
      guard !range.isHighestIncluded else {
        let between = Comparison(attribute.path, .between, .values([low, high]))
        return Clause(condition: .comparison(between), isTrueForNull: false)
      }
      // Not-a-number, which Swift has below the end, is not at or above the start either.
      let parts = [attribute.compared(.greaterOrEqual, low), attribute.compared(.less, high)]
      return Clause(condition: .all(parts), isTrueForNull: false)
    case (nil, nil): return nil
    }
  }
}
