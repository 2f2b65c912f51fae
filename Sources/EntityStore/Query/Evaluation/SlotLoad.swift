internal import LodestoreFormat

/// How the bytes of a fixed-width slot are read as a number.
enum SlotLoad: UInt8 {
  case bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double

  /// `nil` for a type that has no slot of a number.
  init?(_ type: AttributeType) {
    switch type {
    case .bool: self = .bool
    case .int8: self = .int8
    case .int16: self = .int16
    case .int32: self = .int32
    case .int64, .recordID: self = .int64
    case .uint8: self = .uint8
    case .uint16: self = .uint16
    case .uint32: self = .uint32
    case .uint64: self = .uint64
    case .float: self = .float
    case .double, .date: self = .double
    default: return nil
    }
  }

  var isInteger: Bool { self != .float && self != .double }

  /// The slot as an ``OrderedNumber``.
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
    case .double:
      OrderedNumber.key(
        Double(bitPattern: UInt64(littleEndian: slot.loadUnaligned(as: UInt64.self))))
    }
  }
}
