import LodestoreSystem

// Searches and comparisons use functions of the C library, which process many bytes at once.
extension ByteView {
  /// The position of the first byte that equals `byte`.
  @inlinable @inline(__always)
  public func firstIndex(of byte: UInt8) -> Int? {
    guard let hit = memchr(start, Int32(byte), count) else { return nil }
    return UnsafeRawPointer(hit) - start
  }

  /// Whether both views have equal bytes.
  @inlinable @inline(__always)
  public func elementsEqual(_ other: ByteView) -> Bool {
    count == other.count && memcmp(start, other.start, count) == 0
  }
}
