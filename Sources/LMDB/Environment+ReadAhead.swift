import CLMDB
import LodestoreSystem

/// Whether the system reads ahead in the map.
///
/// Around a page that is not in memory the system reads up to megabytes, which for records here and
/// there is most of the file. So the map is opened without that (MDB_NORDAHEAD), and what reads
/// much in order asks for its pages itself (``ReadAhead``). What reads much and cannot, as LMDB's
/// copy and the batches of a write, has the system read ahead while it runs.
extension Environment {
  /// Whether a file can be opened without the system's read-ahead: where pages are read, and where
  /// this process may ask which of them are in memory.
  ///
  /// To a process that may not write the file, mincore(2) says of each page that it is in memory.
  static func canReadAhead(_ path: String, _ options: EnvironmentOptions) -> Bool {
    var facts = stat()
    guard options.isNamed, stat(path, &facts) == 0 else { return false }
    return (facts.st_uid == geteuid() || access(path, W_OK) == 0)
      && EngineFence(options, pageSize: PageLayout.systemPageSize).reason == nil
  }

  /// Runs `body` with the system's read-ahead.
  func withBulkReading<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    beginBulkReading()
    defer { endBulkReading() }
    return try body()
  }

  /// The smallest batch, in records or entries, for which the system reads ahead.
  package static let smallestBulk = 1_024

  /// The same until the running write ends; on its thread.
  package func beginBulkWrite() {
    guard !isBulkWrite, readsAheadItself else { return }
    isBulkWrite = true
    beginBulkReading()
  }

  func endBulkWrite() {
    guard isBulkWrite, !isForked else { return }
    isBulkWrite = false
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
