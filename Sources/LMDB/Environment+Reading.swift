import CLMDB
import LodestoreSystem
import Synchronization

extension Environment {
  /// Runs `body` on the newest commit.
  ///
  /// Any thread; readers neither wait nor make wait.
  ///
  /// Costs a fraction of a microsecond: the transaction object and its reader slot are reused.
  @inline(__always)
  package func read<R, E: Error>(
    _ body: (Transaction) throws(E) -> R
  ) throws -> R {
    let transaction = try beginRead()
    defer { endRead(transaction) }
    let read = Transaction(handle: transaction.handle, environment: self)
    if isInPages { return try read.whole { () throws(E) in try body(read) } }
    return try body(read)
  }

  /// A read transaction that outlives a call: must be given to ``endRead(_:)`` once, on any thread.
  ///
  /// Each use of its transaction is to be wrapped by ``Transaction/whole(_:)``.
  package struct PinnedRead: @unchecked Sendable {
    // An LMDB read transaction without thread affinity (MDB_NOTLS); whoever holds this owns it.
    let handle: OpaquePointer
  }

  package func transaction(of pinned: PinnedRead) -> Transaction {
    Transaction(handle: pinned.handle, environment: self)
  }

  package func beginRead() throws(LMDBError) -> PinnedRead {
    try checkUsable("read")
    var attempts = 0
    while true {
      attempts += 1
      let pooled = try enterReaders()
      if isInPages, let pageEngine { return try begin(pageEngine, pooled) }
      var handle = pooled?.handle
      var code =
        if let handle { mdb_txn_renew(handle) } else {
          mdb_txn_begin(self.handle, nil, UInt32(MDB_RDONLY), &handle)
        }
      var looks = 0
      while code == 0, let read = handle {
        let lead = lead(over: read)
        if lead.count < 2 { return PinnedRead(handle: read) }
        looks += 1
        guard looks < 100 else {
          abortRead(read)
          leaveReaders(nil)
          throw LMDBError(
            .mismatched(.transactions(lockFile: lead.number, dataFile: lead.newest)),
            operation: "read", path: path)
        }
        if looks > 8 { usleep(50) }
        mdb_txn_reset(read)
        code = mdb_txn_renew(read)
      }
      // Before leaving: once no read runs, another thread may close the environment. One that was
      // begun and could not begin again has a reader slot to give back, too.
      if let handle { abortRead(handle) }
      leaveReaders(nil)
      try recover(from: code, attempts: attempts, operation: "read")
    }
  }

  /// By how many commits the newest meta page is ahead of a read that just began.
  ///
  /// LMDB first takes the number of the last commit, then the roots of the trees from the meta page
  /// of that commit. Commits alternate between two meta pages, so a thread that is suspended in
  /// between may find the roots of the second commit after it: newer than its number, and newer
  /// than what the next read may see. So a lead of two is refused. A lead of one is not: the next
  /// commit writes the other page, and has it in the map before it is durable.
  ///
  /// A lead that stays is no race: the lock file is in use for another data file, or for this one
  /// by another name. When the lock file is ahead, the difference wraps around to a large number.
  private func lead(
    over read: OpaquePointer
  ) -> (count: UInt64, number: UInt64, newest: UInt64) {
    // The number of the newest commit after the roots, not before them.
    atomicMemoryFence(ordering: .acquiring)
    let newest = newestTransaction
    let number = UInt64(bitPattern: Int64(mdb_txn_id(read)))
    return (newest &- number, number, newest)
  }

  /// The transaction number of the newest meta page, unchecked: it may be any number.
  ///
  /// The page is read in the map, which the caller keeps from moving.
  var newestTransaction: UInt64 {
    if isInPages, let pageEngine { return pageEngine.currentMap.newestTransaction }
    var info = MDB_envinfo()
    mdb_env_info(handle, &info)
    return UInt64(bitPattern: Int64(info.me_last_txnid))
  }

  /// Closes the environment and throws when the numbers of its lock file are not those of the data
  /// file: a process without ``FilePair`` may have another file open that had this path.
  ///
  /// Other failures are left to the first read.
  func checkNumbers() throws(LMDBError) {
    guard hasLockFile else { return }
    do {
      let read = try beginRead()
      abortRead(read.handle)
      leaveReaders(nil)
    } catch {
      guard case .mismatched = error.kind else { return }
      shutDown()
      throw LMDBError(error.kind, operation: "open", path: path)
    }
  }

  /// Removes the cause of a read that could not begin, or throws.
  func recover(from code: Int32, attempts: Int, operation: String) throws(LMDBError) {
    switch code {
    case MDB_READERS_FULL where attempts < 2:
      checkReaders()
    case MDB_MAP_RESIZED where attempts < 8:
      try adoptMapSize()
    case MDB_PANIC:
      setPoison()
      throw LMDBError(.poisoned, code: code, operation: operation, path: path)
    default:
      throw LMDBError(code: code, operation: operation, path: path)
    }
  }

