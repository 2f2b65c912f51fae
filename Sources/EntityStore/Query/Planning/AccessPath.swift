internal import LodestoreFormat

/// How the records of a query are found.
indirect enum AccessPath: Sendable {
  /// No record can fulfil the condition.
  case nothing
  /// All records, in the order of their ids.
  case scan
  /// Records by their ids, ascending.
  case ids([UInt64])
  case idRange(ClosedRange<UInt64>)
  case index(IndexAccess)
  /// Records with elements that the entries of an index over them have.
  case elements(IndexAccess)
  /// Records that lead to those which another query finds.
  case related(RelatedAccess)
  /// Records found by any of these.
  case union([AccessPath])
  /// Records found by all of these.
  case intersection([IndexAccess])
}

extension AccessPath {
  /// Whether there are ids among those it leads to that the query gives, so that no record may have
  /// them.
  var hasGivenIDs: Bool {
    switch self {
    case .ids: true
    case .union(let paths): paths.contains(where: \.hasGivenIDs)
    case .nothing, .scan, .idRange, .index, .elements, .related, .intersection: false
    }
  }
}

/// Entries of one index.
struct IndexAccess: Sendable {
  enum Span: Sendable {
    /// Tuples of all attributes of the index, ascending.
    case points(PackedKeys)
    /// Prefixes of tuples: the first few elements, ascending.
    case prefixes(PackedKeys)
    /// Ascending and disjoint.
    case ranges([IndexRange])
  }

  let index: StoredIndex
  var span: Span
  /// Attributes at the beginning of the index that have one value throughout the span.
  var fixedCount: Int
  /// Attributes at the beginning of the index that have one value within each range of the span.
  var pointCount = 0
  /// Whether the entries of the span fulfil all of ``clauses``.
  var isExact: Bool
  /// The positions in the conjunction of the conditions that the span is made of.
  var clauses: Set<Int>
  var estimatedEntryCount: Int
  /// Whether some of the span's tuples have a null.
  var mayHaveNulls = false
  /// What is checked on the entries of the span.
  var filter: EntryFilter?

  var ranges: [IndexRange] {
    switch span {
    case .points(let keys), .prefixes(let keys): keys.ranges
    case .ranges(let ranges): ranges
    }
  }

  /// Whether the ranges of the span are few and no key that may be cut lies across their bounds, so
  /// that they can be walked one after the other.
  var isWalked: Bool {
    if rangeCount <= 1 { return true }
    guard rangeCount <= Self.mostWalkedRanges else { return false }
    switch span {
    case .points(let keys), .prefixes(let keys):
      return (0..<keys.count).allSatisfy { keys.length($0) < KeyEncoder.cutPrefix - 1 }
    case .ranges(let ranges):
      return ranges.allSatisfy { range in
        range.lower.count < KeyEncoder.cutPrefix
          && range.upper.map { $0.count < KeyEncoder.cutPrefix } ?? true
      }
    }
  }

  private static let mostWalkedRanges = 256

  var rangeCount: Int {
    switch span {
    case .points(let keys), .prefixes(let keys): keys.count
    case .ranges(let ranges): ranges.count
    }
  }
}
