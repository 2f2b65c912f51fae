internal import LodestoreFormat

/// The way in which the records of a query are found.
indirect enum AccessPath: Sendable {
  /// Finds nothing, since no record can fulfil the condition.
  case nothing
  /// Reads all records, in the order of their ids.
  case scan
  /// Looks up records by ids, in ascending order.
  case ids([UInt64])
  case idRange(ClosedRange<UInt64>)
  case index(IndexAccess)
  /// Finds records by the elements of a list in their documents, with an element index.
  case elements(IndexAccess)
  /// Finds records that lead to the results of another query.
  case related(RelatedAccess)
  /// Finds records by words of their texts.
  case search(SearchAccess)
  /// Finds records by their places.
  case place(PlaceAccess)
  /// Finds records by the distances of their vectors.
  case vectors(VectorAccess)
  /// Finds the records of any of these paths.
  case union([AccessPath])
  /// Finds the records that all of these accesses find.
  case intersection([IndexAccess])
}

extension AccessPath {
  /// Whether some of the ids are given by the query, so that there may be no record with them.
  var hasGivenIDs: Bool {
    switch self {
    case .ids: true
    case .union(let paths): paths.contains(where: \.hasGivenIDs)
    case .vectors(let access): access.within?.hasGivenIDs ?? false
    case .nothing, .scan, .idRange, .index, .elements, .related, .search, .place, .intersection:
      false
    }
  }
}

/// Entries of one index.
struct IndexAccess: Sendable {
  enum Span: Sendable {
    /// Complete tuples of the index, ascending.
    case points(PackedKeys)
    /// The first elements of tuples, ascending.
    case prefixes(PackedKeys)
    /// Ranges of tuples, ascending and disjoint.
    case ranges([IndexRange])
  }

  let index: StoredIndex
  var span: Span
  /// The number of leading attributes of the index that have one value in the whole span.
  var fixedCount: Int
  /// The number of leading attributes of the index that have one value within each range of the
  /// span.
  var pointCount = 0
  /// Whether all entries of the span fulfil the conditions at ``clauses``.
  var isExact: Bool
  /// The conditions from which the span results, by their positions in the conjunction.
  var clauses: Set<Int>
  var estimatedEntryCount: Int
  /// Whether some of the span's tuples contain null.
  var mayHaveNulls = false
  /// The condition that is checked on the entries of the span.
  var filter: EntryFilter?

  var ranges: [IndexRange] {
    switch span {
    case .points(let keys), .prefixes(let keys): keys.ranges
    case .ranges(let ranges): ranges
    }
  }

  /// Whether the ranges of the span can be walked one after the other.
  ///
  /// The ranges must be few. Their bounds must be shorter than a cut key (Format.md, "Cut keys"),
  /// whose order is not known.
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
