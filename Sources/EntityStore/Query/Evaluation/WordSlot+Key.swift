internal import LodestoreFormat

extension WordSlot.Kind {
  var isInteger: Bool {
    switch self {
    case .float, .double, .date: false
    case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: true
    }
  }

  /// Returns the ``OrderedNumber`` of the slot at this address.
  @inline(__always)
  func key(_ slot: UnsafeRawPointer) -> Int64 {
    switch self {
    case .bool: slot.load(as: UInt8.self) == 0 ? 0 : 1
    case .int8: Int64(slot.load(as: Int8.self))
    case .int16: Int64(Int16(littleEndian: slot.loadUnaligned(as: Int16.self)))
    case .int32: Int64(Int32(littleEndian: slot.loadUnaligned(as: Int32.self)))
    case .int64: Int64(littleEndian: slot.loadUnaligned(as: Int64.self))
    case .uint8: Int64(slot.load(as: UInt8.self))
    case .uint16: Int64(UInt16(littleEndian: slot.loadUnaligned(as: UInt16.self)))
    case .uint32: Int64(UInt32(littleEndian: slot.loadUnaligned(as: UInt32.self)))
    case .uint64: OrderedNumber.key(UInt64(littleEndian: slot.loadUnaligned(as: UInt64.self)))
    case .float:
      OrderedNumber.key(
        Double(Float(bitPattern: UInt32(littleEndian: slot.loadUnaligned(as: UInt32.self)))))
    case .double, .date:
      OrderedNumber.key(
        Double(bitPattern: UInt64(littleEndian: slot.loadUnaligned(as: UInt64.self))))
    }
  }
}
