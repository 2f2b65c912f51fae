internal import LodestoreFormat

extension BoundCondition {
  /// About how many nanoseconds a check on the bytes of a record takes.
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
    }
  }

  /// Whether it is a test of the record's id.
  var isOfRecordID: Bool {
    if case .test(let test) = self { test.attribute.isRecordID } else { false }
  }

  /// Whether it is known to be true for every record.
  var isAlways: Bool {
    switch self {
    case .constant(let flag): flag
    case .test(let test): test.isOfAllIDs
    default: false
    }
  }

  /// Whether it is known to be false for every record.
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
    case .not, .expression, .closure, .related: false
    }
  }
}

extension AttributeTest {
  /// Whether it is a test of the record's id that admits all ids.
  fileprivate var isOfAllIDs: Bool {
    guard attribute.isRecordID, case .interval(let interval) = kind else { return false }
    // The order of unsigned numbers is that of signed ones with the other highest bit; 0 is no id.
    return interval.low <= .min + 1 && interval.high == .max
  }
}
