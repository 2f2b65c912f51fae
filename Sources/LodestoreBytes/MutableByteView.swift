/// A view like ``ByteView`` through which the bytes can be changed.
@frozen @_documentation(visibility: internal)
public struct MutableByteView: BitwiseCopyable {
  /// The address of the first byte.
  ///
  /// If the view was made without an address, this is a fixed address that is never read.
  public let start: UnsafeMutableRawPointer
  /// The number of bytes.
  public let count: Int

  /// The address of the first byte, for C functions; `nil` if the view was made without an address.
  @inlinable @inline(__always)
  public var baseAddress: UnsafeMutableRawPointer? {
    UnsafeRawPointer(start) == ByteView.nowhere ? nil : start
  }

  /// A view of `count` bytes that begin at `start`.
  @inlinable @inline(__always)
  public init(start: UnsafeMutableRawPointer, count: Int) {
    assert(count >= 0, "a view of bytes that do not exist")
    self.start = start
    self.count = count
  }

  /// A view of `count` bytes that begin at `start`; an empty view if `start` is `nil`.
  @inlinable @inline(__always)
  public init(start: UnsafeMutableRawPointer?, count: Int) {
    assert(count >= 0 && (start != nil || count == 0), "a view of bytes that do not exist")
    self.start = start ?? UnsafeMutableRawPointer(mutating: ByteView.nowhere)
    self.count = count
  }

  /// A view of the bytes of a buffer of the standard library.
  @inlinable @inline(__always)
  public init(_ bytes: UnsafeMutableRawBufferPointer) {
    self.init(start: bytes.baseAddress, count: bytes.count)
  }

  /// A view of the bytes of a buffer of the standard library.
  @inlinable @inline(__always)
  public init(_ bytes: UnsafeMutableBufferPointer<UInt8>) {
    self.init(start: bytes.baseAddress, count: bytes.count)
  }

  /// A view that can change the bytes of `bytes`, if their owner allows changes.
  @inlinable @inline(__always)
  public init(mutating bytes: ByteView) {
    self.init(start: UnsafeMutableRawPointer(mutating: bytes.start), count: bytes.count)
  }

  /// Allocates bytes with undefined content, which the caller must free with ``deallocate()``.
  @inlinable
  public static func allocate(byteCount: Int, alignment: Int) -> MutableByteView {
    MutableByteView(start: .allocate(byteCount: byteCount, alignment: alignment), count: byteCount)
  }

  /// Frees the bytes that ``allocate(byteCount:alignment:)`` has allocated.
  @inlinable
  public func deallocate() { baseAddress?.deallocate() }
}

@available(*, unavailable)
extension MutableByteView: Sendable {}

// MARK: Values at an offset

extension MutableByteView {
  /// The value stored at `offset`, which may have any alignment.
  @inlinable @inline(__always)
  public func loadUnaligned<T: BitwiseCopyable>(
    fromByteOffset offset: Int = 0, as type: T.Type
  ) -> T {
    ByteView(self).loadUnaligned(fromByteOffset: offset, as: type)
  }

  /// Stores `value` at `offset`, which may have any alignment.
  @inlinable @inline(__always)
  public func storeBytes<T: BitwiseCopyable>(
    of value: T, toByteOffset offset: Int = 0, as type: T.Type
  ) {
    assert(offset >= 0 && offset + MemoryLayout<T>.size <= count, "a value beyond the bytes")
    start.storeBytes(of: value, toByteOffset: offset, as: type)
  }

  /// Copies `source` over the first bytes; the two memory areas may overlap.
  @inlinable @inline(__always)
  public func copyMemory(from source: ByteView) {
    assert(source.count <= count, "more bytes than there is room for")
    start.copyMemory(from: source.start, byteCount: source.count)
  }

  /// Makes all bytes zero.
  @inlinable @inline(__always)
  public func zero() { start.initializeMemory(as: UInt8.self, repeating: 0, count: count) }

  /// Copies `source` over the first bytes.
  @inlinable @inline(__always)
  public func copyBytes(from source: some Collection<UInt8>) {
    assert(source.count <= count, "more bytes than there is room for")
    UnsafeMutableRawBufferPointer(start: start, count: count).copyBytes(from: source)
  }
}

extension MutableByteView: RandomAccessCollection {
  /// A part of the bytes.
  public typealias SubSequence = MutableByteView
  /// The positions of the bytes.
  public typealias Indices = Range<Int>

  /// Always 0.
  @inlinable @inline(__always)
  public var startIndex: Int { 0 }

  /// The number of bytes.
  @inlinable @inline(__always)
  public var endIndex: Int { count }

  /// The positions of the bytes.
  @inlinable @inline(__always)
  public var indices: Range<Int> { Range(uncheckedBounds: (0, count)) }

  /// The byte at `position`.
  @inlinable @inline(__always)
  public subscript(position: Int) -> UInt8 {
    get { ByteView(self)[position] }
    nonmutating set {
      assert(position >= 0 && position < count, "a byte beyond the bytes")
      start.storeBytes(of: newValue, toByteOffset: position, as: UInt8.self)
    }
  }

  /// A part of the bytes, whose indexes begin at 0.
  @inlinable @inline(__always)
  public subscript(bounds: Range<Int>) -> MutableByteView {
    part(from: bounds.lowerBound, count: bounds.upperBound &- bounds.lowerBound)
  }

  /// The bytes from a position on, whose indexes begin at 0.
  @inlinable @inline(__always)
  public subscript(bounds: PartialRangeFrom<Int>) -> MutableByteView {
    precondition(bounds.lowerBound <= count, "a part beyond the bytes")
    return part(from: bounds.lowerBound, count: count &- bounds.lowerBound)
  }

  /// The bytes before a position.
  @inlinable @inline(__always)
  public subscript(bounds: PartialRangeUpTo<Int>) -> MutableByteView {
    precondition(bounds.upperBound >= 0, "a part of a negative length")
    return part(from: 0, count: bounds.upperBound)
  }

  /// The `count` bytes from `start` on.
  ///
  /// The bounds are checked only in debug builds.
  @inlinable @inline(__always)
  public func part(from start: Int, count: Int) -> MutableByteView {
    assert(start >= 0 && count >= 0 && start + count <= self.count, "a part beyond the bytes")
    return MutableByteView(start: self.start + start, count: count)
  }

  /// The next position.
  @inlinable @inline(__always)
  public func index(after index: Int) -> Int { index &+ 1 }

  /// The previous position.
  @inlinable @inline(__always)
  public func index(before index: Int) -> Int { index &- 1 }

  /// The position after `distance` bytes.
  @inlinable @inline(__always)
  public func index(_ index: Int, offsetBy distance: Int) -> Int { index &+ distance }

  /// The number of bytes between two positions.
  @inlinable @inline(__always)
  public func distance(from start: Int, to end: Int) -> Int { end &- start }

  /// An iterator over the bytes.
  @inlinable @inline(__always)
  public func makeIterator() -> ByteView.Iterator { ByteView.Iterator(ByteView(self)) }

  /// Calls `body` with the bytes, which are always contiguous.
  @inlinable @inline(__always)
  public func withContiguousStorageIfAvailable<R>(
    _ body: (UnsafeBufferPointer<UInt8>) throws -> R
  ) rethrows -> R? {
    try ByteView(self).withContiguousStorageIfAvailable(body)
  }
}
