import CLMDB
import LodestoreSystem
import Synchronization

extension Environment {
  /// Runs `body` on the newest commit.
  ///
  /// Any thread may call it. A reader neither waits for a writer nor makes a writer wait.
  ///
  /// A read costs a fraction of a microsecond, because its transaction object and reader slot are
  /// reused.
  @inline(__always)
  package func read<R, E: Error>(_ body: (Transaction) throws(E) -> R) throws -> R {
    let transaction = try beginRead()
    defer { endRead(transaction) }
    let read = Transaction(handle: transaction.handle, environment: self)
    if isInPages { return try read.whole { () throws(E) in try body(read) } }
    return try body(read)
  }

  /// A read transaction that outlives a call.
  ///
  /// Pass it to ``endRead(_:)`` exactly once, on any thread.
  ///
  /// Wrap each use of its transaction in ``Transaction/whole(_:)``.
  package struct PinnedRead: @unchecked Sendable {
    // An LMDB read transaction without thread affinity (MDB_NOTLS). The holder of this value owns
    // it.
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
          throw failure(
            .mismatched(.transactions(lockFile: lead.number, dataFile: lead.newest)), "read")
        }
        if looks > 8 { usleep(50) }
        mdb_txn_reset(read)
        code = mdb_txn_renew(read)
      }
      // End the transaction before leaving, because another thread may close the environment once
      // no read runs. A transaction that began but could not be renewed also has a reader slot to
      // release.
      if let handle { abortRead(handle) }
      leaveReaders(nil)
      try recover(from: code, attempts: attempts, operation: "read")
    }
  }

  /// The number of commits by which the newest meta page is ahead of a read that just began.
  ///
  /// LMDB first reads the number of the last commit, then the roots of the trees from the meta page
  /// of that commit. Commits alternate between the two meta pages. A thread suspended between the
  /// two reads may therefore find the roots of the second commit after it. Such roots are newer
  /// than the number of the read, and newer than the roots that the next read may see. A read with
  /// a lead of two is refused for this reason. A lead of one is harmless: the next commit writes
  /// the other meta page, and has it in the map before the commit is durable.
  ///
  /// If the lead persists, it has another cause. Either the lock file belongs to another data file,
  /// or the data file is in use under another name. If the lock file is ahead, the difference wraps
  /// around to a large number.
  private func lead(over read: OpaquePointer) -> (count: UInt64, number: UInt64, newest: UInt64) {
    // Read the number of the newest commit after the roots, not before them.
    atomicMemoryFence(ordering: .acquiring)
    let newest = newestTransaction
    let number = UInt64(bitPattern: Int64(mdb_txn_id(read)))
    return (newest &- number, number, newest)
  }

  /// The transaction number of the newest meta page.
  ///
  /// The number is not checked, so a damaged file may yield any number.
  ///
  /// The page is read in the map, so the caller must prevent the map from moving.
  var newestTransaction: UInt64 {
    if isInPages, let pageEngine { return pageEngine.currentMap.newestTransaction }
    var info = MDB_envinfo()
    mdb_env_info(handle, &info)
    return UInt64(bitPattern: Int64(info.me_last_txnid))
  }

  /// Closes the environment and throws if the transaction numbers of the lock file do not match the
  /// data file.
  ///
  /// The two differ if a process without ``FilePair`` still has another data file open that once
  /// had this path.
  ///
  /// Other failures are reported by the first read.
  func checkNumbers() throws(LMDBError) {
    guard hasLockFile else { return }
    do {
      let read = try beginRead()
      abortRead(read.handle)
      leaveReaders(nil)
    } catch {
      guard case .mismatched = error.kind else { return }
      shutDown()
      throw failure(error.kind, "open")
    }
  }

  /// Removes the cause that prevented a read from beginning, or throws.
  func recover(from code: Int32, attempts: Int, operation: String) throws(LMDBError) {
    switch code {
    case MDB_READERS_FULL where attempts < 2: checkReaders()
    case MDB_MAP_RESIZED where attempts < 8: try adoptMapSize()
    case MDB_PANIC:
      setPoison()
      throw failure(.poisoned, code: code, operation)
    default: throw failure(code: code, operation)
    }
  }

  /// Runs `body` on a read of the pages within the current map, unless another process has grown
  /// the file beyond the map.
  ///
  /// The call never moves the map, so the caller may already be a reader or the writer.
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

  /// Ends a pinned read.
  ///
  /// In a forked child it does nothing, because the reader slot belongs to the parent, whose read
  /// may continue.
  package func endRead(_ pinned: PinnedRead) {
    guard !isForked else { return }
    if !isInPages { mdb_txn_reset(pinned.handle) }
    leaveReaders(pinned)
  }

  /// Ends a read permanently: LMDB frees its transaction.
  func abortRead(_ handle: OpaquePointer) {
    if isInPages { return PageRead.free(handle) }
    freedReadCount.add(1, ordering: .releasing)
    mdb_txn_abort(handle)
  }

  /// Closes a cursor of a read whose transaction may have been freed.
  ///
  /// LMDB 1.0 reads the transaction of a cursor that it closes. The cursor is therefore moved to
  /// another read first. If the map is gone, no read can begin, and the cursor's memory is not
  /// freed.
  func closeStray(_ cursor: OpaquePointer) {
    guard holdsMap() else { return }
    defer { leaveReaders(nil) }
    var read: OpaquePointer?
    guard mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &read) == 0, let read else { return }
    if mdb_cursor_renew(read, cursor) == 0 { mdb_cursor_close(cursor) }
    mdb_txn_abort(read)
  }

  /// Registers one more running read and takes a pooled transaction if there is one.
  ///
  /// The map neither moves nor closes until ``leaveReaders(_:)``.
  func enterReaders(takesPooled: Bool = true) throws(LMDBError) -> PinnedRead? {
    while true {
      let entered: (isIn: Bool, pooled: PinnedRead?, isClosed: Bool) = readers.withLock { readers in
        if readers.isClosed { return (false, nil, true) }
        if readers.isMoving { return (false, nil, false) }
        readers.runningCount += 1
        return (true, takesPooled ? readers.pool.popLast() : nil, false)
      }
      if entered.isIn { return entered.pooled }
      guard !entered.isClosed else { throw failure(.closed, "read") }
      // The map is being moved, which is rare and short.
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
      // A surplus transaction is ended first, because the map must not be unmapped before that.
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

  /// Waits until no read of this process is running.
  ///
  /// If it returns true, no read begins until the caller resets `isMoving`.
  ///
  /// New reads are admitted briefly at intervals. A thread that starts a read within a read must
  /// get the inner read, or its outer read would never end.
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

  /// Clears the slots of dead readers and returns their number.
  ///
  /// Returns 0 if the environment is closed.
  @discardableResult
  package func checkReaders() -> Int {
    guard hasLockFile, holdsMap() else { return 0 }
    defer { leaveReaders(nil) }
    var cleared: Int32 = 0
    mdb_reader_check(handle, &cleared)
    return Int(cleared)
  }

  /// Like ``enterReaders(takesPooled:)``, but returns false instead of throwing if there is no map.
  ///
  /// The call waits while the map is being moved. After true, call ``leaveReaders(_:)``.
  func holdsMap() -> Bool {
    do {
      // When the environment is closing, no read may begin, because closing waits for the last read
      // to end.
      guard !isForked, !closing.load(ordering: .relaxed) else { return false }
      _ = try enterReaders(takesPooled: false)
      return true
    } catch {
      return false
    }
  }

  /// Checks for dead readers every few seconds of committing, because they prevent the reuse of
  /// pages and make the file grow.
  func checkReadersPeriodically() {
    let now = Int(monotonicSeconds())
    if now - writeSide.lastReaderCheck >= 5 {
      writeSide.lastReaderCheck = now
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
  /// A reader slot in use.
  package struct ReaderSlot: Sendable {
    package var process: Int32
    /// The commit that the reader sees.
    package var commit: UInt64
  }

  /// The running reads of all processes; empty without a lock file.
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
    // Each line has a process, a thread and a commit, or "-" if no read is running.
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
