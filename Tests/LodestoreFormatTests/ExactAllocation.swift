import LodestoreBytes

/// Calls `body` with a copy of `bytes` in an allocation of their exact size, so that the address
/// sanitizer sees a read beyond it.
func withExactAllocation<Result>(
  _ bytes: [UInt8], _ body: (ByteView) throws -> Result
) rethrows -> Result {
  let buffer = MutableByteView.allocate(byteCount: bytes.count, alignment: 1)
  defer { buffer.deallocate() }
  buffer.copyBytes(from: bytes)
  return try body(ByteView(buffer))
}
