import LodestoreBytes
import LodestoreSystem

/// After a failed write or sync the system and the disk may hold different pages, and the system takes its own
/// for written. Data pages do no harm: a commit that failed is not there, and the next one writes all of its
/// pages anew. A meta page does.
extension Environment {
  /// From now on nothing is written through this environment, and whoever opens the file next does not take it
  /// for one that was left in order.
  func setPoison() {
    poison.store(true, ordering: .relaxed)
    if options.isNamed { files?.eraseStamp() }
  }

  /// Has the disk write both meta pages again, as they are in the system, before the first write to a file
  /// that may have seen a failure.
  ///
  /// When the disk has a newer meta page than the system, that of a commit whose sync failed, the next commit
  /// would write over its pages; when it has an older one, over pages of the newest commit that it knows of.
  /// A power cut at that time would leave a damaged file. Called in a write transaction, so that no process
  /// makes a commit meanwhile. Costs one sync.
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
