internal import LodestoreFormat

/// Brings a condition into the form that is planned and evaluated, the same for all ways of saying
/// it.
///
/// Negations stand at single tests, nested conjunctions and disjunctions are one list each. Of one
/// attribute, a conjunction has one range of numbers or one list, a disjunction one list of values
/// and disjoint ranges. What all branches of a disjunction have in common stands in front of it.
/// Parts that are always or never true are gone, and the whole may be.
///
/// The time is linear in the size of the condition, but for the sorting of values.
enum NormalForm {
  static func of(_ condition: BoundCondition) -> BoundCondition {
    normal(condition, isNegated: false)
  }

  private static func normal(_ condition: BoundCondition, isNegated: Bool) -> BoundCondition {
    switch condition {
    case .constant(let flag): .constant(flag != isNegated)
    case .not(let part): normal(part, isNegated: !isNegated)
    case .all(let parts) where isNegated, .any(let parts) where !isNegated:
      disjunction(parts.map { normal($0, isNegated: isNegated) })
    case .all(let parts), .any(let parts):
      conjunction(parts.map { normal($0, isNegated: isNegated) })
    case .test(let test): plain(isNegated ? test.negated : condition)
    case .expression, .closure, .related: isNegated ? .not(condition) : condition
    }
  }

  /// A constant in place of a condition that is known to be true or false for every record.
  private static func plain(_ condition: BoundCondition) -> BoundCondition {
    condition.isAlways ? .constant(true) : condition.isNever ? .constant(false) : condition
  }

  // MARK: AND

  private static func conjunction(_ parts: [BoundCondition]) -> BoundCondition {
    var merged = MergedConjunction()
    for part in parts {
      if case .all(let inner) = part {
        for part in inner { merged.add(part) }
      } else {
        merged.add(part)
      }
    }
    let result = merged.parts
    if merged.isNever { return .constant(false) }
    return result.count > 1 ? .all(result) : result.first ?? .constant(true)
  }

  // MARK: OR

  private static func disjunction(_ parts: [BoundCondition]) -> BoundCondition {
    var flat: [BoundCondition] = []
    flat.reserveCapacity(parts.count)
    for part in parts {
      switch part {
      case .constant(false): continue
      case .any(let inner): flat += inner
      default: flat.append(part)
      }
    }
    // What stands before a part that is always true is evaluated still where it can fail.
    if let end = flat.firstIndex(where: \.isAlways) {
      guard flat[..<end].contains(where: \.hasClosure) else { return .constant(true) }
      return .any(Array(flat[...end]))
    }
    return factored(MergedDisjunction(flat).parts)
  }

  /// `(a AND b) OR (a AND c)` as `a AND (b OR c)`.
  private static func factored(_ branches: [BoundCondition]) -> BoundCondition {
    guard branches.count > 1 else { return branches.first ?? .constant(false) }
    var common: Set<TestKey>?
    for branch in branches {
      let keys = Set(branch.conjuncts.compactMap(TestKey.init))
      let shared = common?.intersection(keys) ?? keys
      if shared.isEmpty { return .any(branches) }
      common = shared
    }
    guard let common else { return .any(branches) }
    var factors: [BoundCondition] = []
    var rests: [BoundCondition] = []
    for (number, branch) in branches.enumerated() {
      var rest: [BoundCondition] = []
      var seen: Set<TestKey> = []
      for part in branch.conjuncts {
        guard let key = TestKey(part), common.contains(key) else {
          rest.append(part)
          continue
        }
        if number == 0, seen.insert(key).inserted { factors.append(part) }
      }
      rests.append(rest.count > 1 ? .all(rest) : rest.first ?? .constant(true))
    }
    return conjunction(factors + [disjunction(rests)])
  }
}

extension BoundCondition {
  /// The parts that must all be true.
  var conjuncts: [BoundCondition] {
    if case .all(let parts) = self { parts } else { [self] }
  }

  /// Whether Swift code takes part, which can fail.
  var hasClosure: Bool {
    switch self {
    case .closure: true
    case .all(let parts), .any(let parts): parts.contains(where: \.hasClosure)
    case .not(let part): part.hasClosure
    case .constant, .test, .expression, .related: false
    }
  }
}

extension AttributeTest {
  /// Whether it is false for every value, null too.
  fileprivate var isNever: Bool { BoundCondition.test(self).isNever }

  /// The opposite; a range without a bound on one side is one again where every value is in one of
  /// the two.
  fileprivate var negated: BoundCondition {
    if isNever { return .constant(true) }
    guard case .interval(let interval) = kind, !attribute.isOptional, attribute.hasWholeOrder else {
      return .not(.test(self))
    }
    let all = OrderedNumber.all(attribute.type)
    switch (interval.low <= all.low, interval.high >= all.high) {
    case (true, true): return .constant(false)
    case (true, false):
      return .test(
        AttributeTest(attribute, .interval(NumberInterval(low: interval.high + 1, high: all.high))))
    case (false, true):
      return .test(
        AttributeTest(attribute, .interval(NumberInterval(low: all.low, high: interval.low - 1))))
    case (false, false): return .not(.test(self))
    }
  }
}

extension BoundAttribute {
  /// Whether every value has a place in the order of its numbers: no not-a-number.
  var hasWholeOrder: Bool {
    switch type {
    case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: true
    default: false
    }
  }
}

/// A test by what it says, to find it again in other branches.
private struct TestKey: Hashable {
  private enum Kind: Hashable {
    case null
    case interval(NumberInterval)
    case numbers([Int64])
    /// With the bytes of the operand: equal texts of other bytes are different where bytes are
    /// compared, and in patterns.
    case text(Comparison.Operator, [UInt8], TextOptions)
    case key(KeyInterval)
    case keys(PackedKeys)
  }

  private let attribute: UInt32
  private let kind: Kind
  private let admitsNull: Bool

  init?(_ condition: BoundCondition) {
    guard case .test(let test) = condition else { return nil }
    attribute = test.attribute.number
    admitsNull = test.admitsNull
    kind =
      switch test.kind {
      case .null: .null
      case .interval(let interval): .interval(interval)
      case .numbers(let set): .numbers(set.sorted)
      case .text(_, let `operator`, let operand, let options):
        .text(`operator`, Array(operand.utf8), options)
      case .key(let interval): .key(interval)
      case .keys(let set): .keys(set.keys)
      }
  }
}
