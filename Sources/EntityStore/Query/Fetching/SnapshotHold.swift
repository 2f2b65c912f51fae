internal import LMDB
internal import LodestoreFormat

/// One commit, kept readable for as long as there is a reference.
///
/// Results that decode on access hold one.
///
/// Mutable state: `core` with its scratch, used by one thread at a time under `lock`.
final class SnapshotHold: @unchecked Sendable {
  private let store: StoreCore
  private let read: Environment.PinnedRead
  private let core: TransactionCore
  private let lock = HeldLock()

  init(_ store: StoreCore) throws(StoreError) {
    self.store = store
    do {
      (read, core) = try store.pin()
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  deinit { store.environment.endRead(read) }

  var generation: CommitNumber { core.commitNumber }

  /// Runs `body` alone; not within itself.
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
  /// Called before a read that the parent has begun is used again: in a forked child its lock may
  /// be held for ever, and its reader slot is the parent's.
  func checkNotForked() throws(StoreError) {
    do {
      try environment.checkNotForked("read")
    } catch {
      throw StoreError(error)
    }
  }

  /// Begins a read that the caller ends.
  func pin() throws -> (Environment.PinnedRead, TransactionCore) {
    while true {
      // Loads a newer schema, where there is one, before the read begins.
      try read { _ in }
      let schema = self.schema
      let pinned = try environment.beginRead()
      let transaction = environment.transaction(of: pinned)
      do {
        if try transaction.whole({
          try trees.schemaNumber(in: transaction) == schema.number
        }) {
          return (
            pinned,
            TransactionCore(reading: transaction, schema: schema, store: self)
          )
        }
      } catch {
        environment.endRead(pinned)
        throw error
      }
      environment.endRead(pinned)
    }
  }
}
