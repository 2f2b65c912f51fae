#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A few threads that run blocking closures for asynchronous callers.
///
/// LMDB ties a write to one thread and waits for locks and disks; doing that on the cooperative
/// pool, which may have two threads, would stop the whole program.
///
/// State, all guarded by `mutex`: `jobs` (first in, first out), `idleCount`, `isStopping`, `threads`. Threads are
/// started with the first job, and joined by ``stop()``.
package final class WorkerThreads: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let wake: UnsafeMutablePointer<pthread_cond_t>
  private let threadCount: Int
  private var jobs: [(() -> Void)?] = []
  private var nextJob = 0
  private var idleCount = 0
  private var isStopping = false
  private var threads: [pthread_t] = []

  package init(threadCount: Int) {
    self.threadCount = threadCount
    mutex = .allocate(capacity: 1)
    wake = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    wake.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(wake, nil)
  }

  deinit {
    // The threads hold a reference each, so that there are none left here.
    pthread_cond_destroy(wake)
    pthread_mutex_destroy(mutex)
    wake.deallocate()
    mutex.deallocate()
  }

  /// Runs `body` on one of the threads; throws what it throws, or `closed` after ``stop()``.
  package func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      let isAccepted = enqueue { continuation.resume(with: Result { try body() }) }
      if !isAccepted {
        continuation.resume(throwing: LMDBError(.closed, operation: "run"))
      }
    }
  }

  func enqueue(_ job: @escaping () -> Void) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard !isStopping else { return false }
    if threads.count < threadCount, jobs.count - nextJob >= idleCount { startThread() }
    // Without a thread the job would wait for ever.
    guard !threads.isEmpty else { return false }
    jobs.append(job)
    pthread_cond_signal(wake)
    return true
  }

  private func startThread() {
    let context = Unmanaged.passRetained(self).toOpaque()
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    // Callers' closures expect the stack of a main thread; macOS gives 512 KiB and musl 128.
    pthread_attr_setstacksize(&attributes, 8 << 20)
    #if canImport(Darwin)
      var thread: pthread_t?
      let code = pthread_create(
        &thread, &attributes,
        { context in
          Unmanaged<WorkerThreads>.fromOpaque(context).takeRetainedValue().loop()
          return nil
        }, context)
      if code == 0, let thread { threads.append(thread) }
    #else
      var thread = pthread_t()
      let code = pthread_create(
        &thread, &attributes,
        { context in
          if let context { Unmanaged<WorkerThreads>.fromOpaque(context).takeRetainedValue().loop() }
          return nil
        }, context)
      if code == 0 { threads.append(thread) }
    #endif
    if code != 0 { Unmanaged<WorkerThreads>.fromOpaque(context).release() }
  }

  private func loop() {
    while let job = takeJob() { job() }
  }

  private func takeJob() -> (() -> Void)? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    idleCount += 1
    while nextJob == jobs.count && !isStopping { pthread_cond_wait(wake, mutex) }
    idleCount -= 1
    guard nextJob < jobs.count else { return nil }
    // Taken out, so that nothing it holds outlives it; and the list shrinks under steady load, too.
    let job = jobs[nextJob]
    jobs[nextJob] = nil
    nextJob += 1
    if nextJob == jobs.count || nextJob >= 1_024 {
      jobs.removeFirst(nextJob)
      nextJob = 0
    }
    return job
  }

  /// Runs what is queued, then ends the threads.
  ///
  /// Called from one of them, it does not wait for it.
  package func stop() {
    pthread_mutex_lock(mutex)
    isStopping = true
    let running = threads
    threads = []
    pthread_cond_broadcast(wake)
    pthread_mutex_unlock(mutex)
    for thread in running {
      if pthread_equal(thread, pthread_self()) != 0 {
        pthread_detach(thread)
      } else {
        pthread_join(thread, nil)
      }
    }
  }
}
