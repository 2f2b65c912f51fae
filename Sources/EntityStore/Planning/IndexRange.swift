internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The index entries whose tuples as bytes are at or above `lower` and below `upper`.
///
/// The first byte of an element is below 255, and no element is a prefix of another. So a tuple of
/// leading elements with 255 appended is above all tuples that begin with these elements.
struct IndexRange: Sendable, Hashable {
  var lower: [UInt8]
  /// The upper bound; `nil` for the end of the index.
  var upper: [UInt8]?

  static let all = IndexRange(lower: [], upper: nil)

  /// Returns the range of all entries whose tuples begin with the elements of `tuple`.
  static func beginning(with tuple: [UInt8]) -> IndexRange {
    IndexRange(lower: tuple, upper: tuple.isEmpty ? nil : tuple + [255])
  }

  var isEmpty: Bool { upper.map { !lower.lexicographicallyPrecedes($0) } ?? false }

  func intersection(_ other: IndexRange) -> IndexRange {
    let low = lower.lexicographicallyPrecedes(other.lower) ? other.lower : lower
    guard let a = upper else { return IndexRange(lower: low, upper: other.upper) }
    guard let b = other.upper else { return IndexRange(lower: low, upper: a) }
    return IndexRange(lower: low, upper: a.lexicographicallyPrecedes(b) ? a : b)
  }

  /// Returns the range of tuples that are `prefix` followed by a tuple of this range.
  func following(_ prefix: [UInt8]) -> IndexRange {
    IndexRange(lower: prefix + lower, upper: upper.map { prefix + $0 } ?? prefix + [255])
  }

  /// Returns whether the range contains a complete tuple, which must not be cut.
  func admits(_ tuple: ByteView) -> Bool {
    if lower._withBytes({ compareKeys(tuple, $0) < 0 }) { return false }
    guard let upper else { return true }
    return upper._withBytes { compareKeys(tuple, $0) < 0 }
  }

  /// The keys that may be in the range.
  ///
  /// Values that differ only after the cut have the same key, apart from the id. So a bound longer
  /// than a cut key admits all keys with the same beginning.
  var keys: KeyRange {
    var range = KeyRange()
    if !lower.isEmpty { range.lower = .included(Array(lower.prefix(KeyEncoder.cutPrefix))) }
    if let upper {
      if upper.count <= KeyEncoder.cutPrefix {
        range.upper = .excluded(upper)
      } else {
        let prefix = Array(upper.prefix(KeyEncoder.cutPrefix))
        range.upper =
          KeyRange.successor(ofPrefix: prefix).map(KeyRange.Bound.excluded) ?? .unbounded
      }
    }
    return range
  }
}

extension PackedKeys {
  /// The ranges of the entries whose tuples begin with these keys.
  var ranges: [IndexRange] { (0..<count).map { .beginning(with: self[$0]) } }

  func within(_ ranges: [IndexRange]) -> PackedKeys {
    filter { key in ranges.contains { $0.admits(key) } }
  }
}
