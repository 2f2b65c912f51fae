/// The places of attributes in records of one layout number.
///
/// See Format.md, "Records".
package final class RecordLayout: Sendable {
  /// One attribute of the layout.
  package struct Attribute: Sendable, Hashable {
    package var number: UInt32
    package var type: AttributeType
    package var isOptional: Bool

    package init(number: UInt32, type: AttributeType, isOptional: Bool) {
      self.number = number
      self.type = type
      self.isOptional = isOptional
    }
  }

  /// Where an attribute is within a record.
  package struct Place: Sendable {
    package var type: AttributeType
    /// Which null bit is its own; −1 when it cannot be null.
    package var nullBit: Int32
    /// Fixed width: offset of the slot from the start of the record.
    ///
    /// Variable: its ordinal.
    package var position: Int32
  }

  package static let headerSize = 2
  package static let wideFlag: UInt16 = 0x8000
  package static let highestNumber: UInt16 = 0x3fff
  package static let checksumSize = 4
  package static let longestNarrow = 65_535

  package let number: UInt16
  package let attributes: [Attribute]
  package let places: [Place]
  package let nullByteCount: Int
  package let optionalCount: Int
  package let variableCount: Int
  /// Offset of the ends, which is also the size of header, nulls and slots.
  package let endsOffset: Int
  /// Place by attribute number; −1 where this layout does not have the attribute.
  private let placeByNumber: [Int32]

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
  @inline(__always)
  package func placeIndex(ofAttribute number: UInt32) -> Int? {
    guard number < placeByNumber.count, placeByNumber[Int(number)] >= 0 else { return nil }
    return Int(placeByNumber[Int(number)])
  }

  /// The layout number in a record's header; throws when the bytes are too short to have one.
  @inline(__always)
  package static func layoutNumber(of record: UnsafeRawBufferPointer) throws(FormatError) -> UInt16
  {
    guard record.count >= headerSize + checksumSize else {
      throw FormatError("the record has \(record.count) bytes, a record has at least 6")
    }
    return record.uint16(at: 0) & highestNumber
  }
}
