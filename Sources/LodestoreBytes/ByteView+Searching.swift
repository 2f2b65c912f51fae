import LodestoreSystem

// Found by the C library's functions, which go over many bytes at once.
extension ByteView {
  /// The position of the first byte that equals `byte`.
  @inlinable @inline(__always)
  public func firstIndex(of byte: UInt8) -> Int? {
    guard let baseAddress, let hit = memchr(baseAddress, Int32(byte), count) else { return nil }
    return UnsafeRawPointer(hit) - baseAddress
  }

  /// Whether both have the same bytes.
  @inlinable @inline(__always)
  public func elementsEqual(_ other: ByteView) -> Bool {
    guard count == other.count else { return false }
    guard let baseAddress, let start = other.baseAddress else { return true }
    return memcmp(baseAddress, start, count) == 0
  }
}
