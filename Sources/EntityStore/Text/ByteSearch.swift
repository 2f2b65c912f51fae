/// Finds bytes in bytes, in time linear in both.
enum ByteSearch {
  /// The first place from `start` on where `needle`, which is not empty, occurs.
  ///
  /// With `isCaseless` the haystack must be ASCII and the needle in lower case.
  @inline(__always)
  static func first(
    _ needle: UnsafeRawBufferPointer, in haystack: UnsafeRawBufferPointer, from start: Int = 0,
    isCaseless: Bool = false
  ) -> Int? {
    let length = needle.count
    let lastPlace = haystack.count &- length
    guard length > 0, start <= lastPlace else { return nil }
    let firstBytes = ASCIIWord.ones &* UInt64(needle[0])
    let lastBytes = ASCIIWord.ones &* UInt64(needle[length &- 1])
    var place = start
    // Comparing costs what the needle is long; when that adds up, it is not the needle to try at.
    var effort = 0
    while lastPlace &- place >= 7 {
      var heads = ASCIIWord.load(haystack, at: place)
      var tails = ASCIIWord.load(haystack, at: place &+ length &- 1)
      if isCaseless {
        heads = ASCIIWord.lowercased(heads)
        tails = ASCIIWord.lowercased(tails)
      }
      var found = ASCIIWord.zeros((heads ^ firstBytes) | (tails ^ lastBytes))
      while found != 0 {
        let candidate = place &+ found.trailingZeroBitCount &>> 3
        let common = commonLength(needle, haystack, at: candidate, isCaseless)
        if common == length { return candidate }
        effort &+= common
        found &= found &- 1
      }
      place &+= 8
      if effort > 8 &* (place &- start) &+ 1024 {
        var search = RepeatedByteSearch(needle, isCaseless: isCaseless, from: place)
        return search.next(in: haystack)
      }
    }
    while place <= lastPlace {
      if commonLength(needle, haystack, at: place, isCaseless) == length { return place }
      place &+= 1
    }
    return nil
  }

  @inline(__always)
  private static func commonLength(
    _ needle: UnsafeRawBufferPointer, _ haystack: UnsafeRawBufferPointer, at place: Int,
    _ isCaseless: Bool
  ) -> Int {
    for index in 0..<needle.count {
      let byte = haystack[place &+ index]
      if (isCaseless ? ASCIIWord.lowercased(byte) : byte) != needle[index] { return index }
    }
    return needle.count
  }
}

/// All places where a needle occurs, also overlapping ones, one after the other (Knuth, Morris and
/// Pratt).
struct RepeatedByteSearch {
  private let needle: UnsafeRawBufferPointer
  private let isCaseless: Bool
  /// For each length of a match how much of it is also a prefix.
  private var borders: [Int32]
  private var offset: Int
  private var matched = 0

  /// `needle` must outlive the search and not be empty.
  init(_ needle: UnsafeRawBufferPointer, isCaseless: Bool = false, from start: Int = 0) {
    self.needle = needle
    self.isCaseless = isCaseless
    offset = start
    borders = [Int32](repeating: 0, count: needle.count + 1)
    var border = 0
    for place in 1..<max(1, needle.count) {
      while border > 0, needle[place] != needle[border] { border = Int(borders[border]) }
      if needle[place] == needle[border] { border += 1 }
      borders[place + 1] = Int32(truncatingIfNeeded: border)
    }
  }

  mutating func next(in haystack: UnsafeRawBufferPointer) -> Int? {
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
