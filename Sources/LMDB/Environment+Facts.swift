import CLMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension Environment {
  /// Clears the slots of readers that died; returns how many.
  ///
  /// 0 when the environment is closed.
  @discardableResult
  package func checkReaders() -> Int {
    guard holdsMap() else { return 0 }
    defer { leaveReaders(nil) }
    var cleared: Int32 = 0
    mdb_reader_check(handle, &cleared)
    return Int(cleared)
  }

  /// Like ``enterReaders(takesPooled:)``, for who has an answer when there is no map.
  private func holdsMap() -> Bool {
    do {
      guard !isForked else { return false }
      _ = try enterReaders(takesPooled: false)
      return true
    } catch {
      return false
    }
  }

  /// Every few seconds of committing: a dead reader holds back pages and grows the file.
  func checkReadersPeriodically() {
    let now = Int(monotonicSeconds())
    if now - lastReaderCheck >= 5 {
      lastReaderCheck = now
      checkReaders()
    }
  }

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

  /// ``info`` for whoever keeps the map in place.
  ///
  /// Some tens of nanoseconds: it reads the newest meta page in the map.
  var rawInfo: Info {
    var info = MDB_envinfo()
    var stat = MDB_stat()
    mdb_env_info(handle, &info)
    mdb_env_stat(handle, &stat)
    let pageSize = Int(stat.ms_psize)
    // What a damaged meta page says may be any number.
    let pages = UInt64(bitPattern: Int64(info.me_last_pgno)).addingReportingOverflow(1)
    let used = pages.partialValue.multipliedReportingOverflow(by: UInt64(pageSize))
    let usedBytes = pages.overflow || used.overflow ? nil : Int(exactly: used.partialValue)
    return Info(
      mapSizeInBytes: info.me_mapsize, usedBytes: usedBytes ?? .max,
      pageSize: pageSize, lastTransaction: UInt64(bitPattern: Int64(info.me_last_txnid)),
      readerSlotCount: Int(info.me_maxreaders), usedReaderSlotCount: Int(info.me_numreaders))
  }

  package static var engineVersion: String { String(cString: mdb_version(nil, nil, nil)) }

  /// Copies the newest commit into a new file at `destination`, synced.
  ///
  /// Compacting leaves out free pages. A file that is there is not touched; a new one gets its name
  /// when it is complete. Not inside a write, which the copy would wait for.
  ///
  /// - Parameter willCreate: told the name that the file has until then.
  package func copy(
    to destination: String, compacting: Bool, willCreate: (String) -> Void = { _ in }
  ) throws(LMDBError) {
    try checkUsable("copy")
    guard !isWriterThread else {
      throw LMDBError(.nestedWrite, operation: "copy", path: path)
    }
    guard access(destination, F_OK) != 0 else {
      throw LMDBError(code: EEXIST, operation: "copy to", path: destination)
    }
    let temporary = StoreFile.temporaryName(for: destination)
    willCreate(temporary)
    let file = StoreFile.createForWriting(temporary, mode: options.mode)
    guard file >= 0 else { throw LMDBError(code: errno, operation: "copy to", path: destination) }
    defer { unlink(temporary) }
    do throws(LMDBError) {
      defer { close(file) }
      try copy(into: file, compacting)
      guard fsync(file) == 0, link(temporary, destination) == 0 else {
        throw LMDBError(code: errno, operation: "copy to", path: destination)
      }
    } catch {
      throw LMDBError(error.kind, code: error.code, operation: "copy to", path: destination)
    }
    try StoreFile.syncDirectory(of: destination)
  }

  private func copy(into file: Int32, _ compacting: Bool) throws(LMDBError) {
    var attempts = 0
    while true {
      attempts += 1
      _ = try enterReaders(takesPooled: false)
      let code = mdb_env_copyfd2(handle, file, compacting ? UInt32(MDB_CP_COMPACT) : 0)
      leaveReaders(nil)
      if code == 0 { return }
      // Both are found at the begin of LMDB's transaction, before the first byte is written.
      try recover(from: code, attempts: attempts, operation: "copy")
    }
  }
}
