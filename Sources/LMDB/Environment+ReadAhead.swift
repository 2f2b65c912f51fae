import CLMDB
import LodestoreSystem

/// Control of the system's read-ahead in the map.
///
/// For a page that is not in memory the system reads up to megabytes around it. With scattered
/// records that would be most of the file. The map is therefore opened without read-ahead
/// (MDB_NORDAHEAD), and code that reads many pages in order requests them itself (``ReadAhead``).
/// Code that cannot do so, such as LMDB's copy and the batches of a write, enables the system's
/// read-ahead while it runs.
extension Environment {
  /// Whether a file can be opened without the system's read-ahead.
  ///
  /// This requires that pages are read directly, and that the process can query which of them are
  /// in memory.
  ///
  /// If a process may not write the file, mincore(2) reports every page as in memory.
  static func canReadAhead(_ path: String, _ options: EnvironmentOptions) -> Bool {
    guard options.isNamed, let facts = stat(at: path) else { return false }
    return (facts.st_uid == geteuid() || access(path, W_OK) == 0)
      && EngineFence(options, pageSize: PageLayout.systemPageSize).reason == nil
  }

  /// Runs `body` with the system's read-ahead enabled.
  func withBulkReading<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    beginBulkReading()
    defer { endBulkReading() }
    return try body()
  }

  /// The minimum size of a batch, in records or entries, for which the system's read-ahead is
  /// enabled.
  package static let smallestBulk = 1_024

  /// Enables the system's read-ahead until the running write ends.
  ///
  /// Call it on the write's thread.
  package func beginBulkWrite() {
    guard !writeSide.isBulkWrite, readsAheadItself else { return }
    writeSide.isBulkWrite = true
    beginBulkReading()
  }

  func endBulkWrite() {
    guard writeSide.isBulkWrite, !isForked else { return }
    writeSide.isBulkWrite = false
    endBulkReading()
  }

  private func beginBulkReading() {
    guard readsAheadItself else { return }
    bulkReadingCount.withLock { count in
      count += 1
      if count == 1 { advise(MADV_NORMAL) }
    }
  }

  private func endBulkReading() {
    guard readsAheadItself else { return }
    bulkReadingCount.withLock { count in
      count -= 1
      if count == 0 { advise(MADV_RANDOM) }
    }
  }

  private func advise(_ advice: Int32) {
    withReadAsMapped { read in
      guard let map = TreePages.map(in: read) else { return }
      _ = madvise(UnsafeMutableRawPointer(mutating: map), rawInfo.mapSizeInBytes, advice)
    }
  }
}
