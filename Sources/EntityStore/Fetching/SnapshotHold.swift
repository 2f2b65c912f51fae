internal import LMDB
internal import LodestoreFormat

/// One commit, which stays readable as long as this object exists.
///
/// Results that decode on access hold one. `@unchecked Sendable`: the only mutable state is `core`,
/// which one thread at a time uses under `lock`.
final class SnapshotHold: @unchecked Sendable {
  private let store: StoreCore
  private let read: Environment.PinnedRead
  private let core: TransactionCore
  private let lock = ManualLock()

  init(_ store: StoreCore) throws(StoreError) {
    self.store = store
    do { (read, core) = try store.pin() } catch { throw StoreError(wrapping: error) }
  }

  deinit { store.environment.endRead(read) }

  var commitNumber: CommitNumber { core.commitNumber }

  /// Runs `body` while no other thread uses the commit.
  ///
  /// `body` must not call this method.
  func use<R>(_ body: (TransactionCore) throws(StoreError) -> R) throws(StoreError) -> R {
    try store.checkNotForked()
    lock.lock()
    defer { lock.unlock() }
    do { return try core.transaction.whole { try body(core) } } catch {
      throw StoreError(wrapping: error)
    }
  }
}

extension StoreCore {
  /// Throws in a forked child process, where a read that the parent process began must not be used.
  ///
  /// In the child, the read's lock may be held forever by a thread that only the parent has. The
  /// reader slot belongs to the parent too.
  func checkNotForked() throws(StoreError) {
    do { try environment.checkNotForked("read") } catch { throw StoreError(error) }
  }

  /// Begins a read that the caller must end.
  func pin() throws -> (Environment.PinnedRead, TransactionCore) {
    while true {
      // This read loads a newer schema of the file, if there is one, before the pinned read begins.
      try read { _ in }
      let schema = self.schema
      let pinned = try environment.beginRead()
      let transaction = environment.transaction(of: pinned)
      do {
        if try transaction.whole({
          try trees.schemaNumber(in: transaction) == schema.number
        }) {
          return (pinned, TransactionCore(reading: transaction, schema: schema, store: self))
        }
      } catch {
        environment.endRead(pinned)
        throw error
      }
      environment.endRead(pinned)
    }
  }
}
