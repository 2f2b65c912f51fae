/// The places of attributes in records of one layout number.
///
/// See Format.md, "Records".
public final class RecordLayout: Sendable {
  /// One attribute of the layout.
  public struct Attribute: Sendable, Hashable {
    public var number: UInt32
    public var type: AttributeType
    public var isOptional: Bool

    package init(number: UInt32, type: AttributeType, isOptional: Bool) {
      self.number = number
      self.type = type
      self.isOptional = isOptional
    }
  }

  /// Where an attribute is within a record.
  public struct Place: Sendable {
    public var type: AttributeType
    /// Which null bit is its own; −1 when it cannot be null.
    public var nullBit: Int32
    /// Fixed width: offset of the slot from the start of the record.
    ///
    /// Variable: its ordinal.
    public var position: Int32
  }

  @inlinable public static var headerSize: Int { 2 }
  @inlinable public static var wideFlag: UInt16 { 0x8000 }
  @inlinable public static var highestNumber: UInt16 { 0x3fff }
  @inlinable public static var checksumSize: Int { 4 }
  @inlinable public static var longestNarrow: Int { 65_535 }

  public let number: UInt16
  public let attributes: [Attribute]
  public let places: [Place]
  public let nullByteCount: Int
  public let optionalCount: Int
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

  /// The layout number in a record's header; throws when the bytes are too short to have one.
  @inlinable @inline(__always)
  public static func layoutNumber(of record: UnsafeRawBufferPointer) throws(FormatError) -> UInt16 {
    guard record.count >= headerSize + checksumSize else {
      throw RecordView.tooShort(record, neededCount: headerSize + checksumSize)
    }
    return record.uint16(at: 0) & highestNumber
  }
}
