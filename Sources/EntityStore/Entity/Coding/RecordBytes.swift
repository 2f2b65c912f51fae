// What is read of a record's layout by code that is compiled with the program, which cannot import
// LodestoreFormat; see `NullBit` and `RecordView` there.

extension UnsafeRawPointer {
  /// Whether the null bit with `index` is set in the record that begins here.
  @inlinable @inline(__always)
  func hasNullBit(_ index: Int) -> Bool {
    load(fromByteOffset: 2 &+ index &>> 3, as: UInt8.self)
      & 1 &<< UInt8(truncatingIfNeeded: index & 7) != 0
  }

  /// The end of a variable attribute that is stored at `offset`.
  @inlinable @inline(__always)
  func variableEnd(at offset: Int, isWide: Bool) -> Int {
    isWide
      ? Int(UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
      : Int(UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
  }

  /// The end with index `ordinal` among the ends that begin here.
  @inlinable @inline(__always)
  func variableEnd(_ ordinal: Int, isWide: Bool) -> Int {
    isWide
      ? variableEnd(at: ordinal &* 4, isWide: true) : variableEnd(at: ordinal &* 2, isWide: false)
  }
}
