// The parts of a record's layout that code inlined into the program reads.
//
// Such code cannot import LodestoreFormat; see `NullBit` and `RecordView` there.

extension UnsafeRawPointer {
  /// Returns whether the null bit `index` is set in the record that begins at this address.
  @inlinable @inline(__always)
  func hasNullBit(_ index: Int) -> Bool {
    load(fromByteOffset: 2 &+ index &>> 3, as: UInt8.self)
      & 1 &<< UInt8(truncatingIfNeeded: index & 7) != 0
  }

  /// The end of a variable attribute, stored at `offset`.
  @inlinable @inline(__always)
  func variableEnd(at offset: Int, isWide: Bool) -> Int {
    isWide
      ? Int(UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
      : Int(UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
  }

  /// The end of the variable attribute `ordinal`, in the array of ends that begins at this address.
  @inlinable @inline(__always)
  func variableEnd(_ ordinal: Int, isWide: Bool) -> Int {
    isWide
      ? variableEnd(at: ordinal &* 4, isWide: true) : variableEnd(at: ordinal &* 2, isWide: false)
  }
}
