/// Memory for bytes, which is freed with its owner.
///
/// The value cannot be copied, so its memory is freed once, and not before the owner is gone. A
/// ``view`` must not be used longer than the value.
public struct OwnedBytes: ~Copyable {
  /// The bytes, whose content is undefined at first.
  public let view: MutableByteView

  /// Creates an owner of no bytes, without an allocation.
  public init() { view = MutableByteView(start: nil, count: 0) }

  /// Allocates `byteCount` bytes whose address is a multiple of `alignment`.
  public init(byteCount: Int, alignment: Int) {
    view = .allocate(byteCount: byteCount, alignment: alignment)
  }

  deinit { view.deallocate() }

  /// The number of bytes.
  @inlinable @inline(__always)
  public var count: Int { view.count }
}
