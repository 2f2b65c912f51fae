/// A view of bytes that another object owns, valid for the duration of a call.
///
/// A view is an address and a count. A view neither copies nor retains the bytes, so it must not
/// outlive the call or the transaction that lent them.
///
/// Indexes of a view begin at 0. The indexes of a part of a view begin at 0 too: `bytes[4...][0]`
/// is `bytes[4]`. The indexes of a slice of the standard library begin at the position in the
/// whole. Bounds are checked in debug builds only.
@frozen @_documentation(visibility: internal)
public struct ByteView: BitwiseCopyable {
  /// The address of the first byte.
  ///
  /// If the view was made without an address, this is a fixed address that is never read.
  public let start: UnsafeRawPointer
  /// The number of bytes.
  public let count: Int

  /// The start of a view without an address.
  ///
  /// The value is not nil, so that no access must test for nil.
  @inlinable @inline(__always)
  static var nowhere: UnsafeRawPointer { UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped }

  /// The address of the first byte, for C functions; `nil` if the view was made without an address.
  @inlinable @inline(__always)
  public var baseAddress: UnsafeRawPointer? { start == Self.nowhere ? nil : start }

  /// A view of `count` bytes that begin at `start`.
  @inlinable @inline(__always)
  public init(start: UnsafeRawPointer, count: Int) {
    assert(count >= 0, "a view of bytes that do not exist")
    self.start = start
    self.count = count
  }

  /// A view of `count` bytes that begin at `start`; an empty view if `start` is `nil`.
  @inlinable @inline(__always)
  public init(start: UnsafeRawPointer?, count: Int) {
    assert(count >= 0 && (start != nil || count == 0), "a view of bytes that do not exist")
    self.start = start ?? Self.nowhere
    self.count = count
  }

  /// An empty view.
  @inlinable @inline(__always)
  public init() {
    start = Self.nowhere
    count = 0
  }

  /// A view of the bytes of a buffer of the standard library.
  @inlinable @inline(__always)
  public init(_ bytes: UnsafeRawBufferPointer) {
    self.init(start: bytes.baseAddress, count: bytes.count)
  }

  /// A view of the bytes of a buffer of the standard library.
  @inlinable @inline(__always)
  public init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.init(start: bytes.baseAddress, count: bytes.count)
  }

  /// A view of the bytes of a buffer of the standard library.
  @inlinable @inline(__always)
  public init(_ bytes: UnsafeMutableRawBufferPointer) {
    self.init(start: bytes.baseAddress, count: bytes.count)
  }

  /// The UTF-8 bytes of `text`, which exist as long as the process.
  @inlinable @inline(__always)
  public init(_ text: StaticString) {
    self.init(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }

  /// A read-only view of the same bytes.
  @inlinable @inline(__always)
  public init(_ bytes: MutableByteView) { self.init(start: bytes.start, count: bytes.count) }

  /// The bytes as a buffer of the standard library, for functions that accept only such a buffer.
  @inlinable @inline(__always)
  public var unsafeBytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: start, count: count)
  }

  /// Copies `bytes` to newly allocated memory, which the caller must free with ``deallocate()``.
  @inlinable
  public static func copy(of bytes: some Collection<UInt8>) -> ByteView {
    let copy = MutableByteView.allocate(byteCount: bytes.count, alignment: 8)
    copy.copyBytes(from: bytes)
    return ByteView(copy)
  }

  /// Frees the memory that ``copy(of:)`` has allocated.
  @inlinable
  public func deallocate() { baseAddress?.deallocate() }
}

@available(*, unavailable)
extension ByteView: Sendable {}

// MARK: Values at an offset

extension ByteView {
  /// The value stored at `offset`, which may have any alignment.
  @inlinable @inline(__always)
  public func loadUnaligned<T: BitwiseCopyable>(
    fromByteOffset offset: Int = 0, as type: T.Type
  ) -> T {
    assert(offset >= 0 && offset + MemoryLayout<T>.size <= count, "a value beyond the bytes")
    return start.loadUnaligned(fromByteOffset: offset, as: type)
  }

  /// The little-endian integer at `offset`.
  @inlinable @inline(__always)
  public func uint16(at offset: Int) -> UInt16 {
    UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  /// The little-endian integer at `offset`.
  @inlinable @inline(__always)
  public func uint32(at offset: Int) -> UInt32 {
    UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// The little-endian integer at `offset`.
  @inlinable @inline(__always)
  public func uint64(at offset: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// The big-endian integer at `offset`.
  @inlinable @inline(__always)
  public func bigEndianUInt32(at offset: Int) -> UInt32 {
    UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// The big-endian integer at `offset`.
  @inlinable @inline(__always)
  public func bigEndianUInt64(at offset: Int) -> UInt64 {
    UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
