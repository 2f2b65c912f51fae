internal import LMDB

extension Store {
  /// Fetches on a thread of the store, with progress, until done or cancelled.
  ///
  ///     let items = try await store.fetch(Item.all.sorted(by: \.createdAt)) { progress in
  ///       print(progress.fraction ?? 0)
  ///     }
  ///
  /// Cancelling the task ends the fetch within 50 milliseconds, unless a condition in Swift takes
  /// longer for a thousand records.
  ///
  /// - Parameter onProgress: called on the store's thread, at most a hundred times a second.
  /// - Throws: `CancellationError` if the task is cancelled.
  @inlinable
  public func fetch<E: Entity>(
    _ query: Query<E>, onProgress: (@Sendable (WorkProgress) -> Void)? = nil
  ) async throws -> [E] {
    try await running(onProgress) { read in
      var found: [E] = []
      try read.readResults(of: query, reserve: { found.reserveCapacity($0) }) { reader in
        found.append(try E.read(from: &reader))
        return true
      }
      return found
    }
  }

  /// Counts the records that `query` finds, on a thread of the store, with progress, until done or
  /// cancelled.
  ///
  /// - Parameter onProgress: called on the store's thread, at most a hundred times a second.
  /// - Throws: `CancellationError` if the task is cancelled.
  public func count<E: Entity>(
    _ query: Query<E>, onProgress: (@Sendable (WorkProgress) -> Void)? = nil
  ) async throws -> Int {
    try await running(onProgress) { read in
      let run = try read.core.run(
        query.unordered(), wantsOnlyEntries: true, control: read.control)
      let count = try run.count()
      // Counting reports progress while it reads records, but not its completion, which is reported
      // here.
      let all = max(run.counts.recordsRead, count)
      onProgress?(WorkProgress(completed: all, total: all))
      return count
    }
  }

  /// Runs `query` on a thread of the store; see ``results(_:)-(Query<E>)``.
  public func results<E: Entity>(_ query: Query<E>) async throws -> FetchedResults<E> {
    let core = core
    return try await cancellably { try core.results(query, control: RunControl(isCancelled: $0)) }
  }

  /// Returns the results of `query` in batches from one commit, each decoded when the loop asks for
  /// it.
  ///
  ///     for try await batch in store.batches(of: 500, query) { … }
  ///
  /// Memory holds the batch in use and the ids of all results, eight bytes each. The commit is kept
  /// until the sequence is released. A size below 1 is taken as 1.
  ///
  /// Cancelling the task ends the sequence with `CancellationError`, even within a batch.
  ///
  /// - Parameter report: called on the store's thread with each record that cannot be read, in the
  ///   order of the query. The record counts for its batch, which may have fewer records than the
  ///   others, or none. Without `report` the first such record ends the sequence with an error.
  public func batches<E: Entity>(
    of size: Int, _ query: Query<E>,
    onUnreadable report: (@Sendable (UnreadableRecord<E>) -> Void)? = nil
  ) -> ResultBatches<E> {
    ResultBatches(store: self, query: query, size: max(1, size), onUnreadable: report)
  }

  @usableFromInline
  func running<R: Sendable>(
    _ onProgress: (@Sendable (WorkProgress) -> Void)?,
    _ body: @escaping @Sendable (WatchedRead) throws -> R
  ) async throws -> R {
    let core = core
    return try await cancellably { isCancelled in
      var control = RunControl(isCancelled: isCancelled)
      if let onProgress {
        control.report = { onProgress(WorkProgress(completed: $0, total: $1)) }
      }
      let watched = control
      return try core.read { core in try body(WatchedRead(core: core, control: watched)) }
    }
  }

  /// Runs `body` on a reader thread.
  ///
  /// Cancelling the task is visible to `body` at once.
  @usableFromInline
  func cancellably<R: Sendable>(
    _ body: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws -> R
  ) async throws -> R {
    let turn = core.environment.longReads.turn()
    return try await withTaskCancellationHandler {
      try Task.checkCancellation()
      do {
        return try await core.onReader {
          turn.begin()
          defer { turn.end() }
          return try body {
            turn.check()
            return turn.isCancelled
          }
        }
      } catch let error as StoreError where error.code == .cancelled {
        throw CancellationError()
      }
    } onCancel: {
      turn.cancel()
    }
  }
}

/// A read that can be cancelled and reports its progress.
@usableFromInline
struct WatchedRead {
  let core: TransactionCore
  let control: RunControl

  /// Reads the results as ``TransactionAccess`` does; ``control`` can cancel the read.
  @usableFromInline
  func readResults<E: Entity>(
    of query: Query<E>, reserve: (Int) -> Void, _ body: (inout RecordReader) throws -> Bool
  ) throws(StoreError) {
    try core.readResults(of: try core.run(query, control: control), reserve: reserve, body)
  }

  /// Reads the results as ``TransactionAccess`` does, and reports unreadable records; ``control``
  /// can cancel the read.
  @usableFromInline
  func readResults<E: Entity>(
    of query: Query<E>, onUnreadable report: (UnreadableRecord<E>) -> Void,
    _ body: (inout RecordReader) throws -> Bool
  ) throws(StoreError) {
    try core.readResults(of: try core.run(query, control: control), onUnreadable: report, body)
  }
}

/// The results of a query in batches, as an asynchronous sequence.
public struct ResultBatches<E: Entity>: AsyncSequence, Sendable {
  /// A batch of decoded records.
  @_documentation(visibility: internal)
  public typealias Element = [E]

  let store: Store
  let query: Query<E>
  let size: Int
  /// Receives each record that cannot be read; `nil` if such a record ends the sequence.
  let onUnreadable: (@Sendable (UnreadableRecord<E>) -> Void)?

  /// Creates an iterator, which runs the query when it is asked for the first batch.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(store: store, query: query, size: size, onUnreadable: onUnreadable)
  }

  /// The position of a loop over batches.
  @_documentation(visibility: internal)
  public struct AsyncIterator: AsyncIteratorProtocol {
    @usableFromInline let store: Store
    let query: Query<E>
    let size: Int
    @usableFromInline let onUnreadable: (@Sendable (UnreadableRecord<E>) -> Void)?
    private var results: FetchedResults<E>?
    private var position = 0

    init(
      store: Store, query: Query<E>, size: Int,
      onUnreadable: (@Sendable (UnreadableRecord<E>) -> Void)?
    ) {
      self.store = store
      self.query = query
      self.size = size
      self.onUnreadable = onUnreadable
    }

    /// Returns the next batch, or `nil` after the last one.
    @inlinable @_documentation(visibility: internal)
    public mutating func next() async throws -> [E]? {
      guard let part = try await nextPart() else { return nil }
      let report = onUnreadable
      return try await store.cancellably { isCancelled in
        if let report {
          try part.values(isCancelled: isCancelled, onUnreadable: report)
        } else {
          try part.values(isCancelled: isCancelled)
        }
      }
    }

    @usableFromInline
    mutating func nextPart() async throws -> FetchedResults<E>? {
      if results == nil { results = try await store.results(query) }
      guard let found = results, position < found.endIndex else { return nil }
      let part = found[position..<Swift.min(found.endIndex, position + size)]
      position = part.endIndex
      return part
    }
  }
}
