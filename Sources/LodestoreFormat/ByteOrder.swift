// Stores with a stated byte order; loads are in `ByteView` of LodestoreBytes.

/// The bytes of `value`, least significant first.
package func littleEndianBytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
  withUnsafeBytes(of: value.littleEndian) { Array($0) }
}

/// The bytes of `value`, most significant first.
package func bigEndianBytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
  withUnsafeBytes(of: value.bigEndian) { Array($0) }
}
