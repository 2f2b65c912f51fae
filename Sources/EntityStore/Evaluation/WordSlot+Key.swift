internal import LodestoreBytes
internal import LodestoreFormat

extension WordSlot.Kind {
  var isInteger: Bool {
    switch self {
    case .float, .double, .date: false
    case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: true
    }
  }

  /// Returns the ``OrderedNumber`` of the slot at `offset`.
  @inline(__always)
  func key(_ record: ByteView, at offset: Int) -> Int64 {
    switch self {
    case .bool: record[offset] == 0 ? 0 : 1
    case .int8: Int64(Int8(bitPattern: record[offset]))
    case .int16: Int64(Int16(bitPattern: record.uint16(at: offset)))
    case .int32: Int64(Int32(bitPattern: record.uint32(at: offset)))
    case .int64: Int64(bitPattern: record.uint64(at: offset))
    case .uint8: Int64(record[offset])
    case .uint16: Int64(record.uint16(at: offset))
    case .uint32: Int64(record.uint32(at: offset))
    case .uint64: OrderedNumber.key(record.uint64(at: offset))
    case .float: OrderedNumber.key(Double(Float(bitPattern: record.uint32(at: offset))))
    case .double, .date: OrderedNumber.key(Double(bitPattern: record.uint64(at: offset)))
    }
  }
}
