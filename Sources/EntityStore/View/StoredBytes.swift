public import LodestoreBytes
public import LodestoreEssentials

extension StoredBytes {
  /// The number of bytes.
  @inlinable public var count: Int { content.count }

  /// Whether the value has no bytes.
  @inlinable public var isEmpty: Bool { content.isEmpty }

  /// A copy that owns its bytes.
  @inlinable public var data: Data { Data(content.unsafeBytes) }

  /// Calls `body` with the bytes, which are valid until it returns.
  @inlinable
  public func withUnsafeBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(content.unsafeBytes)
  }

  /// Whether the bytes are equal.
  public static func == (bytes: borrowing StoredBytes, other: Data) -> Bool {
    other.withUnsafeBytes { bytes.content.elementsEqual(ByteView($0)) }
  }

  /// Whether the bytes differ.
  @inlinable
  public static func != (bytes: borrowing StoredBytes, other: Data) -> Bool { !(bytes == other) }
}
