internal import LodestoreFormat

/// Normalizes a condition for planning and evaluation, so that equivalent conditions are treated
/// alike.
///
/// Negations apply to single tests only. Nested conjunctions and disjunctions are flattened. For
/// each attribute, a conjunction has one range of numbers or one list, and a disjunction has one
/// list of values and disjoint ranges. Parts common to all branches of a disjunction are moved in
/// front of it. Parts that are always or never true are removed, so that the result may be a
/// constant.
///
/// The time is linear in the size of the condition, except for sorting values.
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
    case .expression, .closure, .related, .search, .proximity:
      isNegated ? .not(condition) : condition
    }
  }

  /// Returns a constant for a condition that is known to be true or false for every record.
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
    // A part before one that is always true is still evaluated if it has a closure, since that can
    // fail.
    if let end = flat.firstIndex(where: \.isAlways) {
      guard flat[..<end].contains(where: \.hasClosure) else { return .constant(true) }
      return .any(Array(flat[...end]))
    }
    return factored(MergedDisjunction(flat).parts)
  }

  /// Rewrites `(a AND b) OR (a AND c)` as `a AND (b OR c)`.
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
  /// The parts of a conjunction, or the condition itself.
  var conjuncts: [BoundCondition] { if case .all(let parts) = self { parts } else { [self] } }

  /// Whether the condition contains a closure, whose evaluation can fail.
  var hasClosure: Bool {
    switch self {
    case .closure: true
    case .all(let parts), .any(let parts): parts.contains(where: \.hasClosure)
    case .not(let part): part.hasClosure
    case .constant, .test, .expression, .related, .search, .proximity: false
    }
  }
}

extension AttributeTest {
  /// Whether the test is false for every value, including null.
  fileprivate var isNever: Bool { BoundCondition.test(self).isNever }

  /// The negation of the test.
  ///
  /// The negation of a range with only one bound is again a range, if every value has a place in
  /// the order.
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
  /// Whether every value is in the order of numbers, because the type has no not-a-number.
  var hasWholeOrder: Bool {
    switch type {
    case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: true
    default: false
    }
  }
}

/// A key by which equal tests in different branches are found.
private struct TestKey: Hashable {
  private enum Kind: Hashable {
    case null
    case interval(NumberInterval)
    case numbers([Int64])
    /// The key of a text test, with the bytes of the operand: equal texts with other bytes differ
    /// in patterns and where bytes are compared.
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
