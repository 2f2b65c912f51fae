internal import LodestoreBytes
internal import LodestoreFormat

/// A comparison of two expressions of numbers, compiled for one record layout.
struct NumberComparison {
  private enum Order {
    case integers, doubles, integerBesideDouble, doubleBesideInteger
  }

  private let left: NumberProgram
  private let right: NumberProgram
  private let order: Order
  private let comparison: Comparison.Operator
  private let offsets: VariableOffsets
  private let shortestRecord: Int
  private let layoutNumber: UInt16

  /// Compiles a comparison; `nil` if ``NumberProgram`` cannot compile one of the sides.
  init?(
    _ left: BoundOperand, _ comparison: Comparison.Operator, _ right: BoundOperand,
    _ layout: RecordLayout
  ) {
    switch comparison {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: break
    default: return nil
    }
    guard let left = NumberProgram(left, layout), let right = NumberProgram(right, layout) else {
      return nil
    }
    switch (left.kind, right.kind) {
    case (.integer, .integer): order = .integers
    case (.double, .double), (.date, .date): order = .doubles
    case (.integer, .double): order = .integerBesideDouble
    case (.double, .integer): order = .doubleBesideInteger
    default: return nil
    }
    self.left = left
    self.right = right
    self.comparison = comparison
    offsets = VariableOffsets(layout)
    shortestRecord = offsets.shortestRecord
    layoutNumber = layout.number
  }

  /// Returns whether a record passes the comparison.
  ///
  /// Returns `nil` if ``ConditionEvaluator`` must evaluate the comparison. The cases are a record
  /// of another layout or with wide offsets, a number beyond 64 bits, and a text that is not ASCII.
  func admits(_ record: ByteView) -> Bool? {
    guard record.count >= shortestRecord, record.uint16(at: 0) == layoutNumber else { return nil }
    return withUnsafeTemporaryAllocation(
      of: UInt64.self, capacity: NumberProgram.registerCount
    ) { registers -> Bool? in
      guard let registers = registers.baseAddress else { return nil }
      registers.initialize(repeating: 0, count: NumberProgram.registerCount)
      let first = left.run(record, offsets, registers)
      if case .unknown = first { return nil }
      let x = registers.pointee
      let second = right.run(record, offsets, registers)
      if case .unknown = second { return nil }
      switch (first, second) {
      case (.value, .value): return holds(x, registers.pointee)
      // Null equals null, and has no order.
      case (.null, .null): return comparison == .equal
      default: return comparison == .notEqual
      }
    }
  }

  private func holds(_ x: UInt64, _ y: UInt64) -> Bool {
    switch order {
    case .integers: holds(Int64(bitPattern: x), Int64(bitPattern: y))
    case .doubles: holds(Double(bitPattern: x), Double(bitPattern: y))
    case .integerBesideDouble:
      holds(DynamicValue.order(Int64(bitPattern: x), Double(bitPattern: y)))
    case .doubleBesideInteger:
      holds(DynamicValue.order(Int64(bitPattern: y), Double(bitPattern: x)).map { -$0 })
    }
  }

  private func holds<T: Comparable>(_ x: T, _ y: T) -> Bool {
    switch comparison {
    case .equal: x == y
    case .notEqual: x != y
    case .less: x < y
    case .lessOrEqual: x <= y
    case .greater: x > y
    default: x >= y
    }
  }

  private func holds(_ order: Int?) -> Bool {
    guard let order else { return comparison == .notEqual }
    return holds(order, 0)
  }
}

extension NumberComparison {
  /// Returns the comparisons that together are equivalent to `comparison`, or `nil` if one of them
  /// cannot be compiled.
  static func all(_ comparison: BoundComparison, _ layout: RecordLayout) -> [NumberComparison]? {
    if comparison.quantifier != nil { return nil }
    let pairs: [(Comparison.Operator, BoundOperand)]
    if comparison.operator == .between {
      guard case .list(let bounds) = comparison.right, bounds.count == 2 else { return nil }
      pairs = [(.greaterOrEqual, bounds[0]), (.lessOrEqual, bounds[1])]
    } else {
      pairs = [(comparison.operator, comparison.right)]
    }
    var tests: [NumberComparison] = []
    for (op, right) in pairs {
      guard let test = NumberComparison(comparison.left, op, right, layout) else { return nil }
      tests.append(test)
    }
    return tests
  }
}
