internal import LodestoreFormat

extension BoundCondition {
  /// The estimated time to check the condition on a record's bytes, in nanoseconds.
  var checkingCost: Double {
    switch self {
    case .constant: 0
    case .all(let parts), .any(let parts): parts.reduce(0) { $0 + $1.checkingCost }
    case .not(let part): part.checkingCost
    case .test(let test):
      switch test.kind {
      case .null, .interval: 5
      case .numbers, .key: 30
      case .text: 40
      case .keys: 150
      }
    case .expression: 400
    case .closure: 800
    case .related: 1_000
    case .search(let search): search.checkingCost
    case .proximity: 200
    }
  }

  /// Whether the condition is a test of the record's id.
  var isOfRecordID: Bool {
    if case .test(let test) = self { test.attribute.isRecordID } else { false }
  }

  /// Whether the condition is known to be true for every record.
  var isAlways: Bool {
    switch self {
    case .constant(let flag): flag
    case .test(let test): test.isOfAllIDs
    default: false
    }
  }

  /// Whether the condition is known to be false for every record.
  var isNever: Bool {
    switch self {
    case .constant(let flag): !flag
    case .test(let test):
      switch test.kind {
      case .interval(let interval): interval.isEmpty
      case .numbers(let set): set.sorted.isEmpty && !test.admitsNull
      case .keys(let set): set.keys.isEmpty && !test.admitsNull
      default: false
      }
    case .all(let parts): parts.contains(where: \.isNever)
    case .any(let parts): parts.allSatisfy(\.isNever)
    case .not, .expression, .closure, .related, .proximity: false
    case .search(let search): search.query.isEmpty
    }
  }
}

extension AttributeTest {
  /// Whether the test is one of the record's id that admits all ids.
  fileprivate var isOfAllIDs: Bool {
    guard attribute.isRecordID, case .interval(let interval) = kind else { return false }
    // Unsigned ids are compared as signed numbers with the highest bit flipped, so `.min` stands
    // for 0, which is no id.
    return interval.low <= .min + 1 && interval.high == .max
  }
}
