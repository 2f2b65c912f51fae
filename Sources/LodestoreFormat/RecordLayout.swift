import LodestoreBytes

/// Where the attributes are in the records of one layout number.
///
/// See Format.md, "Records".
@_documentation(visibility: internal)
public final class RecordLayout: Sendable {
  /// One attribute of the layout.
  @_documentation(visibility: internal)
  public struct Attribute: Sendable, Hashable {
    /// The number in the catalogue.
    @_documentation(visibility: internal)
    public var number: UInt32
    /// The type as stored.
    @_documentation(visibility: internal)
    public var type: AttributeType
    /// Whether it has a null bit.
    @_documentation(visibility: internal)
    public var isOptional: Bool

    package init(number: UInt32, type: AttributeType, isOptional: Bool) {
      self.number = number
      self.type = type
      self.isOptional = isOptional
    }
  }

  /// Where one attribute is within a record.
  @_documentation(visibility: internal)
  public struct Slot: Sendable {
    /// The type as stored.
    @_documentation(visibility: internal)
    public var type: AttributeType
    /// The index of its null bit; −1 when it cannot be null.
    @_documentation(visibility: internal)
    public var nullBit: Int32
    /// Of fixed width: the offset of the value from the start of the record.
    ///
    /// Variable: its ordinal among the variable attributes.
    @_documentation(visibility: internal)
    public var position: Int32
  }

  /// Bytes of the layout number.
  @_documentation(visibility: internal)
  @inlinable public static var headerSize: Int { 2 }
  /// The bit of the header that says that ends have 32 bits.
  @_documentation(visibility: internal)
  @inlinable public static var wideFlag: UInt16 { 0x8000 }
  /// The highest layout number.
  @_documentation(visibility: internal)
  @inlinable public static var highestNumber: UInt16 { 0x3fff }
  /// Bytes of the checksum at the end.
  @_documentation(visibility: internal)
  @inlinable public static var checksumSize: Int { 4 }
  /// The most variable bytes with ends of 16 bits.
  @_documentation(visibility: internal)
  @inlinable public static var longestNarrow: Int { 65_535 }

  /// The number in the header of each record.
  @_documentation(visibility: internal)
  public let number: UInt16
  /// In the order in which records hold them.
  @_documentation(visibility: internal)
  public let attributes: [Attribute]
  /// One for each attribute.
  @_documentation(visibility: internal)
  public let slots: [Slot]
  /// Bytes of null bits.
  @_documentation(visibility: internal)
  public let nullByteCount: Int
  /// Offset of the first slot, behind header and null bits.
  @inlinable @inline(__always)
  @_documentation(visibility: internal)
  public var slotsOffset: Int { Self.headerSize &+ nullByteCount }
  /// How many attributes have a null bit.
  @_documentation(visibility: internal)
  public let optionalCount: Int
  /// How many attributes are variable.
  @_documentation(visibility: internal)
  public let variableCount: Int
  /// Offset of the ends, which is also the size of header, nulls and slots.
  @_documentation(visibility: internal)
  public let endsOffset: Int
  /// Index in ``slots`` by attribute number; −1 where this layout does not have the attribute.
  @usableFromInline let slotIndexByNumber: [Int32]

  package init(number: UInt16, attributes: [Attribute]) {
    self.number = number
    self.attributes = attributes
    optionalCount = attributes.reduce(0) { $0 + ($1.isOptional ? 1 : 0) }
    nullByteCount = (optionalCount + 7) / 8
    var slotOffset = Self.headerSize + nullByteCount
    var variableOrdinal = 0
    var nullBit = 0
    var slots: [Slot] = []
    var byNumber = [Int32](repeating: -1, count: Int((attributes.map(\.number).max() ?? 0) + 1))
    for (index, attribute) in attributes.enumerated() {
      var slot = Slot(type: attribute.type, nullBit: -1, position: 0)
      if attribute.isOptional {
        slot.nullBit = Int32(nullBit)
        nullBit += 1
      }
      if attribute.type.isVariable {
        slot.position = Int32(variableOrdinal)
        variableOrdinal += 1
      } else {
        slot.position = Int32(slotOffset)
        slotOffset += attribute.type.slotSize
      }
      slots.append(slot)
      byNumber[Int(attribute.number)] = Int32(index)
    }
    self.slots = slots
    slotIndexByNumber = byNumber
    variableCount = variableOrdinal
    endsOffset = slotOffset
  }

  /// The index in ``slots`` of the attribute with `number`; `nil` when this layout does not have it.
  @inlinable @inline(__always)
  @_documentation(visibility: internal)
  public func slotIndex(ofAttribute number: UInt32) -> Int? {
    guard number < slotIndexByNumber.count, slotIndexByNumber[Int(number)] >= 0 else { return nil }
    return Int(slotIndexByNumber[Int(number)])
  }

  /// Where the variable bytes begin in `record`, which has the shape of this layout and less than 2¹⁵
  /// variable bytes.
  ///
  /// `nil` for any other, which ``RecordView`` checks in full. A record has its shape when its ends do not
  /// decrease and the last one is at its end, so nearly every record is checked by few instructions.
  @inlinable @inline(__always)
  @_documentation(visibility: internal)
  public func narrowHeapOffset(in record: ByteView) -> Int? {
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

  /// Whether the ends do not decrease up to the one with index `last`, which is below 2¹⁵.
  @inlinable @inline(__always)
  func endsAscend(in record: ByteView, through last: Int) -> Bool {
    let highBits: UInt64 = 0x8000_8000_8000_8000
    var disorder: UInt64 = 0
    var index = 0
    if last < 4 {
      while index < last {
        let offset = endsOffset &+ index &* 2
        let (end, next) = (record.uint16(at: offset), record.uint16(at: offset &+ 2))
        // Negative where the next is below.
        disorder |= UInt64(next) &- UInt64(end)
        index &+= 1
      }
      return disorder & highBits == 0
    }
    // Four ends in a word are subtracted from the four that follow each: a difference that borrows loses
    // its high bit, as long as no end has one itself.
    while index < last {
      let offset = endsOffset &+ min(index, last &- 4) &* 2
      let (ends, next) = (record.uint64(at: offset), record.uint64(at: offset &+ 2))
      disorder |= ends | ~((next | highBits) &- ends)
      index &+= 4
    }
    return disorder & highBits == 0
  }

  /// The layout number in a record's header; throws when the bytes are too short to have one.
  package static func layoutNumber(of record: ByteView) throws(FormatError) -> UInt16 {
    guard record.count >= headerSize + checksumSize else {
      throw RecordView.tooShort(record, neededCount: headerSize + checksumSize)
    }
    return RecordHeader(rawValue: record.uint16(at: 0)).layoutNumber
  }
}
