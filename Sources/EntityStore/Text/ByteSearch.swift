internal import LodestoreBytes

/// Searches for bytes in bytes, in time linear in both lengths.
enum ByteSearch {
  /// Returns the offset of the first occurrence of `needle` at or after `start`.
  ///
  /// The needle must not be empty.
  ///
  /// With `isCaseless` the haystack must be ASCII and the needle in lower case.
  @inline(__always)
  static func first(
    _ needle: ByteView, in haystack: ByteView, from start: Int = 0, isCaseless: Bool = false
  ) -> Int? {
    let length = needle.count
    let lastOffset = haystack.count &- length
    guard length > 0, start <= lastOffset else { return nil }
    let firstBytes = ASCIIWord.ones &* UInt64(needle[0])
    let lastBytes = ASCIIWord.ones &* UInt64(needle[length &- 1])
    var offset = start
    // The number of bytes compared without a match. When it is high, another search takes over,
    // which never compares a byte twice.
    var effort = 0
    while lastOffset &- offset >= 7 {
      var heads = ASCIIWord.load(haystack, at: offset)
      var tails = ASCIIWord.load(haystack, at: offset &+ length &- 1)
      if isCaseless {
        heads = ASCIIWord.lowercased(heads)
        tails = ASCIIWord.lowercased(tails)
      }
      var found = ASCIIWord.zeros((heads ^ firstBytes) | (tails ^ lastBytes))
      while found != 0 {
        let candidate = offset &+ found.trailingZeroBitCount &>> 3
        let common = commonLength(needle, haystack, at: candidate, isCaseless)
        if common == length { return candidate }
        effort &+= common
        found &= found &- 1
      }
      offset &+= 8
      if effort > 8 &* (offset &- start) &+ 1024 {
        var search = RepeatedByteSearch(needle, isCaseless: isCaseless, from: offset)
        return search.next(in: haystack)
      }
    }
    while offset <= lastOffset {
      if commonLength(needle, haystack, at: offset, isCaseless) == length { return offset }
      offset &+= 1
    }
    return nil
  }

  @inline(__always)
  private static func commonLength(
    _ needle: ByteView, _ haystack: ByteView, at offset: Int, _ isCaseless: Bool
  ) -> Int {
    for index in 0..<needle.count {
      let byte = haystack[offset &+ index]
      if (isCaseless ? ASCIIWord.lowercased(byte) : byte) != needle[index] { return index }
    }
    return needle.count
  }
}

/// Finds all occurrences of a needle in order, including overlapping ones (Knuth, Morris and
/// Pratt).
struct RepeatedByteSearch {
  private let needle: ByteView
  private let isCaseless: Bool
  /// For each length of a partial match, the length of its longest proper suffix that is also a
  /// prefix.
  private var borders: [Int32]
  private var offset: Int
  private var matched = 0

  /// Creates a search.
  ///
  /// `needle` must not be empty, and must outlive the search.
  init(_ needle: ByteView, isCaseless: Bool = false, from start: Int = 0) {
    self.needle = needle
    self.isCaseless = isCaseless
    offset = start
    borders = [Int32](repeating: 0, count: needle.count + 1)
    var border = 0
    for index in 1..<max(1, needle.count) {
      while border > 0, needle[index] != needle[border] { border = Int(borders[border]) }
      if needle[index] == needle[border] { border += 1 }
      borders[index + 1] = Int32(truncatingIfNeeded: border)
    }
  }

  mutating func next(in haystack: ByteView) -> Int? {
    while offset < haystack.count {
      let byte = isCaseless ? ASCIIWord.lowercased(haystack[offset]) : haystack[offset]
      while matched > 0, matched == needle.count || byte != needle[matched] {
        matched = Int(borders[matched])
      }
      if byte == needle[matched] { matched += 1 }
      offset += 1
      if matched == needle.count { return offset - matched }
    }
    return nil
  }
}
