import LodestoreBytes

/// The bytes of a record whose shape was checked, for reading single attributes.
///
/// The initializer checks every length and offset once, in O(variable attributes). Reads do not
/// check again and cannot leave the bytes. The checksum, UTF-8 and the contents of documents are
/// not checked.
///
/// The bytes and the layout must outlive the view. The view does not retain the layout, because
/// counting references would cost as much as reading an attribute.
@_documentation(visibility: internal)
public struct RecordView {
  /// The whole record.
  @_documentation(visibility: internal)
  public let bytes: ByteView
  @usableFromInline let unmanagedLayout: Unmanaged<RecordLayout>
  /// The offset of the first slot.
  @_documentation(visibility: internal)
  public let slotsOffset: Int
  /// The offset of the array with the end of each variable value.
  @_documentation(visibility: internal)
  public let endsOffset: Int
  /// Whether the ends of the variable values are stored in 32 bits and not in 16.
  @_documentation(visibility: internal)
  public let isWide: Bool
  /// The offset of the first variable byte.
  @_documentation(visibility: internal)
  public let heapOffset: Int

  /// Creates a view; throws if the bytes do not have the shape of `layout`.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public init(_ bytes: ByteView, layout: RecordLayout) throws(FormatError) {
    self.bytes = bytes
    unmanagedLayout = .passUnretained(layout)
    slotsOffset = layout.slotsOffset
    endsOffset = layout.endsOffset
    if let heapOffset = layout.narrowHeapOffset(in: bytes) {
      isWide = false
      self.heapOffset = heapOffset
    } else {
      (isWide, heapOffset) = try Self.shape(of: bytes, layout)
    }
  }

  /// Creates a view; `nil` if the bytes do not have the shape of `layout`, or if the record is
  /// long.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public init?(narrow bytes: ByteView, layout: RecordLayout) {
    guard let heapOffset = layout.narrowHeapOffset(in: bytes) else { return nil }
    self.bytes = bytes
    unmanagedLayout = .passUnretained(layout)
    slotsOffset = layout.slotsOffset
    endsOffset = layout.endsOffset
    isWide = false
    self.heapOffset = heapOffset
  }

  /// Checks the shape of any record, including long ones; throws the reason if it is wrong.
  @usableFromInline @inline(never)
  static func shape(
    of bytes: ByteView, _ layout: RecordLayout
  ) throws(FormatError) -> (isWide: Bool, heapOffset: Int) {
    let fixed = layout.endsOffset
    let needed = fixed + layout.variableCount * 2 + RecordLayout.checksumSize
    guard bytes.count >= needed else { throw tooShort(bytes, neededCount: needed) }
    let header = RecordHeader(rawValue: bytes.uint16(at: 0))
    let isWide = header.isWide
    guard header.rawValue == RecordHeader(layout: layout, isWide: isWide).rawValue else {
      throw otherHeader(header, layout)
    }
    let heapOffset = fixed + layout.variableCount * (isWide ? 4 : 2)
    let heapCount = bytes.count - heapOffset - RecordLayout.checksumSize
    guard heapCount >= 0 else { throw tooShort(bytes, neededCount: needed - heapCount) }
    var previous = 0
    for ordinal in 0..<layout.variableCount {
      let end = end(ofVariable: ordinal, isWide: isWide, fixed, bytes)
      guard end >= previous, end <= heapCount else {
        throw wrongEnd(
          end, ordinal, previous...max(previous, heapCount), at: fixed + ordinal * (isWide ? 4 : 2))
      }
      previous = end
    }
    guard previous == heapCount else { throw otherEnd(previous, heapCount) }
    return (isWide, heapOffset)
  }

  /// The layout number in the record's header.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public var layout: RecordLayout { unmanagedLayout.takeUnretainedValue() }

  /// Whether the record is of `layout`.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func isOf(_ layout: RecordLayout) -> Bool {
    unmanagedLayout.toOpaque() == Unmanaged.passUnretained(layout).toOpaque()
  }

  @usableFromInline @inline(never)
  static func tooShort(_ bytes: ByteView, neededCount: Int) -> FormatError {
    FormatError("the record has \(bytes.count) bytes, needs at least \(neededCount)", .recordLength)
  }

  private static func otherHeader(_ header: RecordHeader, _ layout: RecordLayout) -> FormatError {
    FormatError(
      "the record's header is \(header.rawValue), expected layout \(layout.number)", .recordLayout,
      at: 0)
  }

  private static func wrongEnd(
    _ end: Int, _ ordinal: Int, _ allowed: ClosedRange<Int>, at offset: Int
  ) -> FormatError {
    FormatError(
      "variable attribute \(ordinal) ends at \(end), must be between \(allowed.lowerBound) and "
        + "\(allowed.upperBound)", .recordEnds, at: offset)
  }

  private static func otherEnd(_ end: Int, _ heapCount: Int) -> FormatError {
    FormatError("the variable bytes end at \(end), the record holds \(heapCount)", .recordEnds)
  }

  @inlinable @inline(__always)
  func end(ofVariable ordinal: Int) -> Int {
    Self.end(ofVariable: ordinal, isWide: isWide, endsOffset, bytes)
  }

  @inlinable @inline(__always)
  static func end(
    ofVariable ordinal: Int, isWide: Bool, _ endsOffset: Int, _ bytes: ByteView
  ) -> Int {
    isWide
      ? Int(bytes.uint32(at: endsOffset &+ ordinal &* 4))
      : Int(bytes.uint16(at: endsOffset &+ ordinal &* 2))
  }

  /// Whether the attribute at `slot` is null.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func isNull(_ slot: RecordLayout.Slot) -> Bool { NullBit(of: slot).isSet(in: bytes) }

  /// The bytes of the variable attribute at `slot`.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func variableBytes(_ slot: RecordLayout.Slot) -> ByteView {
    variableBytes(ordinal: Int(slot.position))
  }

  /// The bytes of the variable attribute with `ordinal`, counted from 0 among the layout's variable
  /// attributes.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func variableBytes(ordinal: Int) -> ByteView {
    let start = ordinal == 0 ? 0 : end(ofVariable: ordinal - 1)
    return bytes[(heapOffset + start)..<(heapOffset + end(ofVariable: ordinal))]
  }

  /// The value of `attribute`; its initial value when the record is older than the attribute.
  package func value(
    of attribute: EntityDescription.Attribute
  ) throws(FormatError) -> Value {
    try value(ofAttribute: attribute.number, initial: attribute.initial)
  }

  /// The value of an attribute; `initial` when the record is older than the attribute.
  package func value(
    ofAttribute number: UInt32, initial: @autoclosure () -> Value
  ) throws(FormatError) -> Value {
    guard let index = layout.slotIndex(ofAttribute: number) else { return initial() }
    return try value(at: layout.slots[index])
  }

  /// The value of the attribute at `slot`; throws for an invalid Boolean, id, decimal or UTF-8
  /// text.
  package func value(at slot: RecordLayout.Slot) throws(FormatError) -> Value {
    if isNull(slot) { return .null }
    let offset = Int(slot.position)
    switch slot.type {
    case .bool:
      guard bytes[offset] <= 1 else {
        throw FormatError("a bool is \(bytes[offset]), must be 0 or 1", .typeBool, at: offset)
      }
      return .bool(bytes[offset] == 1)
    case .int8: return .integer(Int64(Int8(bitPattern: bytes[offset])))
    case .int16: return .integer(Int64(Int16(bitPattern: bytes.uint16(at: offset))))
    case .int32: return .integer(Int64(Int32(bitPattern: bytes.uint32(at: offset))))
    case .int64: return .integer(Int64(bitPattern: bytes.uint64(at: offset)))
    case .uint8: return .integer(Int64(bytes[offset]))
    case .uint16: return .integer(Int64(bytes.uint16(at: offset)))
    case .uint32: return .integer(Int64(bytes.uint32(at: offset)))
    case .uint64: return .integer(unsigned: bytes.uint64(at: offset))
    case .recordID:
      let number = Int64(bitPattern: bytes.uint64(at: offset))
      guard number >= 1 else {
        throw FormatError(
          "an id is \(UInt64(bitPattern: number)), must be from 1 to \(Int64.max)", .typeID,
          at: offset)
      }
      return .integer(number)
    case .float: return .double(Float(bitPattern: bytes.uint32(at: offset)).widened)
    case .double: return .double(Double(bitPattern: bytes.uint64(at: offset)))
    case .date: return .date(Double(bitPattern: bytes.uint64(at: offset)))
    case .uuid: return .uuid(UUIDBytes(bytes: bytes, at: offset))
    case .decimal: return .decimal(try DecimalValue(bytes: bytes, at: offset))
    case .string, .url:
      let utf8 = variableBytes(slot)
      guard let text = String(validating: utf8, as: UTF8.self) else {
        throw FormatError("a text attribute is not valid UTF-8", .typeText)
      }
      return .string(text)
    case .data: return .data(Array(variableBytes(slot)))
    case .json, .document: return .document(Array(variableBytes(slot)))
    }
  }

  /// The record without its checksum.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public var content: ByteView { bytes[..<(bytes.count - RecordLayout.checksumSize)] }

  package var storedChecksum: UInt32 { bytes.uint32(at: bytes.count - RecordLayout.checksumSize) }

  /// Checks the rules that the initializer omits: the canonical form of the whole record.
  package func validate(id: UInt64) throws(FormatError) {
    let expected = Checksum.record(id: id, body: content)
    guard expected == storedChecksum else {
      throw FormatError(
        "the checksum is \(hex(storedChecksum)), the bytes and id \(id) give \(hex(expected))",
        .recordChecksum)
    }
    let spareBits = layout.nullByteCount * 8 - layout.optionalCount
    if spareBits > 0 {
      let last = bytes[RecordLayout.headerSize + layout.nullByteCount - 1]
      guard last >> UInt8(8 - spareBits) == 0 else {
        throw FormatError(
          "an unused null bit is set", .recordNullBits, at: layout.nullByteCount + 1)
      }
    }
    let heapCount = content.count - heapOffset
    guard isWide == (heapCount > RecordLayout.longestNarrow) else {
      throw FormatError(
        "wide offsets are \(isWide ? "" : "not ")used for \(heapCount) bytes", .recordWide, at: 0)
    }
    for slot in layout.slots {
      if isNull(slot) {
        let held =
          slot.type.isVariable
          ? variableBytes(slot)
          : bytes[Int(slot.position)..<(Int(slot.position) + slot.type.slotSize)]
        guard slot.type.isVariable ? held.isEmpty : held.allSatisfy({ $0 == 0 }) else {
          throw FormatError("a null attribute has bytes", .recordNullZero)
        }
      } else {
        _ = try value(at: slot)
        if slot.type == .json || slot.type == .document {
          try DocumentReader(variableBytes(slot)).validate(onlyJSON: slot.type == .json)
        }
      }
    }
  }
}

/// The value in hexadecimal, with all digits of its type.
package func hex(_ value: some FixedWidthInteger & UnsignedInteger) -> String {
  let digits = String(value, radix: 16)
  return String(repeating: "0", count: value.bitWidth / 4 - digits.count) + digits
}
