import LodestoreBytes

/// One of the two ways in which LMDB lays out the pages of a file: that of LMDB 0.9 or that of LMDB
/// 1.0.
///
/// An engine reads and writes one of them, ``ofEngine``. Each file states its own, see
/// ``init(ofFile:)``. The formats differ in the numbers below and in nothing else that this package
/// reads; ``PageLayout`` has the numbers that they share.
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
/// A value of one byte, and its numbers are computed from it: in a loop they are constants of the
/// loop. Public and inlinable, as scans read pages in the loops of another module.
@_documentation(visibility: internal)
@frozen public struct PageFormat: Sendable, Equatable {
  /// 0 for LMDB 0.9 and 1 for LMDB 1.0, which the numbers below are multiples of.
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
  /// Where the offsets that a page states are counted from: an offset in the page.
  @_documentation(visibility: internal)
  @inlinable public var origin: Int { factor &* 24 }

  private var isLater: Bool { later != 0 }

  /// The engine that makes such files, in words.
  package var engine: String { isLater ? "LMDB 1.0" : "LMDB 0.9" }

  // MARK: The header of a page

  /// In LMDB 1.0 the number of the transaction that wrote the page, 8 bytes; otherwise `nil`.
  ///
  /// A compacting copy writes 1 into all pages.
  package var transaction: Int? { isLater ? 8 : nil }
  /// See ``PageFlag``, 2 bytes.
  @_documentation(visibility: internal)
  @inlinable public var flags: Int { headerSize &- 6 }
  /// Where the free space begins, after the slots, from ``origin``; 2 bytes.
  @_documentation(visibility: internal)
  @inlinable public var lower: Int { headerSize &- 4 }
  /// Where the free space ends and the nodes begin, from ``origin``; 2 bytes.
  @_documentation(visibility: internal)
  @inlinable public var upper: Int { headerSize &- 2 }
  /// In an overflow page, in the place of both: how many pages the value has, 4 bytes.
  package var overflowCount: Int { headerSize - 4 }

  /// The offset of the slot of the node at `index`.
  @_documentation(visibility: internal)
  @inlinable @inline(__always)
  public func slot(_ index: Int) -> Int { headerSize &+ index &* PageLayout.slotSize }

  // MARK: Nodes

  /// The offset of a value from the end of its node's header, after a key of `keyCount` bytes.
  @_documentation(visibility: internal)
  @inlinable @inline(__always)
  public func valueOffset(behindKeyOf keyCount: Int) -> Int {
    // Of a key of eight bytes, a constant for the compiler.
    keyCount &+ (keyCount & 1 & factor)
  }

  /// The bytes that a leaf has of a value in overflow pages; the number of the first page comes
  /// first.
  package var overflowReferenceSize: Int { isLater ? 24 : 8 }
  /// Where such a reference has the count of pages, if it has one; 8 bytes.
  package var overflowReferenceCount: Int? { isLater ? 16 : nil }

  /// How many pages of `pageSize` bytes a value of `byteCount` bytes takes: a header and then the
  /// value.
  package func overflowPages(of byteCount: Int, pageSize: Int) -> Int {
    (headerSize - 1 + byteCount) / pageSize + 1
  }

  // MARK: The file

  package var meta: MetaPageLayout { MetaPageLayout(headerSize: headerSize) }

  /// The largest page, also where the system has larger ones (LMDB: MAX_PAGESIZE).
  package var largestPage: Int { isLater ? 0x10000 : 0x8000 }

  /// Why a file that says this page size is refused, as a clause.
  package func refusal(ofPageSize size: some CustomStringConvertible) -> String {
    "its first page says a page size of \(size) bytes, and pages of \(engine) have a power of two from "
      + "\(PageLayout.smallestPage) to \(largestPage)"
  }

  /// The key of a tree in the tree of names.
  package func key(ofTree name: String) -> [UInt8] {
    isLater ? Array(name.utf8) + [0] : Array(name.utf8)
  }

  /// The name of the tree that has `key` in the tree of names.
  package func name(ofTree key: some Collection<UInt8>) -> String {
    let hasEnd = isLater && key.count > 1 && Array(key.suffix(1)) == [0]
    return String(decoding: key.dropLast(hasEnd ? 1 : 0), as: UTF8.self)
  }

  // MARK: Which format a file has

  /// How many bytes of a file's begin state its format.
  package static let headSize = 32

  /// The format that the first bytes of a file state; `nil` for any other file.
  ///
  /// - Parameter head: at least ``headSize`` bytes; fewer belong to no format.
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
