internal import LodestoreFormat

/// A test of one fixed-width slot: its ``OrderedNumber`` lies between two bounds.
///
/// All comparisons of a number, a date or a Boolean with constants are of this form. A scan runs an array
/// of these tests before it reads anything else of a record.
struct SlotTest {
  private enum Load: UInt8 {
    case bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double
  }

  private let low: Int64
  private let high: Int64
  private let offset: Int32
  private let nullBit: NullBit
  private let load: Load
  private let isNegated: Bool

  /// `nil` for an attribute that has no slot of a number.
  init?(_ slot: RecordLayout.Slot, _ interval: NumberInterval, isNegated: Bool) {
    switch slot.type {
    case .bool: load = .bool
    case .int8: load = .int8
    case .int16: load = .int16
    case .int32: load = .int32
    case .int64, .recordID: load = .int64
    case .uint8: load = .uint8
    case .uint16: load = .uint16
    case .uint32: load = .uint32
    case .uint64: load = .uint64
    case .float: load = .float
    case .double, .date: load = .double
    default: return nil
    }
    low = interval.low
    high = interval.high
    offset = slot.position
    nullBit = NullBit(of: slot)
    self.isNegated = isNegated
  }

  /// Whether a record passes; `base` has at least the fixed part of its layout.
  @inline(__always)
  func admits(_ base: UnsafeRawPointer) -> Bool {
    if nullBit.isSet(in: base) { return isNegated }
    let key = key(base)
    return (key >= low && key <= high) != isNegated
  }

  /// The slot as an ``OrderedNumber``.
  @inline(__always)
  private func key(_ base: UnsafeRawPointer) -> Int64 {
    let slot = base + Int(offset)
    return switch load {
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
        Double(
          Float(bitPattern: UInt32(littleEndian: slot.loadUnaligned(as: UInt32.self)))))
    case .double:
      OrderedNumber.key(
        Double(bitPattern: UInt64(littleEndian: slot.loadUnaligned(as: UInt64.self))))
    }
  }
}

extension RecordView {
  /// The ``OrderedNumber`` of a fixed-width attribute that is not null.
  func orderedNumber(at slot: RecordLayout.Slot) throws(FormatError) -> Int64 {
    switch try value(at: slot) {
    case .bool(let flag): flag ? 1 : 0
    case .integer(let number):
      slot.type == .uint64 ? OrderedNumber.key(UInt64(bitPattern: number)) : number
    case .unsigned(let number): OrderedNumber.key(number)
    case .double(let number), .date(let number): OrderedNumber.key(number)
    default: 0
    }
  }
}
