// Loads and stores with a stated byte order. No other file of the project converts byte orders.

extension UnsafeRawBufferPointer {
  /// The little-endian integer at `offset`.
  ///
  /// Traps if it extends beyond the end, so the caller must check lengths.
  @inlinable @inline(__always)
  @_documentation(visibility: internal)
  public func _uint16(at offset: Int) -> UInt16 {
    UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  /// The little-endian integer at `offset`; see ``_uint16(at:)``.
  @inlinable @inline(__always)
  @_documentation(visibility: internal)
  public func _uint32(at offset: Int) -> UInt32 {
    UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// The little-endian integer at `offset`; see ``_uint16(at:)``.
  @inlinable @inline(__always)
  @_documentation(visibility: internal)
  public func _uint64(at offset: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// The big-endian integer at `offset`; traps beyond the end.
  @inlinable @inline(__always)
  @_documentation(visibility: internal)
  public func _bigEndianUInt64(at offset: Int) -> UInt64 {
    UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// The big-endian integer at `offset`; traps beyond the end.
  func bigEndianUInt32(at offset: Int) -> UInt32 {
    UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }
}

/// The bytes of `value`, least significant first.
package func littleEndianBytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
  withUnsafeBytes(of: value.littleEndian) { Array($0) }
}

/// The bytes of `value`, most significant first.
package func bigEndianBytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
  withUnsafeBytes(of: value.bigEndian) { Array($0) }
}
