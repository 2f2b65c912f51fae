extension ByteView: RandomAccessCollection {
  /// A part of the bytes.
  public typealias SubSequence = ByteView
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

  /// Whether the view has no bytes.
  @inlinable @inline(__always)
  public var isEmpty: Bool { count == 0 }

  /// The byte at `position`.
  @inlinable @inline(__always)
  public subscript(position: Int) -> UInt8 {
    assert(position >= 0 && position < count, "a byte beyond the bytes")
    return start.load(fromByteOffset: position, as: UInt8.self)
  }

  /// A part of the bytes, whose indexes begin at 0.
  @inlinable @inline(__always)
  public subscript(bounds: Range<Int>) -> ByteView {
    part(from: bounds.lowerBound, count: bounds.upperBound &- bounds.lowerBound)
  }

  /// The bytes from a position on, whose indexes begin at 0.
  @inlinable @inline(__always)
  public subscript(bounds: PartialRangeFrom<Int>) -> ByteView {
    precondition(bounds.lowerBound <= count, "a part beyond the bytes")
    return part(from: bounds.lowerBound, count: count &- bounds.lowerBound)
  }

  /// The bytes before a position.
  @inlinable @inline(__always)
  public subscript(bounds: PartialRangeUpTo<Int>) -> ByteView {
    precondition(bounds.upperBound >= 0, "a part of a negative length")
    return part(from: 0, count: bounds.upperBound)
  }

  /// The `count` bytes from `start` on.
  ///
  /// The bounds are checked only in debug builds.
  @inlinable @inline(__always)
  public func part(from start: Int, count: Int) -> ByteView {
    assert(start >= 0 && count >= 0 && start + count <= self.count, "a part beyond the bytes")
    return ByteView(start: self.start + start, count: count)
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
  public func makeIterator() -> Iterator { Iterator(self) }

  /// Goes over the bytes of a view.
  @frozen @_documentation(visibility: internal)
  public struct Iterator: IteratorProtocol {
    @usableFromInline var position: UnsafeRawPointer
    @usableFromInline let end: UnsafeRawPointer

    @inlinable @inline(__always)
    init(_ bytes: ByteView) {
      position = bytes.start
      end = bytes.start + bytes.count
    }

    /// The next byte.
    @inlinable @inline(__always)
    public mutating func next() -> UInt8? {
      guard position != end else { return nil }
      defer { position += 1 }
      return position.load(as: UInt8.self)
    }
  }

  /// Calls `body` with the bytes, which are always contiguous.
  @inlinable @inline(__always)
  public func withContiguousStorageIfAvailable<R>(
    _ body: (UnsafeBufferPointer<UInt8>) throws -> R
  ) rethrows -> R? {
    try body(UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count))
  }

  /// Copies the bytes to a buffer, as many as the buffer can hold.
  @inlinable
  public func _copyContents(
    initializing buffer: UnsafeMutableBufferPointer<UInt8>
  ) -> (Iterator, UnsafeMutableBufferPointer<UInt8>.Index) {
    let copied = Swift.min(count, buffer.count)
    if let target = buffer.baseAddress {
      UnsafeMutableRawPointer(target).copyMemory(from: start, byteCount: copied)
    }
    return (self[copied...].makeIterator(), copied)
  }
}
