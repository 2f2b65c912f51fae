import LodestoreBytes
import LodestoreSystem

/// The bytes of a file in memory: mapped, or read if the file system cannot map.
///
/// The file may grow meanwhile, and a later map shows the growth. If the file is truncated, the
/// next read beyond its end ends the process, as with LMDB.
package final class PageMap: @unchecked Sendable {
  package let format: PageFormat
  package let pageSize: Int
  /// The address of page 0.
  package let base: UnsafeRawPointer
  package let byteCount: Int
  private let isMapped: Bool

  /// Maps the file of a descriptor.
  ///
  /// The caller owns the descriptor and may close it afterwards.
  package init(_ file: PageFile) throws(VerificationError) {
    format = try PageChecker.format(of: file)
    byteCount = try file.sizeInBytes()
    if let mapped = file.map(byteCount: byteCount) {
      base = UnsafeRawPointer(mapped)
      isMapped = true
    } else {
      base = UnsafeRawPointer(try Self.copy(of: file, byteCount))
      isMapped = false
    }
    // A short file may state its format but end before the page size.
    let bytes = ByteView(start: base, count: byteCount)
    pageSize = byteCount >= format.meta.size ? MetaPage(bytes, format).pageSize : 0
    guard pageSize >= PageLayout.smallestPage, pageSize <= format.largestPage,
      pageSize & (pageSize - 1) == 0
    else { throw .damagedHeader(format.refusal(ofPageSize: pageSize)) }
    guard byteCount >= 2 * pageSize else { throw .notAStore("it ends within its first two pages") }
  }

  deinit {
    let start = UnsafeMutableRawPointer(mutating: base)
    if isMapped { munmap(start, byteCount) } else { start.deallocate() }
  }

  private static func copy(
    of file: PageFile, _ byteCount: Int
  ) throws(VerificationError) -> UnsafeMutableRawPointer {
    let start = UnsafeMutableRawPointer.allocate(
      byteCount: max(1, byteCount), alignment: PageLayout.systemPageSize)
    do throws(VerificationError) {
      let target = MutableByteView(start: start, count: byteCount)
      guard try file.read(into: target, at: 0) == byteCount else {
        throw .notAStore("it was cut while it was read")
      }
      return start
    } catch {
      start.deallocate()
      throw error
    }
  }

  /// The number of whole pages.
  package var pageCount: UInt64 { UInt64(byteCount / pageSize) }

  /// The current two meta pages.
  ///
  /// Another process may write one of the pages meanwhile. The pages are read until two consecutive
  /// readings agree.
  package func metaPages() -> (MetaPage, MetaPage) {
    var before = readMetaPages()
    for _ in 0..<100 {
      let now = readMetaPages()
      if now == before { break }
      before = now
    }
    return before
  }

  private func readMetaPages() -> (MetaPage, MetaPage) { (metaPage(at: 0), metaPage(at: pageSize)) }

  private func metaPage(at offset: Int) -> MetaPage {
    MetaPage(ByteView(start: base + offset, count: format.meta.size), format)
  }

  /// The number of the newest commit.
  ///
  /// The number is not checked and may be anything in a damaged page.
  package var newestTransaction: UInt64 {
    let place = format.meta.transaction
    return max(
      base.loadUnaligned(fromByteOffset: place, as: UInt64.self),
      base.loadUnaligned(fromByteOffset: pageSize + place, as: UInt64.self))
  }
}

extension PageFile {
  /// Maps the file; `nil` if that fails.
  fileprivate func map(byteCount: Int) -> UnsafeMutableRawPointer? {
    guard byteCount > 0 else { return nil }
    let start = mmap(nil, byteCount, PROT_READ, MAP_SHARED, descriptor, 0)
    return start == MAP_FAILED ? nil : start
  }
}
