internal import CLMDB
import Synchronization

/// An open LMDB file: its map, its lock file, and what coordinates the threads of this process.
///
/// Made by ``open(path:options:initialize:)`` or ``openInMemory(options:initialize:)`` and ended
/// by ``close()``, once for every opening. Usable from any thread.
///
/// Mutable state and its guards:
/// - the engine's environment behind `raw`. Transactions use it between entering and leaving
///   `gate`. It is changed only alone: the map is moved inside `gate.withoutTransactions`, and it
///   is freed under the registry's lock, by the one caller whom the gate told to.
/// - the reader pool and the transaction count: in `gate`, guarded by its lock.
/// - the writer's place: in `writerPlace`. Whoever has it may begin the engine's write
///   transaction and may open and close tree handles, which the engine allows to one transaction
///   at a time; also `maintenance` is written only with it, and sits in a mutex for its readers.
/// - `treesByName`, the handles that are committed and can be used by every later transaction:
///   its own mutex, held for single lookups and changes only.
/// - `poison`, the first commit failure: its own mutex; set once, never cleared.
/// - `threads`, the lazily started helper threads: their own mutex, never held while one is
///   waited for.
///
/// Locks are taken in this order, and none is held while going back up: registry, writer's place,
/// gate, and the small mutexes last.
package final class Environment: Sendable {
  /// What the writer remembers between transactions.
  struct Maintenance {
    var nextReaderCheck: ContinuousClock.Instant
  }

  package let path: String
  /// Whether other processes see this one's readers. `false` only for a file opened for reading
  /// with `allowsUnlockedReading` where no lock file could be made.
  package let usesLockFile: Bool
  package let isReadOnly: Bool
  package let pageSizeInBytes: Int

  let options: EnvironmentOptions
  let identity: FileIdentity
  /// Tells this environment's trees from those of any other opened by this process.
  let number: UInt32
  let forkGeneration: UInt64
  let gate: TransactionGate
  let writerPlace = WriterPlace()
  let treesByName = Mutex<[String: Tree]>([:])
  let poison = Mutex<LMDBError?>(nil)
  let maintenance: Mutex<Maintenance>
  let threads = Mutex<HelperThreads>(HelperThreads())

  /// A constant; what it points to is guarded as the inventory above says.
  nonisolated(unsafe) let raw: OpaquePointer

  private static let nextNumber = Atomic<UInt32>(1)

  init(
    raw: OpaquePointer, path: String, options: EnvironmentOptions, identity: FileIdentity,
    usesLockFile: Bool
  ) {
    self.raw = raw
    self.path = path
    self.options = options
    self.identity = identity
    self.usesLockFile = usesLockFile
    isReadOnly = options.access == .readOnly
    number = Self.nextNumber.wrappingAdd(1, ordering: .relaxed).oldValue
    forkGeneration = ForkDetection.generation
    gate = TransactionGate(readerSlotCount: options.readerSlotCount)
    maintenance = Mutex(Maintenance(nextReaderCheck: .now + options.readerCheckInterval))
    var statistics = MDB_stat()
    mdb_env_stat(raw, &statistics)
    pageSizeInBytes = Int(statistics.ms_psize)
  }

  /// Whether ``close()`` was called as often as the file was opened.
  package var isClosed: Bool { gate.isClosed }

  /// The first failure to make a commit durable, after which writes are refused.
  package var poisoning: LMDBError? { poison.withLock { $0 } }

  /// Ends one opening. The last one refuses new transactions, lets queued asynchronous work run
  /// into that refusal, and joins the helper threads.
  ///
  /// The file itself is given up when the last open transaction ends, which is before this call
  /// returns if there is none. Calling more often than the file was opened has no effect.
  package func close() {
    guard forkGeneration == ForkDetection.generation else { return }
    let mustFinish: Bool? = EnvironmentRegistry.withLock { entries in
      guard let entry = entries[identity], entry.environment === self, entry.openCount > 0 else {
        return nil
      }
      entries[identity]?.openCount -= 1
      return entry.openCount == 1 ? gate.close() : nil
    }
    guard let mustFinish else { return }
    stopHelperThreads()
    if mustFinish { finish() }
  }

  /// Frees the engine's environment. Only for the caller whom the gate told to.
  func finish() {
    EnvironmentRegistry.withLock { entries in
      // An opener that came first has done it already: it must not wait for this thread.
      guard let entry = entries[identity], entry.environment === self else { return }
      freeEngine()
      entries[identity] = nil
    }
  }

  /// Call with the registry's lock held, or for an environment that was never registered.
  func freeEngine() {
    for transaction in gate.drainIdle() { mdb_txn_abort(transaction) }
    mdb_env_close(raw)
  }

  /// Counts a transaction out, and frees the engine's environment if it was the last of a closed
  /// one.
  func leaveGate() {
    if gate.leave() == .leftLast { finish() }
  }

  @inline(__always)
  func checkNotForked(_ operation: StaticString) throws(LMDBError) {
    if forkGeneration != ForkDetection.generation {
      throw LMDBError(.usedAfterFork, operation: operation, path: path)
    }
  }

  /// The error for a code of the engine, with what can be found out about the disk.
  func failure(_ code: Int32, _ operation: StaticString) -> LMDBError {
    if code == EngineCode.inputOutput || code == EngineCode.noSpace {
      var descriptor: Int32 = -1
      mdb_env_get_fd(raw, &descriptor)
      let available = SystemCalls.availableByteCount(onFileSystemOf: descriptor)
      // A short write on a full ext4 or tmpfs comes out of the engine as EIO. The write that
      // failed used up what was free, so a few blocks at most are left.
      if let available, code == EngineCode.noSpace || available < 4 << 20 {
        return LMDBError(
          .diskFull(availableByteCount: available), code: code, operation: operation, path: path)
      }
    }
    return LMDBError(engine: code, operation: operation, path: path)
  }
}
