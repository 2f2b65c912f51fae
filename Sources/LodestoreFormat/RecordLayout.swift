import LodestoreBytes

/// The positions of attributes within the records of one layout number.
///
/// See Format.md, "Records".
@_documentation(visibility: internal)
public final class RecordLayout: Sendable {
  /// One attribute of the layout.
  @_documentation(visibility: internal)
  public struct Attribute: Sendable, Hashable {
    /// The attribute's number in the catalogue.
    @_documentation(visibility: internal)
    public var number: UInt32
    /// The type as stored.
    @_documentation(visibility: internal)
    public var type: AttributeType
    /// Whether the attribute has a null bit.
    @_documentation(visibility: internal)
    public var isOptional: Bool

    package init(number: UInt32, type: AttributeType, isOptional: Bool) {
      self.number = number
      self.type = type
      self.isOptional = isOptional
    }
  }

  /// The position of one attribute within a record.
  @_documentation(visibility: internal)
  public struct Slot: Sendable {
    /// The type as stored.
    @_documentation(visibility: internal)
    public var type: AttributeType
    /// The index of the null bit; −1 if the attribute cannot be null.
    @_documentation(visibility: internal)
    public var nullBit: Int32
    /// The place of the value.
    ///
    /// For a fixed width, this is the offset of the value from the start of the record. For a
    /// variable attribute, it is the ordinal among the variable attributes.
    @_documentation(visibility: internal)
    public var position: Int32
  }

  /// The number of bytes of the layout number.
  @_documentation(visibility: internal)
  @inlinable public static var headerSize: Int { 2 }
  /// The bit of the header that is set if the ends of the variable values are stored in 32 bits.
  @_documentation(visibility: internal)
  @inlinable public static var wideFlag: UInt16 { 0x8000 }
  /// The highest layout number.
  @_documentation(visibility: internal)
  @inlinable public static var highestNumber: UInt16 { 0x3fff }
  /// The number of bytes of the checksum at the end.
  @_documentation(visibility: internal)
  @inlinable public static var checksumSize: Int { 4 }
  /// The maximum number of variable bytes in a record that stores their ends in 16 bits.
  @_documentation(visibility: internal)
  @inlinable public static var longestNarrow: Int { 65_535 }

  /// The layout number in the header of each record.
  @_documentation(visibility: internal)
  public let number: UInt16
  /// The attributes in the order of the records' slots.
  @_documentation(visibility: internal)
  public let attributes: [Attribute]
  /// The slots, one for each attribute.
  @_documentation(visibility: internal)
  public let slots: [Slot]
  /// The number of bytes of null bits.
  @_documentation(visibility: internal)
  public let nullByteCount: Int
  /// The offset of the first slot, after the header and the null bits.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public var slotsOffset: Int { Self.headerSize &+ nullByteCount }
  /// The number of attributes with a null bit.
  @_documentation(visibility: internal)
  public let optionalCount: Int
  /// The number of variable attributes.
  @_documentation(visibility: internal)
  public let variableCount: Int
  /// The offset of the array with the end of each variable value.
  ///
  /// The array follows the header, the null bits and the slots.
  @_documentation(visibility: internal)
  public let endsOffset: Int
  /// The index in ``slots`` by attribute number; −1 if this layout lacks the attribute.
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

  /// The index in ``slots`` of the attribute with `number`; `nil` if this layout lacks it.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func slotIndex(ofAttribute number: UInt32) -> Int? {
    guard number < slotIndexByNumber.count, slotIndexByNumber[Int(number)] >= 0 else { return nil }
    return Int(slotIndexByNumber[Int(number)])
  }

  /// The offset of the variable bytes in `record`, if it has this layout's shape and less than 2¹⁵
  /// variable bytes.
  ///
  /// For every other record it is `nil`, and ``RecordView`` checks the record in full. A record has
  /// the shape if its ends do not decrease and the last one is at the record's end. This fast check
  /// covers nearly every record.
  @inlinable @inline(__always) @_documentation(visibility: internal)
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

  /// Whether the ends of the variable values do not decrease up to index `last`.
  ///
  /// Each end must be below 2¹⁵.
  @inlinable @inline(__always)
  func endsAscend(in record: ByteView, through last: Int) -> Bool {
    let highBits: UInt64 = 0x8000_8000_8000_8000
    var disorder: UInt64 = 0
    var index = 0
    if last < 4 {
      while index < last {
        let offset = endsOffset &+ index &* 2
        let (end, next) = (record.uint16(at: offset), record.uint16(at: offset &+ 2))
        // The difference is negative if the next end is lower.
        disorder |= UInt64(next) &- UInt64(end)
        index &+= 1
      }
      return disorder & highBits == 0
    }
    // A word has four ends. Each end is subtracted from the end that follows it, four at once. A
    // difference that borrows clears its guard bit, as long as no end has that bit itself.
    while index < last {
      let offset = endsOffset &+ min(index, last &- 4) &* 2
      let (ends, next) = (record.uint64(at: offset), record.uint64(at: offset &+ 2))
      disorder |= ends | ~((next | highBits) &- ends)
      index &+= 4
    }
    return disorder & highBits == 0
  }

  /// The layout number in a record's header; throws if the record is too short to have one.
  package static func layoutNumber(of record: ByteView) throws(FormatError) -> UInt16 {
    guard record.count >= headerSize + checksumSize else {
      throw RecordView.tooShort(record, neededCount: headerSize + checksumSize)
    }
    return RecordHeader(rawValue: record.uint16(at: 0)).layoutNumber
  }
}
