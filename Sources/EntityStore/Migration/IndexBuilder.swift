internal import LMDB
import Synchronization

/// Builds indexes in parts while the store is in use.
final class IndexBuilder: Sendable {
  private let task: Task<Void, any Error>

  /// Starts the task; it ends when all indexes are complete, or when the store is closed.
  init(_ core: StoreCore) {
    task = Task.detached(priority: .utility) { [weak core] in
      var failure: StoreError?
      while let threads = core?.environment.readerThreads {
        // Lists are made outside of a write, because other writes would wait. Meanwhile, the store
        // may be closed or released.
        var lists: NewLists?
        if let makes = try await Self.listsForNextPart(core) {
          do { lists = try await threads.run(makes) } catch let error as LMDBError {
            throw StoreError(error)
          }
        }
        guard let core else { break }
        do {
          guard try await core.writeTogether({ [lists] in try $0.buildNextPart(with: lists) })
          else { break }
        } catch let error as StoreError where error.code == .incompatibleSchema {
          failure = failure ?? error
          // If another process has already discarded the index with the repeated keys, this call
          // changes nothing.
          guard let entity = error.entity, let index = error.index else { throw error }
          try await core.writeTogether { try $0.stopBuilding(index, of: entity) }
        }
        // Other threads get a chance to close or release the store.
        await Task.yield()
      }
      if let failure { throw failure }
    }
  }

  private static func listsForNextPart(
    _ core: StoreCore?
  ) async throws -> (@Sendable () throws -> NewLists)? {
    guard let core else { return nil }
    return try await core.onReader { try core.listsForNextPart() }
  }

  /// Waits for the end of the task; throws `CancellationError` when the caller's task is cancelled
  /// earlier.
  ///
  /// Awaiting the task's value directly would not return when the caller's task is cancelled.
  func wait() async throws {
    let (end, continuation) = AsyncThrowingStream.makeStream(of: Never.self)
    let task = task
    Task {
      switch await task.result {
      case .success: continuation.finish()
      case .failure(let error): continuation.finish(throwing: error)
      }
    }
    for try await _ in end {}
    try Task.checkCancellation()
  }
}
