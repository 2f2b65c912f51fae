/// Constraints with several ranges of one attribute.
extension IndexConstraint {
  /// The maximum number of ranges of one constraint.
  ///
  /// With more ranges, entries are checked one by one instead.
  private static let mostRanges = 1_000

  /// Creates the constraint for an OR of tests of `attribute`, or for the negation of a test.
  init?(rangesOf condition: BoundCondition, on attribute: UInt32) {
    switch condition {
    case .any(let parts):
      var ranges: [IndexRange] = []
      for part in parts {
        guard let next = Self.ranges(of: part, on: attribute),
          ranges.count + next.count <= Self.mostRanges
        else { return nil }
        ranges += next
      }
      self.init(extent: .ranges(Self.disjoint(ranges)))
    case .not(.test(let test)):
      guard let ranges = Self.ranges(of: .test(test), on: attribute) else { return nil }
      self.init(extent: .ranges(Self.complement(of: Self.disjoint(ranges))))
    default: return nil
    }
  }

  private static func ranges(of condition: BoundCondition, on attribute: UInt32) -> [IndexRange]? {
    if let constraint = IndexConstraint(condition, on: attribute) {
      return constraint.isExact ? constraint.ranges : nil
    }
    guard case .not = condition else { return nil }
    return IndexConstraint(rangesOf: condition, on: attribute)?.ranges
  }

  /// The constraint's ranges; `nil` if its list is too long.
  private var ranges: [IndexRange]? {
    if case .points(let points) = extent, points.count > Self.mostRanges { return nil }
    return extent.ranges
  }

  /// Returns the union of `ranges` as ascending and disjoint ranges.
  private static func disjoint(_ ranges: [IndexRange]) -> [IndexRange] {
    var result: [IndexRange] = []
    let sorted = ranges.filter { !$0.isEmpty }.sorted {
      $0.lower.lexicographicallyPrecedes($1.lower)
    }
    for range in sorted {
      guard let last = result.last else {
        result.append(range)
        continue
      }
      guard let end = last.upper else { break }
      if end.lexicographicallyPrecedes(range.lower) {
        result.append(range)
      } else if let upper = range.upper {
        if end.lexicographicallyPrecedes(upper) { result[result.count - 1].upper = upper }
      } else {
        result[result.count - 1].upper = nil
      }
    }
    return result
  }

  /// Returns everything outside of `ranges`, including null.
  ///
  /// The ranges must be ascending and disjoint.
  private static func complement(of ranges: [IndexRange]) -> [IndexRange] {
    var result: [IndexRange] = []
    var start: [UInt8] = []
    for range in ranges {
      if start.lexicographicallyPrecedes(range.lower) {
        result.append(IndexRange(lower: start, upper: range.lower))
      }
      guard let upper = range.upper else { return result }
      start = upper
    }
    result.append(IndexRange(lower: start, upper: nil))
    return result
  }

  /// Returns the intersections of each range with each of `others`.
  static func intersection(_ some: [IndexRange], _ others: [IndexRange]) -> [IndexRange] {
    some.flatMap { one in others.map { one.intersection($0) }.filter { !$0.isEmpty } }
  }
}
