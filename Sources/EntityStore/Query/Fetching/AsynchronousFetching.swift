internal import LMDB

/// How far a fetch has come.
public struct FetchProgress: Sendable, Hashable {
  /// How many records have been read.
  public let completed: Int
  /// How many will be read; `nil` where neither an index nor the number of records tells.
  public let total: Int?

  /// From 0 to 1; `nil` where ``total`` is.
  public var fraction: Double? {
    total.map { $0 == 0 ? 1 : min(1, Double(completed) / Double($0)) }
  }
}

extension Store {
  /// Fetches on a thread of the store, with progress, until done or cancelled.
  ///
  ///     let items = try await store.fetch(Item.query.sorted(by: .ascending(\.createdAt))) { progress in
  ///       print(progress.fraction ?? 0)
  ///     }
  ///
  /// Cancelling the task ends it within 50 milliseconds, but for conditions in Swift that take
  /// longer on a thousand records.
  ///
  /// - Parameter onProgress: called on the store's thread, a hundred times a second at most.
  /// - Throws: `CancellationError` when the task is cancelled.
  public func fetch<E: Entity>(
    _ query: Query<E>, onProgress: (@Sendable (FetchProgress) -> Void)? = nil
  ) async throws -> [E] {
    try await running(onProgress) { core, control in
      try core.fetch(E.self, try core.run(query, control: control))
    }
  }

  /// How many records `query` finds, counted on a thread of the store.
  public func count<E: Entity>(_ query: Query<E>) async throws -> Int {
    try await running(nil) { core, control in
      try core.run(query.unordered(), wantsOnlyEntries: true, control: control).count()
    }
  }

  /// Finds what `query` asks for on a thread of the store; see ``results(_:)-(Query<E>)``.
  public func results<E: Entity>(_ query: Query<E>) async throws -> FetchedResults<E> {
    let core = core
    return try await cancellably { isCancelled in
      let control = RunControl(isCancelled: isCancelled)
      let hold = try SnapshotHold(core)
      let ids = try hold.use { (core) throws(StoreError) in
        try core.run(query, wantsOnlyEntries: true, control: control).ids()
      }
      return FetchedResults(hold: hold, ids: ids)
    }
  }

  /// What `query` finds, in batches from one commit, each decoded when it is asked for.
  ///
  ///     for try await batch in store.batches(of: 500, query) { … }
  ///
  /// The batches that have been asked for are in memory, and eight bytes a record for the ids. The
  /// commit is held until the sequence is gone.
  public func batches<E: Entity>(of size: Int, _ query: Query<E>) -> ResultBatches<E> {
    ResultBatches(store: self, query: query, size: max(1, size))
  }

  private func running<R: Sendable>(
    _ onProgress: (@Sendable (FetchProgress) -> Void)?,
    _ body: @escaping @Sendable (TransactionCore, RunControl) throws -> R
  ) async throws -> R {
    let core = core
    return try await cancellably { isCancelled in
      var control = RunControl(isCancelled: isCancelled)
      if let onProgress {
        control.report = { onProgress(FetchProgress(completed: $0, total: $1)) }
      }
      let watched = control
      return try core.read { core in try body(core, watched) }
    }
  }

  /// Runs `body` on a reader thread; the cancelled task learns of it at once.
  func cancellably<R: Sendable>(
    _ body: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws -> R
  ) async throws -> R {
    let flag = Latch()
    let threads = core.environment.readerThreads
    return try await withTaskCancellationHandler {
      try Task.checkCancellation()
      do {
        return try await threads.run { try body { flag.isSet } }
      } catch let error as StoreError where error.code == .cancelled {
        throw CancellationError()
      } catch let error as LMDBError {
        throw StoreError(error)
      }
    } onCancel: {
      flag.set()
    }
  }
}

/// The results of a query in batches, as an asynchronous sequence.
public struct ResultBatches<E: Entity>: AsyncSequence, Sendable {
  /// One batch, decoded.
  public typealias Element = [E]

  let store: Store
  let query: Query<E>
  let size: Int

  /// Runs the query with the first batch.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(store: store, query: query, size: size)
  }

  /// Where a loop over batches is.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let store: Store
    let query: Query<E>
    let size: Int
    private var results: FetchedResults<E>?
    private var place = 0

    init(store: Store, query: Query<E>, size: Int) {
      self.store = store
      self.query = query
      self.size = size
    }

    /// The next batch; `nil` behind the last.
    public mutating func next() async throws -> [E]? {
      if results == nil { results = try await store.results(query) }
      guard let found = results, place < found.endIndex else { return nil }
      let part = found[place..<Swift.min(found.endIndex, place + size)]
      place = part.endIndex
      return try await store.cancellably { _ in try part.values() }
    }
  }
}
