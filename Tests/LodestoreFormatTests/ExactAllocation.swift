/// Calls `body` with a copy of `bytes` in an allocation of their exact size, so that the address
/// sanitizer sees a read beyond it.
func withExactAllocation<Result>(
  _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> Result
) rethrows -> Result {
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
  defer { buffer.deallocate() }
  buffer.copyBytes(from: bytes)
  return try body(UnsafeRawBufferPointer(buffer))
}
