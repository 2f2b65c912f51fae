internal import LodestoreFormat

/// Changes a fixed-width attribute in the bytes of a record.
enum RecordPatch {
  /// Writes `value`, which must fit, and its null bit.
  static func write(
    _ value: Value, at place: RecordLayout.Slot, in record: UnsafeMutableRawBufferPointer
  ) throws(FormatError) {
    if place.nullBit >= 0 {
      let byte = RecordLayout.headerSize + Int(place.nullBit) >> 3
      let mask: UInt8 = 1 << UInt8(place.nullBit & 7)
      if value == .null { record[byte] |= mask } else { record[byte] &= ~mask }
    } else if value == .null {
      throw FormatError("an attribute that must have a value was given none")
    }
    let offset = Int(place.position)
    let size = place.type.slotSize
    guard value == .null || value.fits(place.type) else {
      throw FormatError("a value does not fit an attribute of type \(place.type.name)")
    }
    switch value {
    case .bool(let flag): record[offset] = flag ? 1 : 0
    case .integer(let number): store(UInt64(bitPattern: number), size, offset, record)
    case .unsigned(let number): store(number, size, offset, record)
    case .double(let number):
      if place.type == .float {
        store(UInt64(Float(number).bitPattern), size, offset, record)
      } else {
        store(number.bitPattern, size, offset, record)
      }
    case .date(let seconds): store(seconds.bitPattern, size, offset, record)
    case .uuid(let uuid): copy(uuid.bytes, offset, record)
    case .decimal(let decimal): copy(decimal.bytes, offset, record)
    case .null: copy([UInt8](repeating: 0, count: size), offset, record)
    case .string, .data, .document: throw FormatError("a variable value has no slot")
    }
  }

  private static func store(
    _ bits: UInt64, _ size: Int, _ offset: Int, _ record: UnsafeMutableRawBufferPointer
  ) {
    withUnsafeBytes(of: bits.littleEndian) { bytes in
      for place in 0..<size { record[offset + place] = bytes[place] }
    }
  }

  private static func copy(
    _ bytes: [UInt8], _ offset: Int, _ record: UnsafeMutableRawBufferPointer
  ) {
    for (place, byte) in bytes.enumerated() { record[offset + place] = byte }
  }
}

/// Constants for slots of one layout as bits, compared with and written to records without a `Value`.
///
/// In memory of its own, as counting references would show in the time of an update.
struct SlotPatch: ~Copyable {
  /// The bits that a record keeps, and those that it is given, byte by byte.
  private let masks: UnsafeMutableBufferPointer<(kept: UInt8, given: UInt8)>
  /// Where the first byte is that changes.
  private let offset: Int
  private let changes: ChecksumChanges

  /// Throws when a value does not fit its place.
  init(_ values: [Value], at places: [RecordLayout.Slot], of layout: RecordLayout) throws {
    var zeros = [UInt8](repeating: 0, count: layout.endsOffset)
    var ones = [UInt8](repeating: 0xff, count: layout.endsOffset)
    for (value, place) in zip(values, places) {
      try zeros.withUnsafeMutableBytes { try RecordPatch.write(value, at: place, in: $0) }
      try ones.withUnsafeMutableBytes { try RecordPatch.write(value, at: place, in: $0) }
    }
    // What is written does not depend on what was there.
    let masks = zip(zeros, ones).map { (kept: $0 ^ $1, given: $0) }
    let first = masks.firstIndex { $0.kept != 0xff } ?? 0
    let end = (masks.lastIndex { $0.kept != 0xff } ?? -1) + 1
    offset = first
    self.masks = .allocate(capacity: max(0, end - first))
    _ = self.masks.initialize(from: masks[first..<max(first, end)])
    changes = ChecksumChanges()
  }

  deinit { masks.deallocate() }

  /// Whether `record`, of the layout, has other values.
  @inline(__always)
  func changes(_ record: UnsafeRawBufferPointer) -> Bool {
    for place in masks.indices {
      let byte = record[offset + place]
      if byte & masks[place].kept | masks[place].given != byte { return true }
    }
    return false
  }

