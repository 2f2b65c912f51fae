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
    case points(PackedKeys)
    /// What tuples begin with: the first few elements, ascending.
    case prefixes(PackedKeys)
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
  /// Whether some of the span's tuples have a null.
  var mayHaveNulls = false

  var ranges: [IndexRange] {
    switch span {
    case .points(let keys), .prefixes(let keys):
      (0..<keys.count).map { .beginning(with: keys[$0]) }
    case .ranges(let ranges): ranges
    }
  }

  var rangeCount: Int {
    switch span {
    case .points(let keys), .prefixes(let keys): keys.count
    case .ranges(let ranges): ranges.count
    }
  }
}
