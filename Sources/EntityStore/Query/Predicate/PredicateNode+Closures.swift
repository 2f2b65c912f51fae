#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PredicateExpressions.SequenceContainsWhere: ClosurePredicateNode {
  var input: LHS { sequence }
  var body: RHS { test }
  var operation: Operation { { try $0.contains(where: $1) } }
  var notation: PredicateNotation { .closure("contains") }
}

extension PredicateExpressions.SequenceAllSatisfy: ClosurePredicateNode {
  var input: LHS { sequence }
  var body: RHS { test }
  var operation: Operation { { try $0.allSatisfy($1) } }
  var notation: PredicateNotation { .closure("allSatisfy") }
}

extension PredicateExpressions.Filter: ClosurePredicateNode {
  var input: LHS { sequence }
  var body: RHS { filter }
  var operation: Operation { { try $0.filter($1) } }
  var notation: PredicateNotation { .closure("filter") }
}
