import LodestoreBytes
import LodestoreSystem

/// Handling of failed writes and syncs. After a failure, the system's cache and the disk may hold
/// different pages, and the system regards the pages of its cache as written. For data pages this
/// is harmless: the failed commit does not exist, and the next commit writes all of its pages
/// again. A failed write of a meta page can damage the file; see ``renewMetaPages()``.
extension Environment {
  /// Forbids all further writes through this environment, and makes the next opening regard the
  /// file as not cleanly closed.
  func setPoison() {
    poison.store(true, ordering: .relaxed)
    if options.isNamed { files?.eraseStamp() }
  }

  /// Writes both meta pages to the disk again, from the system's cache, before the first write to a
  /// file after a possible failure.
  ///
  /// The disk may have a newer meta page than the cache, of a commit whose sync failed. The next
  /// commit would then overwrite pages that this meta page refers to. The disk may also have an
  /// older meta page. The next commit would then overwrite pages of the newest commit that the disk
  /// knows. A power cut at that time would leave a damaged file.
  ///
  /// Call it in a write transaction, so that no process commits meanwhile. The call costs one sync.
  func renewMetaPages() throws(LMDBError) {
    guard mustRenewMetaPages.load(ordering: .relaxed) else { return }
    let descriptor = dataDescriptor
    let size = rawInfo.pageSize
    var page = [UInt8](repeating: 0, count: size)
    for number in 0..<Int(PageLayout.firstDataPage) {
      let offset = off_t(number * size)
      errno = 0
      let isDone = page._withMutableBytes { bytes in
        pread(descriptor, bytes.baseAddress, size, offset) == size
          && pwrite(descriptor, bytes.baseAddress, size, offset) == size
      }
      guard isDone else { throw ioFailure(errno == 0 ? EIO : errno, operation: "write") }
    }
    guard fsync(descriptor) == 0 else { throw ioFailure(errno, operation: "write") }
    mustRenewMetaPages.store(false, ordering: .relaxed)
  }
}
