import Synchronization

/// Builds indexes part by part while the store is used.
final class IndexBuilder: Sendable {
  private let task: Task<Void, any Error>

  /// Begins, if there is anything to build; ends when all are whole, or the store is closed.
  init(_ core: StoreCore) {
    task = Task.detached(priority: .utility) { [weak core] in
      var failure: StoreError?
      while let core {
        do {
          guard try await core.writeTogether({ try $0.buildNextPart() }) else { break }
        } catch let error as StoreError where error.code == .incompatibleSchema {
          failure = failure ?? error
          // Another builder may have given it up meanwhile.
          guard let entity = error.entity, let index = error.index else { throw error }
          try await core.writeTogether { try $0.stopBuilding(index, of: entity) }
        }
        // The store may be closed or given up meanwhile.
        await Task.yield()
      }
      if let failure { throw failure }
    }
  }

  /// Returns when the task has ended, or throws `CancellationError` when the caller's is cancelled
  /// before: awaiting the value of a task would go on.
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
