import LodestoreBytes

/// The page layout of a file of LMDB 0.9 or of LMDB 1.0.
///
/// An engine reads and writes only ``ofEngine``. Each file states its own format, see
/// ``init(ofFile:)``. The formats differ only in the numbers below; ``PageLayout`` has the numbers
/// that they share.
///
/// | | LMDB 0.9 | LMDB 1.0 |
/// | --- | --- | --- |
/// | data version, in the meta pages | 1 | 3 |
/// | header of a page | 16 bytes | 24 bytes: the number of the transaction that wrote the page comes second |
/// | offsets in a page count from | the page's begin | the end of its header |
/// | a value begins | after its key | after its key, at an even offset |
/// | a leaf's reference to overflow pages | the first page, 8 bytes | first page, transaction, count: 24 bytes |
/// | names of trees | as given | with a zero byte at the end |
/// | largest page | 32 KiB | 64 KiB |
///
/// The type holds one byte, from which the numbers are computed, so that they are constants within
/// a loop. Everything is public and inlinable, because scans in other modules read pages in their
/// loops.
@_documentation(visibility: internal)
@frozen public struct PageFormat: Sendable, Equatable {
  /// A factor for the numbers below: 0 for LMDB 0.9, 1 for LMDB 1.0.
  @usableFromInline let later: UInt8

  private init(later: UInt8) { self.later = later }

  package static let lmdb09 = PageFormat(later: 0)
  package static let lmdb10 = PageFormat(later: 1)
  package static let all = [lmdb09, lmdb10]

  @inlinable @inline(__always) var factor: Int { Int(truncatingIfNeeded: later) }

  package var dataVersion: UInt32 { isLater ? 3 : 1 }
  /// The size of a page's header in bytes.
  @_documentation(visibility: internal)
  @inlinable public var headerSize: Int { 16 &+ factor &* 8 }
  /// The offset in a page from which the offsets that the page states are counted.
  @_documentation(visibility: internal)
  @inlinable public var origin: Int { factor &* 24 }

  private var isLater: Bool { later != 0 }

  /// The name of the engine that writes this format.
  package var engine: String { isLater ? "LMDB 1.0" : "LMDB 0.9" }

  // MARK: The header of a page

  /// The offset of the number of the transaction that wrote the page, 8 bytes; `nil` in LMDB 0.9.
  ///
  /// A compacting copy writes 1 into all pages.
  package var transaction: Int? { isLater ? 8 : nil }
  /// The offset of the ``PageFlag`` bits, 2 bytes.
  @_documentation(visibility: internal)
  @inlinable public var flags: Int { headerSize &- 6 }
  /// The offset of the field for the start of the free space after the slots, 2 bytes.
  ///
  /// The field counts from ``origin``.
  @_documentation(visibility: internal)
  @inlinable public var lower: Int { headerSize &- 4 }
  /// The offset of the field for the end of the free space, where the nodes begin, 2 bytes.
  ///
  /// The field counts from ``origin``.
  @_documentation(visibility: internal)
  @inlinable public var upper: Int { headerSize &- 2 }
  /// The offset of the number of pages in an overflow page, 4 bytes.
  ///
  /// The field replaces ``lower`` and ``upper``.
  package var overflowCount: Int { headerSize - 4 }

  /// The offset of the slot of the node at `index`.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func slot(_ index: Int) -> Int { headerSize &+ index &* PageLayout.slotSize }

  // MARK: Nodes

  /// The offset of a value from the end of its node's header, after a key of `keyCount` bytes.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func valueOffset(behindKeyOf keyCount: Int) -> Int {
    // For a key of eight bytes this is a constant that the compiler knows.
    keyCount &+ (keyCount & 1 & factor)
  }

  /// The number of bytes in a leaf that refer to a value in overflow pages.
  ///
  /// The first 8 are the number of the first page.
  package var overflowReferenceSize: Int { isLater ? 24 : 8 }
  /// The offset of the page count within such a reference, 8 bytes; `nil` if the format has none.
  package var overflowReferenceCount: Int? { isLater ? 16 : nil }

  /// The number of pages that a value of `byteCount` bytes takes, including its header.
  package func overflowPages(of byteCount: Int, pageSize: Int) -> Int {
    (headerSize - 1 + byteCount) / pageSize + 1
  }

  // MARK: The file

  package var meta: MetaPageLayout { MetaPageLayout(headerSize: headerSize) }

  /// The largest page size, even on systems with larger pages (LMDB: MAX_PAGESIZE).
  package var largestPage: Int { isLater ? 0x10000 : 0x8000 }

  /// The reason to refuse a file with this page size, as a clause.
  package func refusal(ofPageSize size: some CustomStringConvertible) -> String {
    "its first page says a page size of \(size) bytes, and pages of \(engine) have a power of two from "
      + "\(PageLayout.smallestPage) to \(largestPage)"
  }

  /// The key of the tree `name` in the tree of names.
  package func key(ofTree name: String) -> [UInt8] {
    isLater ? Array(name.utf8) + [0] : Array(name.utf8)
  }

  /// The name of the tree with `key` in the tree of names.
  package func name(ofTree key: some Collection<UInt8>) -> String {
    let hasEnd = isLater && key.count > 1 && Array(key.suffix(1)) == [0]
    return String(decoding: key.dropLast(hasEnd ? 1 : 0), as: UTF8.self)
  }

  // MARK: Which format a file has

  /// The number of bytes at the start of a file that determine its format.
  package static let headSize = 32

  /// The format of a file, from its first bytes; `nil` for any other file.
  ///
  /// - Parameter head: At least ``headSize`` bytes. Fewer match no format.
  package init?(ofFile head: ByteView) {
    guard head.count >= Self.headSize else { return nil }
    func word(_ offset: Int) -> UInt32 {
      head.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    }
    let found = Self.all.first {
      word($0.meta.magic) == MetaPageLayout.magicNumber && word($0.meta.version) == $0.dataVersion
    }
    guard let found else { return nil }
    self = found
  }
}
