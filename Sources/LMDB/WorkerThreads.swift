#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Threads that run synchronous work for async callers, in order of arrival.
///
/// Waiting for the writer's lock or the disk on the cooperative pool would stop every other task
/// of a small machine. With one thread this is also an order: what was queued first runs first.
///
/// Mutable state: `state` — the queue, whether it stops, and the threads to join — guarded by its
/// lock.
final class WorkerThreads: Sendable {
  private struct State {
    var jobs: [@Sendable () -> Void] = []
    /// Jobs before this index have been taken.
    var nextJob = 0
    var isStopping = false
    var threads: [pthread_t] = []
    var identities: [ThreadIdentity] = []
  }

  private let state = Monitor(State())

  init(threadCount: Int) {
    for _ in 0..<threadCount { startThread() }
  }

  /// Runs `body` on one of the threads and returns what it returns.
  ///
  /// A body whose turn comes after ``stop()`` still runs.
  func run<Result: Sendable>(
    _ body: sending @escaping () throws -> Result
  ) async throws -> Result {
    // The closure moves to the thread and is called there once.
    nonisolated(unsafe) let body = body
    return try await withCheckedThrowingContinuation { continuation in
      enqueue { continuation.resume(with: Swift.Result { try body() }) }
    }
  }

  /// Lets the threads end when the queue is empty, and waits for that unless called on one of
  /// them.
  func stop() {
    let threads = state.withLock { state in
      state.isStopping = true
      self.state.wakeAll()
      defer { state.threads = [] }
      return state.threads
    }
    let isOwnThread = state.withLock { $0.identities.contains(ThreadIdentity.current()) }
    for thread in threads {
      if isOwnThread {
        pthread_detach(thread)
      } else {
        pthread_join(thread, nil)
      }
    }
  }

  private func enqueue(_ job: @escaping @Sendable () -> Void) {
    let isAccepted = state.withLock { state in
      // With the threads gone nobody else would run it.
      if state.isStopping && state.threads.isEmpty { return false }
      state.jobs.append(job)
      self.state.wakeAll()
      return true
    }
    if !isAccepted { job() }
  }

  private func startThread() {
    let context = Unmanaged.passRetained(self)
    #if canImport(Darwin)
      var thread: pthread_t?
      let code = pthread_create(&thread, nil, { Self.main($0) }, context.toOpaque())
    #else
      var thread = pthread_t()
      let code = pthread_create(
        &thread, nil,
        { context in
          if let context { WorkerThreads.main(context) }
          return nil
        }, context.toOpaque())
    #endif
    guard code == 0 else {
      // Without a thread, work runs on its caller's.
      context.release()
      return
    }
    #if canImport(Darwin)
      guard let thread else { return }
    #endif
    let started = thread
    state.withLock { $0.threads.append(started) }
  }

  private static func main(_ context: UnsafeMutableRawPointer) {
    Unmanaged<WorkerThreads>.fromOpaque(context).takeRetainedValue().runJobs()
  }

  private func runJobs() {
    let identity = ThreadIdentity.current()
    state.withLock { $0.identities.append(identity) }
    while let job = nextJob() { job() }
  }

  private func nextJob() -> (@Sendable () -> Void)? {
    state.withLock { state in
      while state.nextJob == state.jobs.count {
        if state.isStopping { return nil }
        self.state.wait()
      }
      let job = state.jobs[state.nextJob]
      state.nextJob += 1
      if state.nextJob == state.jobs.count {
        state.jobs.removeAll(keepingCapacity: true)
        state.nextJob = 0
      }
      return job
    }
  }
}
