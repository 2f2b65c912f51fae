import LodestoreBytes

/// The postings of one term in up to 128 records, as they are stored.
///
/// See Format.md, "Postings". The view is valid as long as the bytes.
package struct PostingBlock {
  /// The maximum number of postings in a block.
  package static let capacity = 128
  /// The number of postings from which a block has bounds.
  package static let leastBounded = 33

  /// The number of records, from 1 to 128.
  package let count: Int
  /// The number of records in all blocks of the term; `nil` unless the block is the last of
  /// several.
  package let total: UInt64?
  package let firstID: UInt64
  let bytes: ByteView
  /// The offset of the first id, after the number of postings of the term.
  let firstIDOffset: Int
  private let bounds: Range<Int>
  private let ids: PackedPart
  private let frequencies: PackedPart
  /// The factor of the numbers in ``frequencies``.
  private let frequencyFactor: UInt32
  /// For each posting the number of bytes of its positions, or in a packed block the number of
  /// numbers less 1.
  private let sizes: PackedPart
  /// The width of the numbers of positions; 0 if they are varints.
  private let widthOfPositions: UInt8
  private var positionWidth: Int? { widthOfPositions == 0 ? nil : Int(widthOfPositions) }
  private let positions: Int

  /// Numbers of one width from an offset.
  ///
  /// Searches copy blocks often, so parts are small: above 128 bytes a copy is a call.
  private struct PackedPart {
    private var start: UInt32 = 0
    private var bits: UInt8 = 0
    var offset: Int { Int(start) }
    var width: Int { Int(bits) }

    init() {}

    init(_ bytes: ByteView, count: Int, largestWidth: Int, at offset: inout Int) throws(FormatError)
    {
      guard offset < bytes.count else { throw PostingBlock.tooShort(offset) }
      bits = bytes[offset]
      start = UInt32(clamping: offset + 1)
      guard width <= largestWidth else {
        throw FormatError("a width of \(width) bits", .searchPostings, at: offset)
      }
      offset += 1 + BitPacking.byteCount(count, width: width)
      guard offset <= bytes.count else { throw PostingBlock.tooShort(offset) }
    }
  }

  private static func tooShort(_ offset: Int) -> FormatError {
    FormatError("the block ends too early", .searchPostings, at: offset)
  }

  package init(_ bytes: ByteView, _ form: PostingForm) throws(FormatError) {
    self.bytes = bytes
    var offset = 0
    (count, total) = try Self.counts(bytes, at: &offset)
    firstIDOffset = offset
    guard let firstID = VariableNumber.read(bytes, at: &offset) else { throw Self.tooShort(offset) }
    self.firstID = firstID
    if count >= Self.leastBounded {
      guard offset < bytes.count, bytes[offset] > 0 else { throw Self.tooShort(offset) }
      let boundCount = bytes[offset]
      offset += 1
      let start = offset
      for _ in 0..<boundCount {
        guard VariableNumber.read(bytes, at: &offset) != nil, offset < bytes.count else {
          throw Self.tooShort(offset)
        }
        offset += 1
      }
      bounds = start..<offset
    } else {
      bounds = 0..<0
    }
    ids =
      try count == 1
      ? PackedPart() : PackedPart(bytes, count: count - 1, largestWidth: 64, at: &offset)
    let stored =
      try form.storesFrequencies
      ? PackedPart(bytes, count: count, largestWidth: 32, at: &offset) : nil
    sizes =
      try count == 1
      ? PackedPart() : PackedPart(bytes, count: count, largestWidth: 32, at: &offset)
    frequencies = stored ?? sizes
    if form.isPacked, count > 1 {
      guard offset < bytes.count, (1...32).contains(bytes[offset]) else {
        throw FormatError("no width of positions", .searchPostings, at: offset)
      }
      widthOfPositions = bytes[offset]
      offset += 1
    } else {
      widthOfPositions = 0
    }
    positions = offset
    if stored == nil {
      let numbers = count == 1 ? Self.numberCount(bytes[offset...]) : 1
      frequencyFactor = form.weight &* UInt32(truncatingIfNeeded: numbers)
    } else {
      frequencyFactor = 1
    }
  }

  private static func counts(
    _ bytes: ByteView, at offset: inout Int
  ) throws(FormatError) -> (count: Int, total: UInt64?) {
    guard bytes.count > 1 else { throw tooShort(0) }
    let count = Int(bytes[0] & 0x7F) + 1
    offset = 1
    if bytes[0] & 0x80 == 0 { return (count, nil) }
    guard let total = VariableNumber.read(bytes, at: &offset), total > UInt64(count) else {
      throw FormatError("no number of postings of the term", .searchPostings, at: 1)
    }
    return (count, total)
  }

  /// The number of postings of a term, from its last block in any form.
  package static func total(_ lastBlock: ByteView) throws(FormatError) -> UInt64 {
    var offset = 0
    let (count, total) = try counts(lastBlock, at: &offset)
    return total ?? UInt64(count)
  }

  /// The number of varints in bytes.
  private static func numberCount(_ bytes: ByteView) -> Int {
    var count = 0
    for index in 0..<bytes.count where bytes[index] < 0x80 { count &+= 1 }
    return count
  }

  /// Calls `body` with each bound: the highest frequency and the least length, of which no posting
  /// has a higher and a lower.
  @inline(__always)
  package func forEachBound(_ body: (_ frequency: UInt32, _ length: UInt16) -> Void) {
    var offset = bounds.lowerBound
    while offset < bounds.upperBound {
      let frequency = VariableNumber.read(bytes, at: &offset) ?? 0
      body(UInt32(truncatingIfNeeded: frequency), LengthClass.least(bytes[offset]))
      offset &+= 1
    }
  }

  package var hasBounds: Bool { !bounds.isEmpty }

  /// Writes the ids to `result`, ``count`` numbers of u64; throws if they do not ascend.
  @inline(__always)
  package func readIDs(into result: MutableByteView) throws(FormatError) {
    var id = firstID
    result.storeBytes(of: id, as: UInt64.self)
    var hasOverflow = false
    BitPacking.forEach(count &- 1, in: bytes, offset: ids.offset, width: ids.width) { index, gap in
      let next = id &+ gap &+ 1
      hasOverflow = hasOverflow || next <= id
      id = next
      result.storeBytes(of: id, toByteOffset: (index &+ 1) &* 8, as: UInt64.self)
    }
    if hasOverflow {
      throw FormatError("ids above the highest id", .searchPostings, at: ids.offset)
    }
  }

  /// The weighted frequency of the posting at `index`.
  @inline(__always)
  package func frequency(at index: Int) -> UInt32 {
    UInt32(
      truncatingIfNeeded: BitPacking.number(
        at: index, in: bytes, offset: frequencies.offset, width: frequencies.width) &+ 1)
      &* frequencyFactor
  }

  /// Writes the frequencies to `result`, ``count`` numbers of u32.
  @inline(__always)
  package func readFrequencies(into result: MutableByteView) {
    let (offset, width, factor) = (frequencies.offset, frequencies.width, frequencyFactor)
    BitPacking.forEach(count, in: bytes, offset: offset, width: width) { index, number in
      result.storeBytes(
        of: (UInt32(truncatingIfNeeded: number) &+ 1) &* factor, toByteOffset: index &* 4,
        as: UInt32.self)
    }
  }

  /// The frequency that no posting of the block exceeds, from the width of its frequencies.
  package var highestFrequency: UInt64 {
    UInt64(frequencyFactor) &<< UInt64(frequencies.width)
  }

  /// Writes the place at which the positions of each posting end to `result`, ``count`` numbers of
  /// u32, and returns the positions of all postings.
  ///
  /// See ``PositionNumbers/part(from:to:)``.
  package func readPositionEnds(
    into result: MutableByteView
  ) throws(FormatError) -> PositionNumbers {
    let all = bytes[positions...]
    if count == 1 {
      result.storeBytes(of: UInt32(all.count), as: UInt32.self)
      return PositionNumbers(all, width: nil, 0..<all.count)
    }
    var end: UInt64 = 0
    let least: UInt64 = positionWidth == nil ? 0 : 1
    BitPacking.forEach(count, in: bytes, offset: sizes.offset, width: sizes.width) { index, size in
      end &+= size &+ least
      result.storeBytes(
        of: UInt32(truncatingIfNeeded: end), toByteOffset: index &* 4, as: UInt32.self)
    }
    // At most 128 sizes of 32 bits.
    let count = Int(end)
    let byteCount = positionWidth.map { BitPacking.byteCount(count, width: $0) } ?? count
    guard byteCount == all.count else {
      throw FormatError(
        "\(all.count) bytes of positions instead of \(byteCount)", .searchPostings,
        at: positions)
    }
    return PositionNumbers(all, width: positionWidth, 0..<count)
  }

  /// The positions of the posting at `index`.
  ///
  /// - Parameters:
  ///   - ends: the ends that ``readPositionEnds(into:)`` has written.
  ///   - all: the positions that it has returned.
  package static func positions(
    at index: Int, _ ends: MutableByteView, _ all: PositionNumbers
  ) throws(FormatError) -> PositionNumbers {
    func end(_ index: Int) -> Int {
      Int(ends.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self))
    }
    return try all.part(from: index == 0 ? 0 : end(index - 1), to: end(index))
  }
}
