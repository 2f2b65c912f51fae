internal import LodestoreFormat

extension AttributeValue where Self: FixedWidthInteger & BitwiseCopyable {
  /// Writes the bytes, little-endian.
  @inlinable @inline(__always)
  public func _write(to writer: inout RecordWriter) {
    writer.writeSlot(littleEndian, size: Self.bitWidth / 8)
  }

  /// Reads the bytes.
  @inlinable @inline(__always)
  public static func _read(from reader: inout RecordReader) throws(StoreError) -> Self {
    Self(littleEndian: reader.readSlot(Self.self, size: bitWidth / 8))
  }
}

extension AttributeValue where Self: FixedWidthInteger {
  /// The number; `nil` when the type cannot represent it.
  public static func _value(from stored: StoredValue) -> Self? {
    switch stored.value {
    case .integer(let number): Self(exactly: number)
    case .unsigned(let number): Self(exactly: number)
    default: nil
    }
  }
}

extension AttributeValue where Self: FixedWidthInteger & SignedInteger {
  /// The number.
  public var _storedValue: StoredValue { StoredValue(.integer(Int64(self))) }
}

extension AttributeValue where Self: FixedWidthInteger & UnsignedInteger {
  /// The number.
  public var _storedValue: StoredValue { StoredValue(.integer(unsigned: UInt64(self))) }
}

extension Int: IndexableValue {
  /// Stored with 64 bits on every machine.
  public static var _storage: AttributeStorage { AttributeStorage(type: .int64) }
}

extension Int8: IndexableValue {
  /// Stored as one byte.
  public static var _storage: AttributeStorage { AttributeStorage(type: .int8) }
}

extension Int16: IndexableValue {
  /// Stored as two bytes.
  public static var _storage: AttributeStorage { AttributeStorage(type: .int16) }
}

extension Int32: IndexableValue {
  /// Stored as four bytes.
  public static var _storage: AttributeStorage { AttributeStorage(type: .int32) }
}

extension Int64: IndexableValue {
  /// Stored as eight bytes.
  public static var _storage: AttributeStorage { AttributeStorage(type: .int64) }
}

extension UInt: IndexableValue {
  /// Stored with 64 bits on every machine.
  public static var _storage: AttributeStorage { AttributeStorage(type: .uint64) }
}

extension UInt8: IndexableValue {
  /// Stored as one byte.
  public static var _storage: AttributeStorage { AttributeStorage(type: .uint8) }
}

extension UInt16: IndexableValue {
  /// Stored as two bytes.
  public static var _storage: AttributeStorage { AttributeStorage(type: .uint16) }
}

extension UInt32: IndexableValue {
  /// Stored as four bytes.
  public static var _storage: AttributeStorage { AttributeStorage(type: .uint32) }
}

extension UInt64: IndexableValue {
  /// Stored as eight bytes.
  public static var _storage: AttributeStorage { AttributeStorage(type: .uint64) }
}

extension Bool: IndexableValue {
  /// Stored as one byte.
  public static var _storage: AttributeStorage { AttributeStorage(type: .bool) }

  /// The truth value.
  public var _storedValue: StoredValue { StoredValue(.bool(self)) }

  /// The truth value.
  public static func _value(from stored: StoredValue) -> Bool? {
    if case .bool(let flag) = stored.value { flag } else { nil }
  }

  /// Writes 0 or 1.
  @inlinable
  public func _write(to writer: inout RecordWriter) {
    writer.writeSlot(self ? 1 as UInt8 : 0, size: 1)
  }

  /// Reads 0 as false, anything else as true.
  @inlinable
  public static func _read(from reader: inout RecordReader) throws(StoreError) -> Bool {
    reader.readSlot(UInt8.self, size: 1) != 0
  }
}

extension Double: IndexableValue {
  /// Stored as IEEE 754 binary64.
  public static var _storage: AttributeStorage { AttributeStorage(type: .double) }

  /// The number.
  public var _storedValue: StoredValue { StoredValue(.double(self)) }

  /// The number.
  public static func _value(from stored: StoredValue) -> Double? {
    if case .double(let number) = stored.value { number } else { nil }
  }

  /// Writes the bits.
  @inlinable
  public func _write(to writer: inout RecordWriter) { bitPattern._write(to: &writer) }

  /// Reads the bits.
  @inlinable
  public static func _read(from reader: inout RecordReader) throws(StoreError) -> Double {
    Double(bitPattern: try UInt64._read(from: &reader))
  }
}

extension Float: IndexableValue {
  /// Stored as IEEE 754 binary32.
  public static var _storage: AttributeStorage { AttributeStorage(type: .float) }

  /// The number.
  public var _storedValue: StoredValue { StoredValue(.double(Double(self))) }

  /// The number.
  public static func _value(from stored: StoredValue) -> Float? {
    if case .double(let number) = stored.value { Float(number) } else { nil }
  }

  /// Writes the bits.
  @inlinable
  public func _write(to writer: inout RecordWriter) { bitPattern._write(to: &writer) }

  /// Reads the bits.
  @inlinable
  public static func _read(from reader: inout RecordReader) throws(StoreError) -> Float {
    Float(bitPattern: try UInt32._read(from: &reader))
  }
}

extension String: IndexableValue {
  /// Stored as UTF-8, of any length.
  public static var _storage: AttributeStorage { AttributeStorage(type: .string) }

  /// The text.
  public var _storedValue: StoredValue { StoredValue(.string(self)) }

  /// The text.
  public static func _value(from stored: StoredValue) -> String? {
    if case .string(let text) = stored.value { text } else { nil }
  }

  /// Writes the UTF-8 bytes.
  @inlinable
  public func _write(to writer: inout RecordWriter) {
    // No call may happen between finding the bytes and copying them, because it would retain and
    // release the text.
    let count = utf8.count
    let target = writer.variableRoom(for: count)
    let wasContiguous: Void? = utf8.withContiguousStorageIfAvailable { bytes in
      if let source = bytes.baseAddress { target.copyMemory(from: source, byteCount: count) }
    }
    if wasContiguous == nil { Self.copy(self, to: target) }
    writer.endVariable(count)
  }

  @usableFromInline @inline(never)
  static func copy(_ text: String, to target: UnsafeMutableRawPointer) {
    for (offset, byte) in text.utf8.enumerated() {
      target.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
    }
  }

  /// Reads text; bytes that are not UTF-8 become replacement characters.
  ///
  /// `kvdump verify` reports such bytes.
  @inlinable @inline(__always)
  public static func _read(from reader: inout RecordReader) throws(StoreError) -> String {
    reader.readText()
  }
}
