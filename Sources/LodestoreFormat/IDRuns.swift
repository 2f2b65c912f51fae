import LodestoreBytes

/// A set of ids, stored as ranges of consecutive ids.
///
/// See Format.md, "History".
package struct IDRuns: Sendable, Hashable {
  /// The ranges.
  ///
  /// The ranges are ascending, not empty and not adjacent once ``normalize()`` was called.
  package private(set) var ranges: [Range<UInt64>] = []
  private var isNormal = true

  package init() {}

  package init(_ ranges: [Range<UInt64>]) {
    self.ranges = ranges.filter { !$0.isEmpty }
    isNormal = false
    normalize()
  }

  package var isEmpty: Bool { ranges.isEmpty }

  /// The number of ids.
  ///
  /// The runs must be normalized.
  package var count: Int {
    // The ranges of a damaged file may contain more ids than an integer can count.
    ranges.reduce(0) { $0.addingClamped(Int(clamping: $1.count)) }
  }

  /// Adds one id.
  ///
  /// Ids may come in any order; in ascending order an id costs one comparison.
  @inline(__always)
  package mutating func append(_ id: UInt64) {
    // A damaged file may hold this id, which no half-open range can contain.
    guard id < .max else { return }
    guard let last = ranges.last else {
      ranges.append(id..<id + 1)
      return
    }
    if id == last.upperBound {
      ranges[ranges.count - 1] = last.lowerBound..<id + 1
    } else if !last.contains(id) {
      if id < last.upperBound { isNormal = false }
      ranges.append(id..<id + 1)
    }
  }

  package mutating func append(_ ids: Range<UInt64>) {
    guard !ids.isEmpty else { return }
    if let last = ranges.last {
      if ids.lowerBound == last.upperBound {
        ranges[ranges.count - 1] = last.lowerBound..<ids.upperBound
        return
      }
      if ids.lowerBound < last.upperBound { isNormal = false }
    }
    ranges.append(ids)
  }

  /// Sorts the runs and joins those that overlap or are adjacent.
  package mutating func normalize() {
    if isNormal { return }
    isNormal = true
    ranges.sort { $0.lowerBound < $1.lowerBound }
    var joined: [Range<UInt64>] = []
    for range in ranges {
      if let last = joined.last, range.lowerBound <= last.upperBound {
        joined[joined.count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
      } else {
        joined.append(range)
      }
    }
    ranges = joined
  }

  /// A normalized copy.
  package var normalized: IDRuns {
    var result = self
    result.normalize()
    return result
  }

  /// Whether `id` is in the set.
  ///
  /// The runs must be normalized.
  package func contains(_ id: UInt64) -> Bool {
    let index = ranges.partitioningIndex { $0.upperBound > id }
    return index < ranges.count && ranges[index].contains(id)
  }

  /// Returns the ids that are not in `other`.
  ///
  /// Both sets must be normalized.
  package func subtracting(_ other: IDRuns) -> IDRuns {
    if other.isEmpty || isEmpty { return self }
    var result = IDRuns()
    var position = 0
    for range in ranges {
      var start = range.lowerBound
      while position < other.ranges.count, other.ranges[position].upperBound <= start {
        position += 1
      }
      var next = position
      while next < other.ranges.count, other.ranges[next].lowerBound < range.upperBound {
        let hole = other.ranges[next]
        if hole.lowerBound > start { result.append(start..<hole.lowerBound) }
        start = Swift.max(start, hole.upperBound)
        next += 1
      }
      if start < range.upperBound { result.append(start..<range.upperBound) }
    }
    return result
  }

  /// Returns the ids that are in both sets.
  ///
  /// Both sets must be normalized.
  package func intersection(_ other: IDRuns) -> IDRuns { subtracting(subtracting(other)) }
}

extension IDRuns: Sequence {
  package struct Iterator: IteratorProtocol {
    private let ranges: [Range<UInt64>]
    private var position = 0
    private var id: UInt64

    fileprivate init(_ ranges: [Range<UInt64>]) {
      self.ranges = ranges
      id = ranges.first?.lowerBound ?? 0
    }

    package mutating func next() -> UInt64? {
      guard position < ranges.count else { return nil }
      defer {
        id += 1
        if id == ranges[position].upperBound {
          position += 1
          if position < ranges.count { id = ranges[position].lowerBound }
        }
      }
      return id
    }
  }

  package func makeIterator() -> Iterator { Iterator(ranges) }

  package var underestimatedCount: Int { Swift.min(count, 1 << 20) }
}

extension IDRuns {
  /// The runs as in Format.md, "History": for each run the gap before it and its length less one,
  /// as LEB128.
  package var encoded: [UInt8] {
    var writer = DocumentWriter()
    var end: UInt64 = 0
    for range in ranges {
      writer.writeLEB128(range.lowerBound - end)
      writer.writeLEB128(UInt64(range.count) - 1)
      end = range.upperBound
    }
    return writer.bytes
  }

  /// Decodes runs; throws unless they ascend, do not touch, and contain only valid ids.
  package init(decoding bytes: ByteView) throws(FormatError) {
    var reader = DocumentReader(bytes)
    var end: UInt64 = 0
    while reader.offset < bytes.count {
      let gap = try reader.leb128()
      let length = try reader.leb128()
      guard gap > 0, gap < 1 << 63, length < 1 << 62, end + gap < 1 << 63 - length else {
        throw FormatError(
          "a run of ids does not ascend, or has what is no id", .historyIDs, at: reader.offset)
      }
      let start = end + gap
      end = start + length + 1
      ranges.append(start..<end)
    }
  }
}

extension Int {
  /// The sum, limited to the largest number, because a damaged file may contain impossible numbers.
  package func addingClamped(_ other: Int) -> Int {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? .max : sum
  }
}
