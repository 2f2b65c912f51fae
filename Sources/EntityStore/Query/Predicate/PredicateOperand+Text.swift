internal import LodestoreFormat

extension PredicateOperand {
  /// `left operator right`, of a text and a text constant or another text; nil when only code can tell.
  static func compareText(
    _ left: PredicateOperand, _ operator: Comparison.Operator, _ right: PredicateOperand,
    holds: (String, String) -> Bool
  ) -> ConditionTree? {
    switch (left, right) {
    case (.constant(let a as String), .constant(let b as String)): return .constant(holds(a, b))
    case (.attribute(let a), .constant(let text as String)) where a.type == .string:
      return a.compared(`operator`, .string(text))
    case (.attribute(let a), .attribute(let b)) where a.type == .string && b.type == .string:
      return .comparison(Comparison(a.path, `operator`, b.path))
    case (.constant(let text as String), .attribute(let a))
    where a.type == .string && `operator` == .contains:
      return a.compared(.in, .string(text))
    case (.defaulted(let a, let value as String), .constant(let text as String))
    where a.type == .string:
      let clause = Clause(condition: a.compared(`operator`, .string(text)), isTrueForNull: false)
      return clause.whenNull(holds(value, text), of: a)
    default: return nil
    }
  }
}
