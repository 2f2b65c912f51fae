import CLMDB
import LodestoreSystem

/// The growth of the map and facts about it. Methods before the mark "Facts about the file" require
/// `writerLock` and that no write runs, unless they say otherwise.
extension Environment {
  /// The size of a process's address space.
  static let largestMapInBytes = 1 << 47

  /// Grows the map between transactions, so that few writes find it full.
  ///
  /// Grows it only if no read is running, and makes no read wait. Errors are ignored, because the
  /// write that needs the space will report them.
  func growIfSmall() {
    let info = rawInfo
    guard info.usedBytes > info.mapSizeInBytes / 2,
      info.mapSizeInBytes < options.mapGrowthLimitInBytes,
      stopReadersIfIdle(turnsAwayNew: false)
    else { return }
    defer { readers.withLock { $0.isMoving = false } }
    try? moveMap(to: grownSize(from: info.mapSizeInBytes))
  }

  private func grownSize(from size: Int) -> Int {
    size > options.mapGrowthLimitInBytes / 4 ? options.mapGrowthLimitInBytes : size * 4
  }

  func grow() throws(LMDBError) {
    let old = rawInfo.mapSizeInBytes
    let new = grownSize(from: old)
    guard new > old else {
      try FileSizeLimit.check(UInt64(old) + 65_536, "write to", path)
      throw failure(
        .cannotGrow("it has reached its limit of \(old) bytes"), code: MDB_MAP_FULL, "write")
    }
    try setMapSize(new, code: MDB_MAP_FULL)
  }

  private func setMapSize(_ size: Int, code: Int32) throws(LMDBError) {
    guard stopReaders(forSeconds: options.growthWaitInSeconds) else {
      throw failure(
        .cannotGrow("a snapshot of this process stayed open for \(options.growthWaitInSeconds) s"),
        code: code, "write")
    }
    defer { readers.withLock { $0.isMoving = false } }
    try moveMap(to: size)
  }

  /// Moves the map.
  ///
  /// No read may be running.
  private func moveMap(to size: Int) throws(LMDBError) {
    // LMDB unmaps the old map before it creates the new map, and has no map if that fails.
    let trial = mmap(nil, size, PROT_NONE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0)
    guard let trial, trial != MAP_FAILED else {
      throw failure(
        .cannotGrow("the system refuses \(size) bytes of address space"), code: MDB_MAP_FULL,
        "grow")
    }
    munmap(trial, size)
    let code = mdb_env_set_mapsize(handle, size)
    guard code == 0 else {
      setPoison()
      readers.withLock { $0.isClosed = true }
      throw failure(code: code, "grow")
    }
  }

  /// Adopts the map growth of another process; does nothing if another thread has just adopted it.
  ///
  /// LMDB's own way, a size of 0, trusts a number in the file and is not used.
  func adoptMapSizeAsWriter() throws(LMDBError) {
    let info = rawInfo
    guard info.usedBytes > info.mapSizeInBytes else { return }
    guard info.usedBytes < Self.largestMapInBytes else {
      throw failure(code: MDB_CORRUPTED, "read")
    }
    let limit = max(options.mapGrowthLimitInBytes, info.usedBytes)
    try setMapSize(min(info.usedBytes * 4, limit), code: MDB_MAP_RESIZED)
  }

  /// Adopts the map growth for a reader, which does not hold the lock.
  ///
  /// The call waits for a write of this process, up to the growth wait. A writer, even one that
  /// waits for its turn, may read the map at any moment.
  func adoptMapSize() throws(LMDBError) {
    guard !isWriterThread else {
      // Within a write the map cannot move, and the write has adopted the size already.
      throw failure(code: MDB_MAP_RESIZED, "read")
    }
    guard writerLock.lock(withinSeconds: options.growthWaitInSeconds) else {
      throw failure(
        .cannotGrow("another process has grown the file while a write of this process ran on"),
        code: MDB_MAP_RESIZED, "read")
    }
    defer { writerLock.unlock() }
    try checkUsable("read")
    guard !readers.withLock({ $0.isClosed }) else {
      // An earlier move of the map failed, so there is no map.
      throw failure(.closed, "read")
    }
    try adoptMapSizeAsWriter()
  }

  // MARK: Facts about the file

  /// Facts about the file and its readers.
  package struct Info: Sendable {
    package var mapSizeInBytes = 0
    package var usedBytes = 0
    package var pageSize = 0
    package var lastTransaction: UInt64 = 0
    package var readerSlotCount = 0
    package var usedReaderSlotCount = 0
  }

  package var info: Info {
    get throws(LMDBError) {
      try checkUsable("info")
      _ = try enterReaders(takesPooled: false)
      defer { leaveReaders(nil) }
      return rawInfo
    }
  }

  /// The value of ``info``, for callers that prevent the map from moving.
  ///
  /// The call reads the newest meta page in the map, which takes some tens of nanoseconds.
  var rawInfo: Info {
    if isInPages, let pageEngine { return pageEngine.info }
    var info = MDB_envinfo()
    var stat = MDB_stat()
    mdb_env_info(handle, &info)
    mdb_env_stat(handle, &stat)
    let pageSize = Int(stat.ms_psize)
    // A damaged meta page may state any number.
    let pages = UInt64(bitPattern: Int64(info.me_last_pgno)).addingReportingOverflow(1)
    let used = pages.partialValue.multipliedReportingOverflow(by: UInt64(pageSize))
    let usedBytes = pages.overflow || used.overflow ? nil : Int(exactly: used.partialValue)
    return Info(
      mapSizeInBytes: info.me_mapsize, usedBytes: usedBytes ?? .max,
      pageSize: pageSize, lastTransaction: UInt64(bitPattern: Int64(info.me_last_txnid)),
      readerSlotCount: Int(info.me_maxreaders), usedReaderSlotCount: Int(info.me_numreaders))
  }
}
