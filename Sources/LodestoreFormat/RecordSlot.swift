// The layout of a record's header, null bits and slots, for all code that reads or writes them. See
// Format.md, "Records".

import LodestoreBytes

/// The first two bytes of a record.
package struct RecordHeader {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package init(layout: RecordLayout, isWide: Bool) {
    rawValue = layout.number | (isWide ? RecordLayout.wideFlag : 0)
  }

  /// The layout number without the other bits.
  ///
  /// A damaged record may have other bits set, so compare the whole header with the header that the
  /// layout demands.
  package var layoutNumber: UInt16 { rawValue & RecordLayout.highestNumber }
  package var isWide: Bool { rawValue & RecordLayout.wideFlag != 0 }
}

/// The bit of a record that marks an attribute as null.
@_documentation(visibility: internal)
public struct NullBit: Sendable {
  /// The offset of the byte from the start of the record.
  @usableFromInline let offset: Int32
  /// The bit within the byte; 0 for an attribute that cannot be null.
  @usableFromInline let mask: UInt8

  @inlinable @inline(__always)
  init(offset: Int32, mask: UInt8) {
    self.offset = offset
    self.mask = mask
  }

  /// The bit of an attribute that cannot be null.
  package init() { self.init(offset: 0, mask: 0) }

  /// The null bit with `index`, of an optional attribute.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public init(index: Int) {
    assert(index >= 0, "an optional attribute has a null bit")
    self.init(
      offset: Int32(truncatingIfNeeded: RecordLayout.headerSize &+ index &>> 3),
      mask: 1 &<< UInt8(truncatingIfNeeded: index & 7))
  }

  /// The null bit of the attribute at `slot`; without effect if the attribute cannot be null.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public init(of slot: RecordLayout.Slot) {
    if slot.nullBit < 0 {
      self.init(offset: 0, mask: 0)
    } else {
      self.init(index: Int(slot.nullBit))
    }
  }

  /// Whether the attribute is null in `record`.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func isSet(in record: ByteView) -> Bool { mask != 0 && record[Int(offset)] & mask != 0 }

  /// Marks the attribute in `record` as null or as not null.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func set(_ isNull: Bool, in record: MutableByteView) {
    let byte = record[Int(offset)]
    record[Int(offset)] = isNull ? byte | mask : byte & ~mask
  }
}

extension RecordLayout.Slot {
  /// Writes `value` and its null bit into a record.
  ///
  /// The attribute must have a fixed width.
  ///
  /// Throws if the attribute cannot have the value.
  package func write(_ value: Value, in record: MutableByteView) throws(FormatError) {
    guard value == .null || value.fits(type), !type.isVariable else {
      throw FormatError("a value does not fit an attribute of type \(type.name)")
    }
    guard value != .null || nullBit >= 0 else {
      throw FormatError("an attribute that must have a value was given none")
    }
    NullBit(of: self).set(value == .null, in: record)
    value.store(in: type, at: record[Int(position)...])
  }
}

extension Value {
  /// Stores the value in the form of a record's slot.
  ///
  /// The value must fit the fixed-width `type` or be null.
  package func store(in type: AttributeType, at slot: MutableByteView) {
    switch self {
    case .null: slot[..<type.slotSize].zero()
    case .bool(let flag): slot.storeBytes(of: flag ? 1 : 0, as: UInt8.self)
    case .integer(let number): Self.store(UInt64(bitPattern: number), type.slotSize, at: slot)
    case .unsigned(let number): Self.store(number, type.slotSize, at: slot)
    case .double(let number):
      let bits = type == .float ? UInt64(number.narrowed.bitPattern) : number.bitPattern
      Self.store(bits, type.slotSize, at: slot)
    case .date(let seconds): Self.store(seconds.bitPattern, 8, at: slot)
    case .uuid(let uuid):
      slot.storeBytes(of: uuid.high.bigEndian, as: UInt64.self)
      slot.storeBytes(of: uuid.low.bigEndian, toByteOffset: 8, as: UInt64.self)
    case .decimal(let decimal):
      for (index, byte) in decimal.bytes.enumerated() {
        slot.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
      }
    case .string, .data, .document: preconditionFailure("a variable value has no slot")
    }
  }

  /// Stores the low bytes of a two's complement number, which are the number in fewer bytes.
  private static func store(_ bits: UInt64, _ size: Int, at slot: MutableByteView) {
    switch size {
    case 1: slot.storeBytes(of: UInt8(truncatingIfNeeded: bits), as: UInt8.self)
    case 2: slot.storeBytes(of: UInt16(truncatingIfNeeded: bits).littleEndian, as: UInt16.self)
    case 4: slot.storeBytes(of: UInt32(truncatingIfNeeded: bits).littleEndian, as: UInt32.self)
    default: slot.storeBytes(of: bits.littleEndian, as: UInt64.self)
    }
  }
}
