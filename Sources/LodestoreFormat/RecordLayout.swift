/// The places of attributes in records of one layout number.
///
/// See Format.md, "Records".
public final class RecordLayout: Sendable {
  /// One attribute of the layout.
  public struct Attribute: Sendable, Hashable {
    /// The number in the catalogue.
    public var number: UInt32
    /// The type as stored.
    public var type: AttributeType
    /// Whether it has a null bit.
    public var isOptional: Bool

    package init(number: UInt32, type: AttributeType, isOptional: Bool) {
      self.number = number
      self.type = type
      self.isOptional = isOptional
    }
  }

  /// Where an attribute is within a record.
  public struct Place: Sendable {
    /// The type as stored.
    public var type: AttributeType
    /// Which null bit is its own; −1 when it cannot be null.
    public var nullBit: Int32
    /// Fixed width: offset of the slot from the start of the record.
    ///
    /// Variable: its ordinal.
    public var position: Int32
  }

  /// Bytes of the layout number.
  @inlinable public static var headerSize: Int { 2 }
  /// The bit of the header that says that ends have 32 bits.
  @inlinable public static var wideFlag: UInt16 { 0x8000 }
  /// The highest layout number.
  @inlinable public static var highestNumber: UInt16 { 0x3fff }
  /// Bytes of the checksum at the end.
  @inlinable public static var checksumSize: Int { 4 }
  /// The most variable bytes with ends of 16 bits.
  @inlinable public static var longestNarrow: Int { 65_535 }

  /// What the header of a record has.
  public let number: UInt16
  /// In the order of their places.
  public let attributes: [Attribute]
  /// One for each attribute.
  public let places: [Place]
  /// Bytes of null bits.
  public let nullByteCount: Int
  /// Offset of the first slot, behind header and null bits.
  @inlinable @inline(__always)
  public var slotsOffset: Int { Self.headerSize &+ nullByteCount }
  /// Attributes with a null bit.
  public let optionalCount: Int
  /// Attributes without a slot.
  public let variableCount: Int
  /// Offset of the ends, which is also the size of header, nulls and slots.
  public let endsOffset: Int
  /// Place by attribute number; −1 where this layout does not have the attribute.
  @usableFromInline let placeByNumber: [Int32]

  package init(number: UInt16, attributes: [Attribute]) {
    self.number = number
    self.attributes = attributes
    optionalCount = attributes.reduce(0) { $0 + ($1.isOptional ? 1 : 0) }
    nullByteCount = (optionalCount + 7) / 8
    var slotOffset = Self.headerSize + nullByteCount
    var variableOrdinal = 0
    var nullBit = 0
    var places: [Place] = []
    var byNumber = [Int32](repeating: -1, count: Int((attributes.map(\.number).max() ?? 0) + 1))
    for (index, attribute) in attributes.enumerated() {
      var place = Place(type: attribute.type, nullBit: -1, position: 0)
      if attribute.isOptional {
        place.nullBit = Int32(nullBit)
        nullBit += 1
      }
      if attribute.type.isVariable {
        place.position = Int32(variableOrdinal)
        variableOrdinal += 1
      } else {
        place.position = Int32(slotOffset)
        slotOffset += attribute.type.slotSize
      }
      places.append(place)
      byNumber[Int(attribute.number)] = Int32(index)
    }
    self.places = places
    placeByNumber = byNumber
    variableCount = variableOrdinal
    endsOffset = slotOffset
  }

  /// The place of the attribute with `number`; `nil` when this layout does not have it.
  @inlinable @inline(__always)
  public func placeIndex(ofAttribute number: UInt32) -> Int? {
    guard number < placeByNumber.count, placeByNumber[Int(number)] >= 0 else { return nil }
    return Int(placeByNumber[Int(number)])
  }

  /// Where the variable bytes begin in `record`, which has the shape of this layout and less than 2¹⁵
  /// variable bytes.
  ///
  /// `nil` for any other: ``RecordView`` looks closer. That ends do not decrease and where the last
  /// one is say all there is to say, so nearly every record is checked by few instructions.
  @inlinable @inline(__always)
  public func narrowHeapOffset(in record: UnsafeRawBufferPointer) -> Int? {
    let heapOffset = endsOffset &+ variableCount &* 2
    let heapCount = record.count &- heapOffset &- Self.checksumSize
    guard heapCount >= 0, record.uint16(at: 0) == number else { return nil }
    let last = variableCount &- 1
    guard last >= 0 else { return heapCount == 0 ? heapOffset : nil }
    guard Int(record.uint16(at: endsOffset &+ last &* 2)) == heapCount, heapCount < 0x8000,
      endsAscend(in: record, through: last)
    else { return nil }
    return heapOffset
  }

  /// Whether the ends up to that at `last`, which is below 2¹⁵, are in order.
  @inlinable @inline(__always)
  func endsAscend(in record: UnsafeRawBufferPointer, through last: Int) -> Bool {
    let highBits: UInt64 = 0x8000_8000_8000_8000
    var disorder: UInt64 = 0
    var place = 0
    if last < 4 {
      while place < last {
        let offset = endsOffset &+ place &* 2
        let (end, next) = (record.uint16(at: offset), record.uint16(at: offset &+ 2))
        // Negative where the next is below.
        disorder |= UInt64(next) &- UInt64(end)
        place &+= 1
      }
      return disorder & highBits == 0
    }
    // Four ends in a word, and the four behind them: a difference that borrows loses its high bit, as
    // long as no end has one itself.
    while place < last {
      let offset = endsOffset &+ min(place, last &- 4) &* 2
      let (ends, next) = (record.uint64(at: offset), record.uint64(at: offset &+ 2))
      disorder |= ends | ~((next | highBits) &- ends)
      place &+= 4
    }
    return disorder & highBits == 0
  }

  /// The layout number in a record's header; throws when the bytes are too short to have one.
  @inlinable @inline(__always)
  public static func layoutNumber(of record: UnsafeRawBufferPointer) throws(FormatError) -> UInt16 {
    guard record.count >= headerSize + checksumSize else {
      throw RecordView.tooShort(record, neededCount: headerSize + checksumSize)
    }
    return record.uint16(at: 0) & highestNumber
  }
}
