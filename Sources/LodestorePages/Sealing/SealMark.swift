import LodestoreBytes

/// The mark of a sealed file, in both of its meta pages.
///
/// Whoever opens a file finds it without a search in trees, before a lock file is made. LMDB
/// ignores these bytes, and its copies of a file have zeros there. See Format.md, "Sealed files".
package enum SealMark {
  /// Where the mark is in a meta page.
  package static let offset = 256
  package static let bytes = Array("LODESTORE SEALED".utf8)
  /// The first bytes of a meta page that have all of its fields and the mark.
  package static let headSize = offset + bytes.count

  /// Whether the first bytes of a meta page have the mark.
  package static func isPresent(in page: ByteView) -> Bool {
    page.count >= headSize && page[offset..<headSize].elementsEqual(bytes)
  }

  /// Whether both meta pages of a file have the mark.
  package static func isPresent(in map: PageMap) -> Bool {
    [0, map.pageSize].allSatisfy { page in
      page + headSize <= map.byteCount
        && isPresent(in: ByteView(start: map.base + page, count: headSize))
    }
  }
}
