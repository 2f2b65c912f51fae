public import EntityStore

/// A store whose commits go to a replica.
///
///     let writer = try await Replica.writer(store, to: bucket)
///     try store.write { tx in try tx.insert(pod) }
///     print(writer.status.lag)
///
/// The writer sends the commits of all processes that write the store's file. One writer exists for
/// a replica: a second one is refused, or takes over and stops the first.
///
/// Errors of the storage do not stop a writer. The writer repeats its requests until they succeed,
/// and ``status`` shows the failure and the lag. A takeover ends the writer, and so does a replica
/// that does not fit the store; see ``ReplicaWriterStatus/end``.
public final class ReplicaWriter: Sendable {
  /// The store, which must stay open.
  public let store: Store
  let loop: WriterLoop
  private let durability: ReplicaWriterOptions.Durability

  init(_ store: Store, _ loop: WriterLoop, _ durability: ReplicaWriterOptions.Durability) {
    self.store = store
    self.loop = loop
    self.durability = durability
  }

  deinit { loop.drop() }

  /// The state of the writer.
  public var status: ReplicaWriterStatus { loop.currentStatus }

  /// Runs `body` as a write of the store, and waits for the replica if the durability says so.
  ///
  /// With ``ReplicaWriterOptions/Durability/replicated`` the call returns when the storage has the
  /// changes. The local commit is made first, so it exists even if the call throws later.
  ///
  /// - Throws: The errors of the store's write. ``ReplicaError`` if the writer ends before the
  ///   storage has the changes: they are then in the store, and perhaps in the replica.
  @discardableResult
  public func write<R: Sendable>(
    author: String? = nil, contextName: String? = nil,
    _ body: @escaping @Sendable (inout WriteTransaction) throws -> R
  ) async throws -> R {
    let (result, token) = try await store.write(author: author, contextName: contextName) { tx in
      let result = try body(&tx)
      return (result, try tx.ownHistoryToken())
    }
    if durability == .replicated { try await loop.wait(for: token?.number) }
    return result
  }

  /// Waits until the storage has all commits that were made before the call.
  ///
  /// - Throws: ``ReplicaError`` if the writer has ended or ends; `CancellationError`.
  public func flush() async throws { try await loop.wait(for: nil) }

  /// Writes a new base, and waits until the storage has it.
  ///
  /// - Throws: ``ReplicaError`` if the writer has ended or ends; `CancellationError`.
  public func writeBase() async throws { try await loop.writeBase() }

  /// Deletes the parts of the log that ``ReplicaWriterOptions/retention`` does not keep.
  ///
  /// A writer does so by itself after each base. Without a retention the call does nothing.
  ///
  /// - Throws: ``ReplicaError`` if the storage fails or the writer has ended. Some objects may be
  ///   deleted then; the next collection deletes the others.
  public func collect() async throws { try await loop.collectNow() }

  /// Sends all commits, records the place in the log, and ends the writer.
  ///
  /// The store stays open. If the storage cannot be reached, cancel the task of the call: the
  /// commits are sent when a writer is opened the next time.
  ///
  /// - Throws: The ``ReplicaError`` that has ended the writer before; `CancellationError`, after
  ///   which the writer still runs.
  public func stop() async throws { try await loop.stop() }
}
