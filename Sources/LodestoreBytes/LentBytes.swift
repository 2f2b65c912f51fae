// Methods that pass a view of the bytes of an array or a text. Their names begin with an
// underscore, because they extend types of the standard library; see Sources/README.md.

extension Array<UInt8> {
  /// Calls `body` with a view of the bytes.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func _withBytes<R, E: Error>(_ body: (ByteView) throws(E) -> R) throws(E) -> R {
    try withUnsafeBufferPointer { (bytes) throws(E) in try body(ByteView(bytes)) }
  }
}

extension ArraySlice<UInt8> {
  /// Calls `body` with a view of the bytes, whose indexes begin at 0.
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
  /// Calls `body` with a view of the bytes, which `body` may change.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public mutating func _withMutableBytes<R, E: Error>(
    _ body: (MutableByteView) throws(E) -> R
  ) throws(E) -> R {
    try withUnsafeMutableBufferPointer { (bytes) throws(E) in try body(MutableByteView(bytes)) }
  }
}
