internal import LodestoreFormat

extension RecordWriter {
  /// Writes the next attribute of a record from a value that fits its type, or null where the
  /// attribute takes it: the caller has checked both.
  mutating func write(_ value: Value, as attribute: RecordLayout.Attribute) {
    if value == .null { return writeNull(attribute.type) }
    if attribute.isOptional { markPresent() }
    switch value {
    case .null: break
    case .bool(let flag): flag.write(to: &self)
    case .integer(let number): writeInteger(UInt64(bitPattern: number), attribute.type)
    case .unsigned(let number): writeInteger(number, attribute.type)
    case .double(let number):
      if attribute.type == .float {
        Float(number).write(to: &self)
      } else {
        number.write(to: &self)
      }
    case .date(let seconds): seconds.write(to: &self)
    case .uuid(let uuid):
      writeSlot(uuid.high.bigEndian, size: 8)
      writeSlot(uuid.low.bigEndian, size: 8)
    case .decimal(let decimal): for byte in decimal.bytes { writeSlot(byte, size: 1) }
    case .string(let text): text.write(to: &self)
    case .data(let bytes), .document(let bytes): bytes.withUnsafeBytes { writeVariable($0) }
    }
  }

  /// Keeps the low bytes: the value, in two's complement, fits into them.
  private mutating func writeInteger(_ number: UInt64, _ type: AttributeType) {
    switch type.slotSize {
    case 1: writeSlot(UInt8(truncatingIfNeeded: number), size: 1)
    case 2: writeSlot(UInt16(truncatingIfNeeded: number).littleEndian, size: 2)
    case 4: writeSlot(UInt32(truncatingIfNeeded: number).littleEndian, size: 4)
    default: writeSlot(number.littleEndian, size: 8)
    }
  }
}