  /// Gives `record`, of the layout, the values, and its checksum what they change.
  @inline(__always)
  func apply(to record: UnsafeMutableRawBufferPointer) {
    if masks.count == 1 {
      let byte = record[offset]
      let difference = byte ^ (byte & masks[0].kept | masks[0].given)
      return changes.add(difference, at: offset, to: record)
    }
    withUnsafeTemporaryAllocation(byteCount: masks.count, alignment: 1) { difference in
      for place in masks.indices {
        let byte = record[offset + place]
        difference[place] = byte ^ (byte & masks[place].kept | masks[place].given)
      }
      Checksum.add(UnsafeRawBufferPointer(difference), at: offset, to: record)
    }
  }
}

/// What one difference of one byte changes in the checksums of records, by the bytes behind it: most
/// records of an entity have one of few lengths.
private struct ChecksumChanges: ~Copyable {
  private static let count = 1024

  private let known: UnsafeMutablePointer<UInt32>
  /// The difference that `known` is of.
  private let difference: UnsafeMutablePointer<UInt8>

  init() {
    known = .allocate(capacity: Self.count)
    known.initialize(repeating: 0, count: Self.count)
    difference = .allocate(capacity: 1)
    difference.initialize(to: 0)
  }

  deinit {
    known.deallocate()
    difference.deallocate()
  }

  /// Adds `byte` (XOR) to the one at `offset`, and to the checksum what that makes.
  @inline(__always)
  func add(_ byte: UInt8, at offset: Int, to record: UnsafeMutableRawBufferPointer) {
    let end = record.count - RecordLayout.checksumSize
    let behind = end - offset - 1
    guard behind < Self.count, byte == difference.pointee || difference.pointee == 0 else {
      return withUnsafeBytes(of: byte) { Checksum.add($0, at: offset, to: record) }
    }
    difference.pointee = byte
    if known[behind] == 0 {
      known[behind] = withUnsafeBytes(of: byte) { Checksum.change($0, behind: behind) }
    }
    record[offset] ^= byte
    let stored = UnsafeRawBufferPointer(record).uint32(at: end)
    let sum = (stored ^ known[behind]).littleEndian
    record.storeBytes(of: sum, toByteOffset: end, as: UInt32.self)
  }
}

extension DynamicValue {
  /// The value as one of `type`; `nil` when it does not fit.
  func stored(in type: AttributeType) -> Value? {
    if isNull { return .null }
    let value: Value? =
      switch (self, type) {
      case (.double(let number), .int8), (.double(let number), .int16),
        (.double(let number), .int32), (.double(let number), .int64),
        (.double(let number), .uint8), (.double(let number), .uint16),
        (.double(let number), .uint32), (.double(let number), .uint64),
        (.double(let number), .recordID):
        Int64(exactly: number).map { .integer($0) }
      case (.integer(let number), .double), (.integer(let number), .float):
        .double(type == .float ? Double(Float(number)) : Double(number))
      // What is too large for the type is not infinity.
      case (.double(let number), .float):
        number.isFinite && Float(number).isInfinite ? nil : .double(Double(Float(number)))
      case (.integer(let number), .decimal):
        .decimal(
          DecimalValue(
            isNegative: number < 0, exponent: 0, significand: UInt128(number.magnitude)))
      case (.double(let number), .decimal):
        DecimalValue(text: number.description).map { .decimal($0) }
      case (.collection, .json), (.collection, .document): owned
      case (_, .json), (_, .document): scalarDocument
      default: owned
      }
    return value.flatMap { $0.fits(type) ? $0 : nil }
  }

  /// A scalar as a document.
  private var scalarDocument: Value? {
    var writer = DocumentWriter()
    switch self {
    case .null: writer.writeNull()
    case .bool(let flag): writer.write(flag)
    case .integer(let number): writer.write(number)
    case .unsigned(let number): writer.write(number)
    case .double(let number): writer.write(number)
    case .text, .string: writer.write(string ?? "")
    default: return nil
    }
    return .document(writer.bytes)
  }
}
