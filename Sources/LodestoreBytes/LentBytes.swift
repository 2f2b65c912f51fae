// Views of bytes that arrays and texts hold. Their names begin with an underscore, because they
// extend types of the standard library; see Sources/README.md.

extension Array<UInt8> {
  /// Lends the bytes for a call of `body`.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func _withBytes<R, E: Error>(_ body: (ByteView) throws(E) -> R) throws(E) -> R {
    try withUnsafeBufferPointer { (bytes) throws(E) in try body(ByteView(bytes)) }
  }
}

extension ArraySlice<UInt8> {
  /// Lends the bytes for a call of `body`; their indexes begin at 0.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func _withBytes<R, E: Error>(_ body: (ByteView) throws(E) -> R) throws(E) -> R {
    try withUnsafeBufferPointer { (bytes) throws(E) in try body(ByteView(bytes)) }
  }
}

extension Hasher {
  /// Adds the bytes to the hash.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public mutating func _combine(bytes: ByteView) { combine(bytes: bytes.unsafeBytes) }
}

extension Array<UInt8> {
  /// Lends the bytes for a call of `body`, which may change them.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public mutating func _withMutableBytes<R, E: Error>(
    _ body: (MutableByteView) throws(E) -> R
  ) throws(E) -> R {
    try withUnsafeMutableBufferPointer { (bytes) throws(E) in try body(MutableByteView(bytes)) }
  }
}
