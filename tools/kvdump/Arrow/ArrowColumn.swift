import EntityStore
import LodestoreFormat

/// The values of one column in a batch of an Arrow stream.
struct ArrowColumn {
  let type: ArrowType
  private var count = 0
  private(set) var nullCount = 0
  private var validity: [UInt8] = []
  private var ends: [UInt8] = []
  private var data: [UInt8] = []

  init(_ type: ArrowType) { self.type = type }

  /// The number of bytes of the values.
  var byteCount: Int { data.count + ends.count }

  /// Appends a value.
  ///
  /// Returns false, and appends nothing, if the type cannot represent the value.
  mutating func append(_ cell: Cell) -> Bool {
    let isNull = cell.isEmpty
    guard isNull ? appendPlaceholder() : appendValue(cell) else { return false }
    if count & 7 == 0 { validity.append(0) }
    if isNull { nullCount += 1 } else { validity[count >> 3] |= 1 << (count & 7) }
    if type.isVariable { Self.append(UInt64(data.count), bits: 32, to: &ends) }
    count += 1
    return true
  }

  /// The buffers of the batch: the bits of the values that are not null, the ends of values, the
  /// values.
  var buffers: [[UInt8]] {
    let bits = nullCount == 0 ? [] : validity
    return type.isVariable ? [bits, [0, 0, 0, 0] + ends, data] : [bits, data]
  }

  private mutating func appendPlaceholder() -> Bool {
    switch type {
    case .bool: appendBit(false)
    case .integer(let bits, _), .float(let bits): Self.append(0, bits: bits, to: &data)
    case .timestamp: Self.append(0, bits: 64, to: &data)
    case .text, .binary: break
    }
    return true
  }

  private mutating func appendValue(_ cell: Cell) -> Bool {
    switch (type, cell) {
    case (.bool, .bool(let flag)): appendBit(flag)
    case (.integer(let bits, _), .integer(let number)):
      Self.append(UInt64(bitPattern: number), bits: bits, to: &data)
    case (.integer(let bits, _), .unsigned(let number)): Self.append(number, bits: bits, to: &data)
    case (.float(let bits), .double(let number)):
      let pattern = bits == 32 ? UInt64(Float(number).bitPattern) : number.bitPattern
      Self.append(pattern, bits: bits, to: &data)
    case (.timestamp, .date(let text)):
      guard let time = Self.microseconds(text) else { return false }
      Self.append(UInt64(bitPattern: time), bits: 64, to: &data)
    case (.binary, .bytes(let bytes)): data += bytes
    case (.text(isJSON: true), _): CellJSON.append(cell, to: &data)
    case (.text, _): data += (PlainText.text(of: cell) ?? "").utf8
    default: return false
    }
    // The ends are signed numbers of 32 bits.
    return data.count <= Int32.max
  }

  private mutating func appendBit(_ flag: Bool) {
    if count & 7 == 0 { data.append(0) }
    if flag { data[count >> 3] |= 1 << (count & 7) }
  }

  private static func append(_ number: UInt64, bits: Int, to bytes: inout [UInt8]) {
    for shift in stride(from: 0, to: UInt64(bits), by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  /// Microseconds since 1970, rounded; `nil` beyond 64 bits.
  private static func microseconds(_ text: String) -> Int64? {
    guard let seconds = ISO8601Text.date(text)?.timeIntervalSinceReferenceDate ?? Double(text)
    else { return nil }
    let whole = seconds.rounded(.down)
    guard let start = Int64(exactly: whole) else { return nil }
    let fraction = Int64(((seconds - whole) * 1e6).rounded())
    let (sum, first) = start.addingReportingOverflow(Int64(ISO8601Text.referenceOffset))
    let (scaled, second) = sum.multipliedReportingOverflow(by: 1_000_000)
    let (time, third) = scaled.addingReportingOverflow(fraction)
    return first || second || third ? nil : time
  }
}
