extension ConditionTree {
  /// Returns the conjunction of `parts`, with nested conjunctions flattened.
  ///
  /// Parts after a false one are never evaluated. Parts before the false one are still evaluated if
  /// they can fail.
  static func allOf(_ parts: [ConditionTree]) -> ConditionTree {
    let (flat, isDecided) = flattened(parts, isAll: true)
    return isDecided ? .constant(false) : all(of: flat)
  }

  /// Returns the disjunction of `parts`, with nested disjunctions flattened.
  ///
  /// Parts after a true one are never evaluated. Parts before the true one are still evaluated if
  /// they can fail.
  static func anyOf(_ parts: [ConditionTree]) -> ConditionTree {
    let (flat, isDecided) = flattened(parts, isAll: false)
    return isDecided ? .constant(true) : any(of: flat)
  }

  /// Returns the parts up to the first constant that decides the result, and whether they can be
  /// replaced by it.
  ///
  /// The parts can be replaced if none before the constant can fail.
  private static func flattened(
    _ parts: [ConditionTree], isAll: Bool
  ) -> (parts: [ConditionTree], isDecided: Bool) {
    var result: [ConditionTree] = []
    for part in parts {
      switch part {
      case .all(let inner) where isAll, .any(let inner) where !isAll: result += inner
      case .constant(isAll): continue
      default: result.append(part)
      }
      if result.last == .constant(!isAll) { return (result, result.allSatisfy(\.isFreeOfClosures)) }
    }
    return (result, false)
  }

  /// The negation, without NOT if there is a form that is simpler to plan.
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

  /// Whether the condition has no Swift closure, so that it cannot fail and is cheap to evaluate
  /// twice.
  var isFreeOfClosures: Bool {
    switch self {
    case .closure: false
    case .all(let parts), .any(let parts): parts.allSatisfy(\.isFreeOfClosures)
    case .not(let part): part.isFreeOfClosures
    case .constant, .comparison: true
    }
  }
}
