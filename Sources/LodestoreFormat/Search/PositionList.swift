import LodestoreBytes

/// The numbers that say the places of one term, in one record or in all records of a block.
///
/// See Format.md, "Postings". The view is valid as long as the block's bytes.
package struct PositionNumbers {
  private let bytes: ByteView
  /// The width of each number in bits; `nil` if the numbers are varints.
  private let width: Int?
  /// The next number: the offset of a varint, or the index of a number of bits.
  private var place: Int
  private let end: Int

  init(_ bytes: ByteView, width: Int?, _ range: Range<Int>) {
    self.bytes = bytes
    self.width = width
    place = range.lowerBound
    end = range.upperBound
  }

  package var isAtEnd: Bool { place >= end }

  package mutating func next() throws(FormatError) -> UInt64 {
    if let width, place < end {
      place &+= 1
      return BitPacking.number(at: place &- 1, in: bytes, offset: 0, width: width)
    }
    guard width == nil, place < end, let number = VariableNumber.read(bytes[..<end], at: &place)
    else { throw FormatError("positions end too early", .searchPostings) }
    return number
  }

  /// The numbers of one posting, from the places that ``PostingBlock/readPositionEnds(into:)``
  /// wrote.
  package func part(from start: Int, to end: Int) throws(FormatError) -> PositionNumbers {
    guard place <= start, start <= end, end <= self.end else {
      throw FormatError("positions beyond their block", .searchPostings)
    }
    return PositionNumbers(bytes, width: width, start..<end)
  }
}

/// The places of one term in one record.
package enum PositionList {
  /// Calls `body` with each source and position of a posting.
  package static func forEach(
    _ numbers: PositionNumbers, sourceCount: Int,
    _ body: (_ source: UInt32, _ position: UInt32) -> Void
  ) throws(FormatError) {
    var numbers = numbers
    while !numbers.isAtEnd {
      var source: UInt64 = 0
      var left = UInt64.max
      if sourceCount > 1 {
        let head = try numbers.next()
        source = head % UInt64(sourceCount)
        left = head / UInt64(sourceCount)
      }
      var position: UInt64?
      while left > 0, !numbers.isAtEnd {
        let step = try numbers.next()
        let next = (position.map { $0 &+ 1 } ?? 0) &+ step
        body(UInt32(source), UInt32(clamping: next))
        position = next
        left -= 1
      }
    }
  }
}
