/// Bytes that somebody else owns, lent for the duration of a call.
///
/// A view is an address and a count. A view neither copies nor retains the bytes, so it must not
/// outlive the call or the transaction that lent them.
///
/// Indexes of a view begin at 0. The indexes of a part of a view begin at 0 too, other than those
/// of a slice of the standard library: `bytes[4...][0]` is `bytes[4]`. Bounds are checked in debug
/// builds only.
@frozen @_documentation(visibility: internal)
public struct ByteView: BitwiseCopyable {
  /// The address of the first byte; of bytes without an address, one that is never read.
  public let start: UnsafeRawPointer
  /// The number of bytes.
  public let count: Int

  /// The start of bytes without an address, so that no part of a view has to ask whether there is
  /// one.
  @inlinable @inline(__always)
  static var nowhere: UnsafeRawPointer { UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped }

  /// The address of the first byte, for calls of C; nil for bytes that were made without one.
  @inlinable @inline(__always)
  public var baseAddress: UnsafeRawPointer? { start == Self.nowhere ? nil : start }

  /// A view of `count` bytes that begin at `start`.
  @inlinable @inline(__always)
  public init(start: UnsafeRawPointer, count: Int) {
    assert(count >= 0, "a view of bytes that do not exist")
    self.start = start
    self.count = count
  }

  /// As ``init(start:count:)-(UnsafeRawPointer,_)``; nil is the start of no bytes.
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

  /// The bytes that a function of the standard library lends.
  @inlinable @inline(__always)
  public init(_ bytes: UnsafeRawBufferPointer) {
    self.init(start: bytes.baseAddress, count: bytes.count)
  }

  /// As ``init(_:)-(UnsafeRawBufferPointer)``.
  @inlinable @inline(__always)
  public init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.init(start: bytes.baseAddress, count: bytes.count)
  }

  /// As ``init(_:)-(UnsafeRawBufferPointer)``.
  @inlinable @inline(__always)
  public init(_ bytes: UnsafeMutableRawBufferPointer) {
    self.init(start: bytes.baseAddress, count: bytes.count)
  }

  /// The UTF-8 of `text`, which is always there.
  @inlinable @inline(__always)
  public init(_ text: StaticString) {
    self.init(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }

  /// The bytes that can be changed through `bytes`.
  @inlinable @inline(__always)
  public init(_ bytes: MutableByteView) { self.init(start: bytes.start, count: bytes.count) }

  /// The bytes as the standard library's type, for a function that takes no other.
  @inlinable @inline(__always)
  public var unsafeBytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: start, count: count)
  }

  /// A copy of `bytes` in memory of its own; the caller deallocates it.
  @inlinable
  public static func copy(of bytes: some Collection<UInt8>) -> ByteView {
    let copy = MutableByteView.allocate(byteCount: bytes.count, alignment: 8)
    copy.copyBytes(from: bytes)
    return ByteView(copy)
  }

  /// Gives the memory of ``copy(of:)`` back.
  @inlinable
  public func deallocate() { baseAddress?.deallocate() }
}

@available(*, unavailable)
extension ByteView: Sendable {}

// MARK: Values at an offset

extension ByteView {
  /// The value stored at `offset`, wherever it is aligned.
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
