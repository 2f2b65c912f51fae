internal import LMDB

/// A program's own store and an attached dataset, which may be replaced as a whole.
///
///     let attached = store.attach(pods)
///     try attached.read { snapshot in
///       for note in try snapshot.fetch(Note.all, resolving: \.pod) {
///         print(note.record.text, note.target?.summary ?? "the pod is gone")
///       }
///     }
///
/// Records of the store lead to records of the dataset by ``Reference``. Nothing is written to the
/// dataset, and the store contains no information about it. Any number of datasets can be attached
/// to one store, by one call each.
///
/// The article <doc:AttachedDatasets> describes conditions over both, live results and the report
/// of dangling references.
public struct AttachedStore: Sendable {
  /// The program's own store.
  public let store: Store
  /// The dataset.
  public let dataset: any AttachableDataset

  /// Runs `body` on the newest commit of the store and one generation of the dataset, on the
  /// calling thread.
  ///
  /// The commit and the generation stay the same while `body` runs, whatever is written or replaced
  /// meanwhile. The generation is the one that is current after the read of the store has begun.
  ///
  /// - Throws: the errors of `body`; ``StoreError/Code/closed``.
  public func read<R>(_ body: (borrowing AttachedSnapshot) throws -> R) throws -> R {
    try store.core.read { core in
      try readDataset { dataset in try body(AttachedSnapshot(core, dataset)) }
    }
  }

  /// Runs `body` on the newest commit of the store and one generation of the dataset, on a thread
  /// of the store.
  ///
  /// - Throws: the errors of `body`; `CancellationError` when the task was cancelled before `body`
  ///   ran.
  public func read<R: Sendable>(
    _ body: @escaping @Sendable (borrowing AttachedSnapshot) throws -> R
  ) async throws -> R {
    try Task.checkCancellation()
    let attached = self
    return try await store.core.onReader { try attached.read(body) }
  }

  /// Pins the newest commit of the store and the current generation of the dataset.
  ///
  /// The two stay readable while the result is referenced.
  ///
  /// - Throws: ``StoreError/Code/closed``.
  public func pinned() throws -> PinnedAttachment {
    let own = try store.snapshot()
    return try withDataset { PinnedAttachment(store: own, dataset: try $0.snapshot(), of: $0) }
  }

  /// Runs `body` on the dataset's newest commit.
  func readDataset<R>(_ body: (TransactionCore) throws -> R) throws -> R {
    var hasBegun = false
    return try withDataset(unless: { hasBegun }) { current in
      try current.core.read { core in
        hasBegun = true
        return try body(core)
      }
    }
  }

  /// Calls `body` with the current store of the dataset, and with the next store if the first was
  /// replaced and closed meanwhile.
  ///
  /// - Parameter hasBegun: returns whether the program's closure has started, so that its errors
  ///   are rethrown.
  private func withDataset<R>(
    unless hasBegun: () -> Bool = { false }, _ body: (Store) throws -> R
  ) throws -> R {
    while true {
      let current = try dataset.currentStore
      do {
        // The file of a generation may be removed when its store is no longer referenced.
        return try withExtendedLifetime(current) { try body(current) }
      } catch let error as StoreError where error.code == .closed && !hasBegun() {
        guard try dataset.currentStore !== current else { throw error }
      }
    }
  }
}

extension Store {
  /// Attaches `dataset`, to whose records the store's own records lead by ``Reference``.
  ///
  /// Nothing is opened, read or written. The dataset's store must have been opened with the
  /// referenced entities, and this store with the entities that contain the references.
  ///
  /// - Complexity: O(1)
  public func attach(_ dataset: some AttachableDataset) -> AttachedStore {
    AttachedStore(store: self, dataset: dataset)
  }
}

/// One commit of a store and one generation of a dataset, readable across calls, tasks and threads.
///
/// Created by ``AttachedStore/pinned()``. Each part costs as much as a ``PinnedSnapshot``. The file
/// of a replaced generation stays until the last reference to this value is released.
public struct PinnedAttachment: Sendable {
  /// The commit of the program's own store.
  public let store: PinnedSnapshot
  /// The commit of the dataset.
  public let dataset: PinnedSnapshot
  /// Keeps the generation's store open.
  private let generation: Store

  init(store: PinnedSnapshot, dataset: PinnedSnapshot, of generation: Store) {
    self.store = store
    self.dataset = dataset
    self.generation = generation
  }

  /// Runs `body` on both, on the calling thread.
  ///
  /// - Throws: the errors of `body`, and those of `PinnedSnapshot.read(_:)`.
  public func read<R>(_ body: (borrowing AttachedSnapshot) throws -> R) throws -> R {
    try store.read { own in
      try dataset.read { dataset in try body(AttachedSnapshot(own.core, dataset.core)) }
    }
  }
}
