internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The branches of a disjunction, in which tests of the same attribute are merged.
///
/// Equalities and lists of an attribute become one list, and its ranges become disjoint ranges. The
/// merged tests take the place of the first of them.
struct MergedDisjunction {
  private(set) var parts: [BoundCondition] = []

  /// The collected tests of one attribute.
  private final class Group {
    let attribute: BoundAttribute
    let first: AttributeTest
    var testCount = 0
    var admitsNull = false
    var numbers: [Int64] = []
    var intervals: [NumberInterval] = []
    var keys: KeyEntries?

    init(_ test: AttributeTest) {
      attribute = test.attribute
      first = test
    }
  }

  init(_ branches: [BoundCondition]) {
    var groups: [UInt32: Group] = [:]
    // The branches in order, with a group in place of an attribute's tests until all are collected.
    var order: [(branch: BoundCondition?, group: Group?)] = []
    order.reserveCapacity(branches.count)
    for branch in branches {
      guard case .test(let test) = branch, test.canBeListed else {
        order.append((branch, nil))
        continue
      }
      let number = test.attribute.number
      if let group = groups[number] {
        Self.add(test, to: group)
      } else {
        let group = Group(test)
        groups[number] = group
        Self.add(test, to: group)
        order.append((nil, group))
      }
    }
    for item in order {
      if let branch = item.branch { parts.append(branch) }
      if let group = item.group { parts += Self.tests(of: group) }
    }
    if parts.contains(where: \.isAlways) { parts = [.constant(true)] }
  }

  private static func add(_ test: AttributeTest, to group: Group) {
    group.testCount += 1
    group.admitsNull = group.admitsNull || test.admitsNull
    switch test.kind {
    case .null: group.admitsNull = true
    case .interval(let interval):
      if interval.isOneValue(of: test.attribute.type) {
        group.numbers += interval.low...interval.high
      } else {
        group.intervals.append(interval)
      }
    case .numbers(let set): group.numbers += set.sorted
    case .key(let interval):
      if let element = interval.lower?.element {
        element._withBytes { append($0, to: group) }
      }
    case .keys(let set):
      for index in 0..<set.keys.count { set.keys.withKey(index) { append($0, to: group) } }
    case .text(_, _, let operand, _):
      PackedKeys.element(.string(operand))._withBytes { append($0, to: group) }
    }
  }

  private static func append(_ element: ByteView, to group: Group) {
    let keys = group.keys ?? KeyEntries(expectedCount: 16)
    keys.append(key: element, recordID: 0)
    group.keys = keys
  }

  private static func tests(of group: Group) -> [BoundCondition] {
    // A single test stays as it is, and does not become a list.
    if group.testCount == 1 { return [.test(group.first)] }
    let attribute = group.attribute
    if let keys = group.keys {
      return [
        .test(
          AttributeTest(
            attribute, .keys(KeySet(keys: PackedKeys(sorting: keys))),
            admitsNull: group.admitsNull))
      ]
    }
    let intervals = joined(group.intervals)
    if let only = intervals.first, attribute.hasWholeOrder {
      let all = OrderedNumber.all(attribute.type)
      let isAll = only.low <= all.low && only.high >= all.high
      if isAll, !attribute.isOptional || group.admitsNull { return [.constant(true)] }
    }
    let numbers = NumberSet(group.numbers.filter { !Self.contains($0, in: intervals) })
    var tests = intervals.map { AttributeTest(attribute, .interval($0)) }
    if !numbers.sorted.isEmpty {
      tests.append(AttributeTest(attribute, .numbers(numbers), admitsNull: group.admitsNull))
    } else if group.admitsNull {
      tests.append(AttributeTest(attribute, .null))
    }
    return tests.map(BoundCondition.test)
  }

  /// Returns whether one of `intervals` contains `number`.
  ///
  /// The intervals must be ascending and disjoint.
  private static func contains(_ number: Int64, in intervals: [NumberInterval]) -> Bool {
    let index = intervals.partitioningIndex { $0.high >= number }
    return index < intervals.count && intervals[index].low <= number
  }

  /// Returns the same numbers as ascending intervals that do not touch.
  private static func joined(_ intervals: [NumberInterval]) -> [NumberInterval] {
    var result: [NumberInterval] = []
    for interval in intervals.sorted(by: { $0.low < $1.low }) {
      if let last = result.last, last.high == .max || interval.low <= last.high + 1 {
        result[result.count - 1].high = max(last.high, interval.high)
      } else {
        result.append(interval)
      }
    }
    return result
  }
}

extension AttributeTest {
  /// Whether the test admits single values or a range of numbers, so that it can be merged.
  fileprivate var canBeListed: Bool {
    switch kind {
    case .null, .interval, .numbers, .keys: true
    case .text(_, let `operator`, _, let options): `operator` == .equal && options.isEmpty
    case .key(let interval): interval.lower?.isIncluded == true && interval.lower == interval.upper
    }
  }
}

extension NumberInterval {
  /// Returns whether the interval is one number; −0 and 0 are one number.
  fileprivate func isOneValue(of type: AttributeType) -> Bool {
    if low == high { return true }
    switch type {
    case .float, .double, .date: return low == -1 && high == 0
    default: return false
    }
  }
}
