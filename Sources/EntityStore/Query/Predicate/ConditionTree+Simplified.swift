extension ConditionTree {
  /// The conjunction of `parts`, those that are conjunctions taken apart.
  ///
  /// Parts after a false one are never evaluated; those before it still are when they can fail.
  static func allOf(_ parts: [ConditionTree]) -> ConditionTree {
    var result: [ConditionTree] = []
    for part in parts {
      switch part {
      case .all(let inner): result += inner
      case .constant(true): continue
      default: result.append(part)
      }
      if result.last == .constant(false) {
        return result.allSatisfy(\.isFreeOfClosures) ? .constant(false) : all(of: result)
      }
    }
    return all(of: result)
  }

  /// The disjunction of `parts`, those that are disjunctions taken apart.
  static func anyOf(_ parts: [ConditionTree]) -> ConditionTree {
    var result: [ConditionTree] = []
    for part in parts {
      switch part {
      case .any(let inner): result += inner
      case .constant(false): continue
      default: result.append(part)
      }
      if result.last == .constant(true) {
        return result.allSatisfy(\.isFreeOfClosures) ? .constant(true) : any(of: result)
      }
    }
    return any(of: result)
  }

  /// The negation, without a NOT where that is simpler to plan.
  var opposite: ConditionTree {
    switch self {
    case .constant(let value): return .constant(!value)
    case .not(let part): return part
    case .comparison(var comparison)
    where comparison.operator == .notEqual && comparison.quantifier == nil:
      comparison.operator = .equal
      return .comparison(comparison)
    default: return negated
    }
  }

  /// Whether it has no Swift code: it cannot fail, and is cheap to evaluate twice.
  var isFreeOfClosures: Bool {
    switch self {
    case .closure: false
    case .all(let parts), .any(let parts): parts.allSatisfy(\.isFreeOfClosures)
    case .not(let part): part.isFreeOfClosures
    case .constant, .comparison: true
    }
  }
}