  /// Runs `body` on a read of the pages that this map holds; not where another process has grown
  /// the file beyond it.
  ///
  /// So it never has the map moved, and the caller may be a reader or the writer already.
  func withReadAsMapped(_ body: (Transaction) -> Void) {
    guard holdsMap() else { return }
    defer { leaveReaders(nil) }
    var read: OpaquePointer?
    if let pageEngine {
      read = try? pageEngine.begin(nil)
    } else if mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &read) != 0 {
      read = nil
    }
    guard let read else { return }
    defer { abortRead(read) }
    body(Transaction(handle: read, environment: self))
  }

  /// In a forked child it does nothing: the reader slot is the parent's, whose read may run on.
  package func endRead(_ pinned: PinnedRead) {
    guard !isForked else { return }
    if !isInPages { mdb_txn_reset(pinned.handle) }
    leaveReaders(pinned)
  }

  /// Ends a read for good: LMDB frees its transaction.
  func abortRead(_ handle: OpaquePointer) {
    if isInPages { return PageRead.free(handle) }
    freedReadCount.add(1, ordering: .releasing)
    mdb_txn_abort(handle)
  }

  /// Closes a cursor of a read that may have been freed.
  ///
  /// LMDB 1.0 reads the transaction of a cursor that it closes, so the cursor is moved to another
  /// read first. Where the map is gone, no read can begin, and the cursor's memory is not given
  /// back.
  func closeStray(_ cursor: OpaquePointer) {
    guard holdsMap() else { return }
    defer { leaveReaders(nil) }
    var read: OpaquePointer?
    guard mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &read) == 0, let read else { return }
    if mdb_cursor_renew(read, cursor) == 0 { mdb_cursor_close(cursor) }
    mdb_txn_abort(read)
  }

  /// Counts one more running read, and takes a pooled transaction if there is one.
  ///
  /// The map neither moves nor goes away until ``leaveReaders(_:)``.
  func enterReaders(takesPooled: Bool = true) throws(LMDBError) -> PinnedRead? {
    while true {
      let entered: (isIn: Bool, pooled: PinnedRead?, isClosed: Bool) = readers.withLock { readers in
        if readers.isClosed { return (false, nil, true) }
        if readers.isMoving { return (false, nil, false) }
        readers.runningCount += 1
        return (true, takesPooled ? readers.pool.popLast() : nil, false)
      }
      if entered.isIn { return entered.pooled }
      guard !entered.isClosed else { throw LMDBError(.closed, operation: "read", path: path) }
      // Rare and short: the map is being moved.
      usleep(200)
      try checkUsable("read")
    }
  }

  func leaveReaders(_ pinned: PinnedRead?) {
    let left: (surplus: PinnedRead?, toClose: [PinnedRead]?) = readers.withLock { readers in
      var surplus: PinnedRead?
      if let pinned {
        if readers.pool.count < 64 { readers.pool.append(pinned) } else { surplus = pinned }
      }
      // A surplus transaction is ended first: the map must not go before it.
      guard surplus == nil else { return (surplus, nil) }
      readers.runningCount -= 1
      guard readers.closesWhenIdle, readers.runningCount == 0 else { return (nil, nil) }
      readers.closesWhenIdle = false
      readers.isClosed = true
      defer { readers.pool = [] }
      return (nil, readers.pool)
    }
    if let surplus = left.surplus {
      abortRead(surplus.handle)
      leaveReaders(nil)
    }
    if let pool = left.toClose { closeHandle(pool) }
  }

  /// Waits until no read of this process runs.
  ///
  /// When it returns true, none begins until the caller takes back `isMoving`.
  ///
  /// New reads are let in for a moment now and then: a thread that reads within a read must get
  /// its inner one, or its outer one would never end.
  func stopReaders(forSeconds seconds: Double) -> Bool {
    let deadline = monotonicSeconds() + seconds
    while true {
      let windowEnd = monotonicSeconds() + 0.05
      repeat {
        if stopReadersIfIdle(turnsAwayNew: true) { return true }
        usleep(300)
      } while monotonicSeconds() < min(windowEnd, deadline)
      readers.withLock { $0.isMoving = false }
      if monotonicSeconds() >= deadline { return false }
      usleep(1_000)
    }
  }

  func stopReadersIfIdle(turnsAwayNew: Bool) -> Bool {
    readers.withLock { readers in
      let isIdle = readers.runningCount == 0
      if isIdle || turnsAwayNew { readers.isMoving = true }
      return isIdle
    }
  }

  // MARK: Dead readers

  /// Clears the slots of readers that died; returns how many.
  ///
  /// 0 when the environment is closed.
  @discardableResult
  package func checkReaders() -> Int {
    guard hasLockFile, holdsMap() else { return 0 }
    defer { leaveReaders(nil) }
    var cleared: Int32 = 0
    mdb_reader_check(handle, &cleared)
    return Int(cleared)
  }

  /// Like ``enterReaders(takesPooled:)``, but false instead of an error when there is no map.
  ///
  /// Waits while the map is being moved. True is to be matched by ``leaveReaders(_:)``.
  func holdsMap() -> Bool {
    do {
      // Nobody comes in any more once it is to close, which waits for the last one to leave.
      guard !isForked, !closing.load(ordering: .relaxed) else { return false }
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
}

func monotonicSeconds() -> Double {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return Double(now.tv_sec) + Double(now.tv_nsec) * 1e-9
}

// MARK: Readers of all processes

extension Environment {
  /// A reader's slot that is in use.
  package struct ReaderSlot: Sendable {
    package var process: Int32
    /// The commit that it sees.
    package var commit: UInt64
  }

  /// The reads that run, of all processes; none without a lock file.
  package func readerSlots() -> [ReaderSlot] {
    guard hasLockFile, holdsMap() else { return [] }
    defer { leaveReaders(nil) }
    let lines = ReaderLines()
    mdb_reader_list(
      handle,
      { text, context in
        guard let text, let context else { return 0 }
        Unmanaged<ReaderLines>.fromOpaque(context).takeUnretainedValue().lines
          .append(String(cString: text))
        return 0
      }, Unmanaged.passUnretained(lines).toOpaque())
    // Each line is a process, a thread and a commit, or "-" where no read runs.
    return lines.lines.compactMap { line in
      let words = line.split(whereSeparator: \.isWhitespace)
      guard words.count == 3, let process = Int32(words[0]), let commit = UInt64(words[2]) else {
        return nil
      }
      return ReaderSlot(process: process, commit: commit)
    }
  }
}

private final class ReaderLines {
  var lines: [String] = []
}
