import LodestoreBytes

/// The mark of a sealed file, in both of its meta pages.
///
/// The mark is found without a search in trees and before a lock file is created. LMDB ignores
/// these bytes, and its copies of a file have zeros there. See Format.md, "Sealed files".
package enum SealMark {
  /// The offset of the mark in a meta page.
  package static let offset = 256
  package static let bytes = Array("LODESTORE SEALED".utf8)
  /// The number of first bytes of a meta page that contain all of its fields and the mark.
  package static let headSize = offset + bytes.count

  /// Whether the first bytes of a meta page contain the mark.
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
