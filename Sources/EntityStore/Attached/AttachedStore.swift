internal import LMDB

/// A program's own store and a dataset that is replaced whole.
///
///     let attached = store.attach(pods)
///     try attached.read { snapshot in
///       for note in try snapshot.fetch(Note.all, resolving: \.pod) {
///         print(note.record.text, note.target?.summary ?? "the pod is gone")
///       }
///     }
///
/// Records of the store lead to records of the dataset by ``Reference``. Nothing is written to the
/// dataset, and the store knows nothing of it: any number of datasets can be attached to one store,
/// by one call each.
///
/// The article <doc:AttachedDatasets> has conditions over both, live results and the report of
/// dangling references.
public struct AttachedStore: Sendable {
  /// The program's own store.
  public let store: Store
  /// The dataset.
  public let dataset: any AttachableDataset

  /// Runs `body` on the newest commit of the store and one generation of the dataset, on the
  /// calling thread.
  ///
  /// Neither changes while `body` runs, whatever is written or replaced meanwhile. The two are not
  /// of one moment: the dataset's generation is the one that is current when the read of the store
  /// has begun.
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
  /// - Throws: the errors of `body`; `CancellationError` when the task was cancelled before.
  public func read<R: Sendable>(
    _ body: @escaping @Sendable (borrowing AttachedSnapshot) throws -> R
  ) async throws -> R {
    try Task.checkCancellation()
    let attached = self
    return try await store.core.onReader { try attached.read(body) }
  }

  /// Keeps the newest commit of the store and the current generation of the dataset readable, for
  /// as long as the result is referenced.
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

  /// Calls `body` with the current store of the dataset; again with the next one where it was
  /// replaced and closed in between.
  ///
  /// - Parameter hasBegun: whether an error is the program's own.
  private func withDataset<R>(
    unless hasBegun: () -> Bool = { false }, _ body: (Store) throws -> R
  ) throws -> R {
    while true {
      let current = try dataset.currentStore
      do {
        // The file of a generation may go as soon as nobody refers to its store.
        return try withExtendedLifetime(current) { try body(current) }
      } catch let error as StoreError where error.code == .closed && !hasBegun() {
        guard try dataset.currentStore !== current else { throw error }
      }
    }
  }
}

extension Store {
  /// Attaches `dataset`, whose records the store's own records lead to by ``Reference``.
  ///
  /// Nothing is opened, read or written. The dataset's store has been opened with the entities that
  /// are referred to, and this one with those that have the references.
  ///
  /// - Complexity: O(1)
  public func attach(_ dataset: some AttachableDataset) -> AttachedStore {
    AttachedStore(store: self, dataset: dataset)
  }
}

/// One commit of a store and one generation of a dataset, kept readable across calls, tasks and
/// threads.
///
/// Made by ``AttachedStore/pinned()``. Each part costs what a ``PinnedSnapshot`` costs; the file of
/// a replaced generation stays until the last reference to this is gone.
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
  /// - Throws: the errors of `body`; otherwise as `PinnedSnapshot.read(_:)`.
  public func read<R>(_ body: (borrowing AttachedSnapshot) throws -> R) throws -> R {
    try store.read { own in
      try dataset.read { dataset in try body(AttachedSnapshot(own.core, dataset.core)) }
    }
  }
}
