internal import LodestoreFormat

/// The parts of a conjunction, in which numeric tests of the same attribute are merged as they are
/// added.
struct MergedConjunction {
  private(set) var parts: [BoundCondition] = []
  private(set) var isNever = false
  /// The positions in ``parts`` of attributes' numeric tests, for parts after the first
  /// ``smallCount``.
  private var numberTests: [UInt32: Int] = [:]

  /// The number of leading parts that are searched one by one.
  ///
  /// Later parts are found by the dictionary.
  private static let smallCount = 8

  mutating func add(_ part: BoundCondition) {
    switch part {
    case .constant(true): return
    case .constant(false): isNever = true
    case .test(let test):
      guard test.hasNumbers else { break }
      if let position = position(of: test.attribute.number),
        case .test(let other) = parts[position]
      {
        guard let both = other.intersection(test) else {
          isNever = true
          return
        }
        parts[position] = .test(both)
        return
      }
      if parts.count >= Self.smallCount { numberTests[test.attribute.number] = parts.count }
    default: break
    }
    parts.append(part)
  }

  private func position(of attribute: UInt32) -> Int? {
    let small = parts.prefix(Self.smallCount).firstIndex { part in
      guard case .test(let test) = part else { return false }
      return test.attribute.number == attribute && test.hasNumbers
    }
    return small ?? (numberTests.isEmpty ? nil : numberTests[attribute])
  }
}

extension AttributeTest {
  fileprivate var hasNumbers: Bool {
    switch kind {
    case .interval, .numbers: true
    default: false
    }
  }

  /// Returns a test that only values passing both tests pass, or `nil` if no value passes both.
  fileprivate func intersection(_ other: AttributeTest) -> AttributeTest? {
    let both: AttributeTest? =
      switch (kind, other.kind) {
      case (.interval(let a), .interval(let b)):
        AttributeTest(attribute, .interval(a.intersection(b)))
      case (.numbers(let set), .interval(let interval)),
        (.interval(let interval), .numbers(let set)):
        AttributeTest(
          attribute,
          .numbers(
            NumberSet(set.sorted.filter { $0 >= interval.low && $0 <= interval.high })))
      case (.numbers(let a), .numbers(let b)):
        AttributeTest(
          attribute, .numbers(NumberSet(a.sorted.filter { b.contains($0) })),
          admitsNull: admitsNull && other.admitsNull)
      default: nil
      }
    guard let both, !BoundCondition.test(both).isNever else { return nil }
    return both
  }
}
