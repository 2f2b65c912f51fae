/// Builds a record from values without their Swift type: for `kvdump`, and to carry a record over to
/// another layout.
package enum RecordBuilder {
  /// The body of a record with `values`, one per attribute of `layout`, sealed for `id`.
  ///
  /// Throws when a value does not fit its attribute.
  package static func record(
    id: UInt64, layout: RecordLayout, values: [Value]
  ) throws(FormatError) -> [UInt8] {
    var bytes = try content(layout: layout, values: values)
    let checksum = bytes.withUnsafeBytes { Checksum.record(id: id, body: $0) }
    bytes += littleEndianBytes(checksum)
    return bytes
  }

  /// The same without the checksum, for a record whose id is not known yet.
  package static func content(
    layout: RecordLayout, values: [Value]
  ) throws(FormatError) -> [UInt8] {
    precondition(values.count == layout.attributes.count, "one value per attribute")
    var bytes = [UInt8](repeating: 0, count: RecordLayout.headerSize + layout.nullByteCount)
    var ends: [Int] = []
    var heap: [UInt8] = []
    for (index, value) in values.enumerated() {
      let slot = layout.slots[index]
      if value == .null {
        guard slot.nullBit >= 0 else {
          throw FormatError("attribute \(layout.attributes[index].number) must have a value")
        }
        bytes[RecordLayout.headerSize + Int(slot.nullBit) / 8] |= 1 << (UInt8(slot.nullBit) % 8)
        bytes += [UInt8](repeating: 0, count: slot.type.slotSize)
      } else {
        guard value.fits(slot.type) else {
          throw FormatError(
            "attribute \(layout.attributes[index].number) is declared \(slot.type.name), "
              + "the value is of another type or range")
        }
        bytes += slotBytes(value, slot.type)
        heap += variableBytes(value)
      }
      if slot.type.isVariable { ends.append(heap.count) }
    }
    let isWide = heap.count > RecordLayout.longestNarrow
    let header = layout.number | (isWide ? RecordLayout.wideFlag : 0)
    bytes.replaceSubrange(0..<RecordLayout.headerSize, with: littleEndianBytes(header))
    for end in ends {
      bytes += isWide ? littleEndianBytes(UInt32(end)) : littleEndianBytes(UInt16(end))
    }
    return bytes + heap
  }

  private static func slotBytes(_ value: Value, _ type: AttributeType) -> [UInt8] {
    switch value {
    case .bool(let flag): [flag ? 1 : 0]
    case .integer(let number): Array(littleEndianBytes(number).prefix(type.slotSize))
    case .unsigned(let number): littleEndianBytes(number)
    case .double(let number):
      type == .float
        ? littleEndianBytes(Float(number).bitPattern) : littleEndianBytes(number.bitPattern)
    case .date(let seconds): littleEndianBytes(seconds.bitPattern)
    case .uuid(let uuid): uuid.bytes
    case .decimal(let decimal): decimal.bytes
    case .null, .string, .data, .document: []
    }
  }

  private static func variableBytes(_ value: Value) -> [UInt8] {
    switch value {
    case .string(let text): Array(text.utf8)
    case .data(let bytes), .document(let bytes): bytes
    default: []
    }
  }
}
