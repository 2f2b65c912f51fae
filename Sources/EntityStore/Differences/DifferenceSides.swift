internal import LMDB

/// One of the two compared commits, which stays readable while this object is referenced.
final class DifferenceSide: Sendable {
  private enum Source: Sendable {
    case hold(SnapshotHold)
    /// A snapshot of the program, which may be moved or ended meanwhile.
    case reader(any ReadableStore)
  }

  private let source: Source
  let store: StoreCore
  private let commit: CommitNumber

  /// Pins the newest commit of `store`.
  init(_ store: StoreCore) throws(StoreError) {
    try store.checkOpen("compare")
    let hold = try SnapshotHold(store)
    self.store = store
    source = .hold(hold)
    commit = hold.commitNumber
  }

  /// Pins the newest commit of a ``Store``, or uses the commit of another reader, such as a
  /// ``PinnedSnapshot``.
  init(_ reader: any ReadableStore) throws {
    if let store = reader as? Store {
      try store.core.checkOpen("compare")
      let hold = try SnapshotHold(store.core)
      self.store = store.core
      source = .hold(hold)
      commit = hold.commitNumber
    } else {
      (store, commit) = try reader.read { ($0.core.store, $0.core.commitNumber) }
      source = .reader(reader)
    }
  }

  /// The sort key for taking locks that several comparisons share, in a fixed order.
  fileprivate var lockOrder: ObjectIdentifier? {
    if case .reader(let reader) = source { ObjectIdentifier(reader as AnyObject) } else { nil }
  }

  /// - Throws: ``StoreError/Code/snapshotExpired`` when the program has moved its snapshot.
  func read<R>(_ body: (TransactionCore) throws -> R) throws -> R {
    switch source {
    case .hold(let hold):
      // Errors of the caller's closure are rethrown unchanged.
      let result: Result<R, any Error> = try hold.use { (core) throws(StoreError) in
        Result { try body(core) }
      }
      return try store.mapped { try result.get() }
    case .reader(let reader):
      return try reader.read { snapshot in
        guard snapshot.core.commitNumber == commit else {
          throw StoreError(
            .snapshotExpired,
            "cannot continue the comparison: the snapshot of \(store.label) was moved to another "
              + "commit; begin again")
        }
        return try body(snapshot.core)
      }
    }
  }
}

/// The two compared commits.
struct DifferenceSides: Sendable {
  let older: DifferenceSide
  let newer: DifferenceSide

  /// Runs `body` with reads of both commits, on the calling thread.
  ///
  /// Two comparisons may use two snapshots in opposite roles, so the locks are always taken in one
  /// order.
  func read<R>(_ body: (_ older: TransactionCore, _ newer: TransactionCore) throws -> R) throws -> R
  {
    if let first = older.lockOrder, let second = newer.lockOrder, second < first {
      return try newer.read { newer in try older.read { older in try body(older, newer) } }
    }
    return try older.read { older in try newer.read { newer in try body(older, newer) } }
  }
}
