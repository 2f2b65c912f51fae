/// The threads that serve an environment's async callers, started when first needed.
struct HelperThreads: Sendable {
  var writer: WorkerThreads?
  var readers: WorkerThreads?
}

extension Environment {
  /// Runs `body` on this environment's writer thread, after what was given to it before.
  ///
  /// The thread a write begins on is the one it must end on; here it is also never one of the
  /// cooperative pool, so that waiting for other writers and for the disk stops no task.
  /// Cancelling the task does not stop a body that is waiting or running.
  package func runOnWriterThread<Result: Sendable>(
    _ body: sending @escaping () throws -> Result
  ) async throws -> Result {
    let thread = try helperThreads(\.writer, threadCount: 1)
    return try await thread.run(body)
  }

  /// Runs `body` on one of a few threads kept for reading.
  package func runOnReaderThread<Result: Sendable>(
    _ body: sending @escaping () throws -> Result
  ) async throws -> Result {
    let pool = try helperThreads(\.readers, threadCount: 4)
    return try await pool.run(body)
  }

  private func helperThreads(
    _ role: WritableKeyPath<HelperThreads, WorkerThreads?>, threadCount: Int
  ) throws(LMDBError) -> WorkerThreads {
    try checkNotForked("start a thread")
    return try threads.withLock { (threads) throws(LMDBError) in
      if let running = threads[keyPath: role] { return running }
      // Looked at under the lock that closing takes to stop threads, so none is started after.
      if isClosed { throw LMDBError(.closed, operation: "start a thread", path: path) }
      let started = WorkerThreads(threadCount: threadCount)
      threads[keyPath: role] = started
      return started
    }
  }

  func stopHelperThreads() {
    let stopping = threads.withLock { threads in
      defer { threads = HelperThreads() }
      return threads
    }
    stopping.writer?.stop()
    stopping.readers?.stop()
  }
}
