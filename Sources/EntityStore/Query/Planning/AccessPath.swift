internal import LodestoreFormat

/// Where the records of a query are looked for.
package indirect enum AccessPath: Sendable {
  /// No record can fulfil the condition.
  case nothing
  /// All records, in the order of their ids.
  case scan
  /// Records by their ids, ascending.
  case ids([UInt64])
  case idRange(ClosedRange<UInt64>)
  case index(IndexAccess)
  /// Records that one of these leads to.
  case union([AccessPath])
  /// Records that all of these lead to.
  case intersection([IndexAccess])
}

/// Entries of one index.
package struct IndexAccess: Sendable {
  enum Span: Sendable {
    /// Tuples of all attributes of the index, ascending.
    case points([[UInt8]])
    /// Ascending, apart from each other.
    case ranges([IndexRange])
  }

  let index: StoredIndex
  var span: Span
  /// Attributes at the beginning of the index that have one value throughout the span.
  var fixedCount: Int
  var exactness: IndexConstraint.Exactness
  /// Positions in the conjunction that the span stands for.
  var clauses: Set<Int>
  var estimatedEntryCount: Int

  var ranges: [IndexRange] {
    switch span {
    case .points(let points): points.map { .beginning(with: $0) }
    case .ranges(let ranges): ranges
    }
  }

  /// The elements that the tuples of several ranges begin with, where that is all they say.
  var prefixes: [[UInt8]]? {
    guard case .ranges(let ranges) = span, ranges.count > 1 else { return nil }
    var prefixes: [[UInt8]] = []
    prefixes.reserveCapacity(ranges.count)
    for range in ranges {
      guard let upper = range.upper, upper.count == range.lower.count + 1, upper.last == 255,
        upper.starts(with: range.lower)
      else { return nil }
      prefixes.append(range.lower)
    }
    return prefixes
  }

  var rangeCount: Int {
    switch span {
    case .points(let points): points.count
    case .ranges(let ranges): ranges.count
    }
  }
}
