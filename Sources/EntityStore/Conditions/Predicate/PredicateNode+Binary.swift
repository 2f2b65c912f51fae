internal import LodestoreEssentials

// MARK: Arithmetic

extension PredicateExpressions.Arithmetic: BinaryPredicateNode {
  var operands: (LHS, RHS) { (lhs, rhs) }

  private var arithmeticSign: ArithmeticOperator? {
    switch op {
    case .add: .add
    case .subtract: .subtract
    case .multiply: .multiply
    @unknown default: nil
    }
  }

  var operation: Operation {
    guard let sign = arithmeticSign else { return { _, _ in throw PredicateFault.unknownOperator } }
    if Output.self is any FixedWidthInteger.Type { return { try checked(sign, $0, $1) } }
    return switch sign {
    case .add: { $0 + $1 }
    case .subtract: { $0 - $1 }
    default: { $0 * $1 }
    }
  }

  var notation: PredicateNotation {
    .infix(arithmeticSign?.rawValue ?? "\(op)", arithmeticSign == .multiply ? .product : .sum)
  }
}

extension PredicateExpressions.IntDivision: BinaryPredicateNode {
  var operands: (LHS, RHS) { (lhs, rhs) }
  var notation: PredicateNotation { .infix("/", .product) }

  var operation: Operation {
    { dividend, divisor in
      try dividend.checkDivision(by: divisor)
      return dividend / divisor
    }
  }
}

extension PredicateExpressions.IntRemainder: BinaryPredicateNode {
  var operands: (LHS, RHS) { (lhs, rhs) }
  var notation: PredicateNotation { .infix("%", .product) }

  var operation: Operation {
    { dividend, divisor in
      try dividend.checkDivision(by: divisor)
      return dividend % divisor
    }
  }
}

extension PredicateExpressions.FloatDivision: BinaryPredicateNode {
  var operands: (LHS, RHS) { (lhs, rhs) }
  var operation: Operation { { $0 / $1 } }
  var notation: PredicateNotation { .infix("/", .product) }
}

// MARK: Ranges

extension PredicateExpressions.Range: BinaryPredicateNode {
  var operands: (LHS, RHS) { (lower, upper) }
  var notation: PredicateNotation { .infix("..<", .range) }

  var operation: Operation {
    { low, high in
      guard low <= high else { throw PredicateFault.reversedRange }
      return low..<high
    }
  }
}

extension PredicateExpressions.ClosedRange: BinaryPredicateNode {
  var operands: (LHS, RHS) { (lower, upper) }
  var notation: PredicateNotation { .infix("...", .range) }

  var operation: Operation {
    { low, high in
      guard low <= high else { throw PredicateFault.reversedRange }
      return low...high
    }
  }
}

extension PredicateExpressions.RangeExpressionContains: BinaryPredicateNode {
  var operands: (RangeExpression, Element) { (range, element) }
  var operation: Operation { { $0.contains($1) } }
  var notation: PredicateNotation { .method("contains") }
  var sign: Comparison.Operator? { .in }
}

// MARK: Collections and texts

extension PredicateExpressions.SequenceContains: BinaryPredicateNode {
  var operands: (LHS, RHS) { (sequence, element) }
  var operation: Operation { { $0.contains($1) } }
  var notation: PredicateNotation { .method("contains") }
  var sign: Comparison.Operator? { .in }
}

extension PredicateExpressions.SequenceStartsWith: BinaryPredicateNode {
  var operands: (Base, Prefix) { (base, prefix) }
  var operation: Operation { { $0.starts(with: $1) } }
  var notation: PredicateNotation { .method("starts", label: "with: ") }
  var sign: Comparison.Operator? { .beginsWith }
}

extension PredicateExpressions.CollectionContainsCollection: BinaryPredicateNode {
  var operands: (Base, Other) { (base, other) }
  var operation: Operation { { $0.contains($1) } }
  var notation: PredicateNotation { .method("contains") }
  var sign: Comparison.Operator? { .contains }
}

extension PredicateExpressions.StringContainsRegex: BinaryPredicateNode {
  var operands: (Subject, Regex) { (subject, regex) }
  var operation: Operation { { $0.contains($1) } }
  var notation: PredicateNotation { .suffix(".contains(/…/)") }
}

// MARK: Subscripts

extension PredicateExpressions.CollectionIndexSubscript: BinaryPredicateNode {
  var operands: (Wrapped, Index) { (wrapped, index) }
  var notation: PredicateNotation { .index }

  var operation: Operation {
    { collection, index in
      guard index >= collection.startIndex && index < collection.endIndex else {
        throw PredicateFault.indexOutOfRange
      }
      return collection[index]
    }
  }
}

extension PredicateExpressions.CollectionRangeSubscript: BinaryPredicateNode {
  var operands: (Wrapped, Range) { (wrapped, range) }
  var notation: PredicateNotation { .index }

  var operation: Operation {
    { collection, range in
      guard range.lowerBound >= collection.startIndex && range.upperBound <= collection.endIndex
      else { throw PredicateFault.rangeOutOfRange }
      return collection[range]
    }
  }
}

extension PredicateExpressions.DictionaryKeySubscript: BinaryPredicateNode {
  var operands: (Wrapped, Key) { (wrapped, key) }
  var operation: Operation { { $0[$1] } }
  var notation: PredicateNotation { .index }
}
