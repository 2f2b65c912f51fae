import LodestoreSystem
import Synchronization

/// A job that can run shared jobs queued after it together with itself.
protocol SharedJob: AnyObject, Sendable {
  /// Runs the job, and the jobs that it takes through ``WorkerThreads/takeShared()``.
  func lead()
}

/// A few threads that run blocking closures for asynchronous callers.
///
/// LMDB ties a write to one thread and waits for locks and disks. On the cooperative pool, which
/// may have only two threads, that would stop the whole program.
///
/// A thread without a job polls briefly before it sleeps. A caller whose job starts at once, after
/// a short job, polls for the job's end before it suspends. Otherwise a task with many calls would
/// wait twice in each call for the system to wake a thread.
///
/// Jobs that take long or wait for other jobs would occupy all threads. A thread is therefore added
/// when jobs wait and none is taken for a millisecond. The thread stays for half a second after the
/// last waiting job, because a woken thread gets a busy processor sooner than a new one. Only a few
/// long fetches run at once (``LongJobs``).
///
/// `lock` guards all state: `jobs`, `takenCount`, `sleepingCount`, `isWatching`, `isStopping`,
/// `threads`, `regularCount`, `extraCount`, `hasRelief`, `wasQuick`. `waitingCount` is the number
/// of jobs, for the thread that polls without the lock. The first job starts the threads, and
/// ``stop()`` joins them.
package final class WorkerThreads: @unchecked Sendable {
  enum Job {
    case alone(() -> Void)
    case shared(any SharedJob)
  }

  /// The time when an enqueued job will run.
  enum Turn {
    /// The job never runs, because there are no threads: see ``WorkerThreads/refusal``.
    case refused
    case later
    /// At once, on a polling thread, and the job before it was short.
    case now
  }

  /// The time that a thread polls for a job, and that a caller polls for the end of its job.
  private static let watchInSeconds = 50e-6
  /// The longest time of a short job.
  private static let quickInSeconds = 20e-6
  /// The time that an additional thread waits for a job before it ends.
  private static let restInSeconds = 0.5

  private let lock = ManualLock()
  private let wake = TimedCondition()
  private let threadCount: Int
  /// The maximum number of additional threads.
  ///
  /// An additional thread is started if jobs wait and no thread takes a job.
  private let extraLimit: Int
  /// Makes long jobs take turns; counts the jobs that wait for a turn.
  private let longJobs: LongJobs?
  /// The operation of the jobs, for the error of a refused job.
  private let operation: String
  /// The file of the jobs, for the error of a refused job.
  private let path: String?
  private var jobs = JobQueue()
  let waitingCount = Atomic(0)
  private var sleepingCount = 0
  private var isWatching = false
  private var isStopping = false
  /// Whether the job that ended last was short.
  private var wasQuick = false
  private var threads: [pthread_t] = []
  /// The number of jobs taken.
  private var takenCount: UInt64 = 0
  private var regularCount = 0
  private var extraCount = 0
  /// Whether a thread is checking that jobs are taken.
  private var hasRelief = false
  private let relief = TimedCondition()

  package init(
    threadCount: Int, extraLimit: Int = 0, longJobs: LongJobs? = nil,
    operation: String = "run", path: String? = nil
  ) {
    self.longJobs = longJobs
    self.threadCount = threadCount
    self.extraLimit = extraLimit
    self.operation = operation
    self.path = path
  }

  /// The number of threads.
  var count: Int {
    lock.lock()
    defer { lock.unlock() }
    return threads.count
  }

  /// Runs `body` on one of the threads and rethrows its error; throws `closed` after ``stop()``.
  ///
  /// - Parameter urgency: Waiting jobs with a higher urgency run first.
  package func run<R: Sendable>(
    urgency: JobUrgency = .normal, _ body: @escaping @Sendable () throws -> R
  ) async throws -> R {
    try await withUnsafeThrowingContinuation { continuation in
      if let thread = OwnedThread.current {
        let result = Result { () throws -> R in
          if isStopped { throw refusal }
          return try body()
        }
        return thread.resume(continuation, with: result)
      }
      let isOver = Latch()
      let turn = enqueue(
        .alone {
          continuation.resume(with: Result { try body() })
          isOver.set()
        }, urgency)
      switch turn {
      case .refused: continuation.resume(throwing: refusal)
      case .now: Self.watch { isOver.isSet }
      case .later: break
      }
    }
  }

  /// Runs `body` on one of the threads without waiting for it; returns false after ``stop()``.
  @discardableResult
  package func submit(
    urgency: JobUrgency = .normal, _ body: @escaping @Sendable () -> Void
  ) -> Bool {
    if case .refused = enqueue(.alone(body), urgency) { false } else { true }
  }

  /// Queues `job`.
  ///
  /// A job is refused after ``stop()``, and if no thread can be started.
  func enqueue(_ job: Job, _ urgency: JobUrgency = .normal) -> Turn {
    if case .shared(let job) = job, OwnedThread.current != nil {
      if isStopped { return .refused }
      job.lead()
      return .later
    }
    lock.lock()
    let idleCount = sleepingCount + (isWatching ? 1 : 0)
    if !isStopping, regularCount < threadCount, jobs.count >= idleCount {
      startThread()
    }
    // Without a thread the job would wait forever.
    guard !isStopping, !threads.isEmpty else {
      lock.unlock()
      return .refused
    }
    jobs.append(job, urgency)
    let count = jobs.count
    waitingCount.store(count, ordering: .relaxed)
    if count > idleCount { startRelief() }
    let wakes = sleepingCount > 0 && count > (isWatching ? 1 : 0)
    let isSeen = isWatching && count == 1
    let turn: Turn = isSeen && wasQuick ? .now : .later
    lock.unlock()
    // Signal without the lock, because the woken thread would wait for the lock at once.
    if wakes { wake.signal() }
    return turn
  }

  private var isStopped: Bool {
    lock.lock()
    defer { lock.unlock() }
    return isStopping
  }

  /// The reason why a job was refused: ``stop()``, or the system starts no thread.
  var refusal: LMDBError {
    lock.lock()
    defer { lock.unlock() }
    return isStopping
      ? LMDBError(.closed, operation: operation, path: path)
      : LMDBError(code: EAGAIN, operation: operation, path: path)
  }

  /// Polls `isOver` briefly.
  static func watch(_ isOver: () -> Bool) {
    let end = monotonicSeconds() + watchInSeconds
    repeat {
      sched_yield()
    } while !isOver() && monotonicSeconds() < end
  }

  private func startThread() {
    guard let thread = startedThread({ self.loop() }) else { return }
    threads.append(thread)
    regularCount += 1
  }

  private func loop() {
    var isQuick = false
    while let job = takeJob(afterQuick: isQuick) {
      let start = monotonicSeconds()
      Self.run(job)
      isQuick = monotonicSeconds() - start < Self.quickInSeconds
    }
  }

  private static func run(_ job: Job) {
    switch job {
    case .alone(let body): body()
    case .shared(let job): job.lead()
    }
  }

  // MARK: More threads

  /// Starts the thread that adds further threads when needed.
  ///
  /// Requires the lock.
  private func startRelief() {
    guard !isStopping, !hasRelief, extraCount < extraLimit, regularCount == threadCount,
      let thread = startedThread({ self.relieve() })
    else { return }
    threads.append(thread)
    hasRelief = true
  }

  /// Becomes an additional thread if no job is taken for ``patience`` seconds; ends if no job
  /// waits.
  private func relieve() {
    lock.lock()
    while !isStopping, jobs.count > 0 {
      let taken = takenCount
      relief.wait(lock, seconds: patience)
      guard taken == takenCount, !isStopping, jobs.count > 0 else { continue }
      extraCount += 1
      hasRelief = false
      lock.unlock()
      // The end of a job may close a store, which stops these threads, so the lock must not be
      // held.
      while let job = takeExtraJob() { Self.run(job) }
      return
    }
    hasRelief = false
    retire()
  }

  /// The next job of an additional thread; `nil` if the thread should end.
  private func takeExtraJob() -> Job? {
    lock.lock()
    guard let job = waitForJob() else {
      extraCount -= 1
      retire()
      return nil
    }
    if jobs.count > 0 { startRelief() }
    lock.unlock()
    return job
  }

  /// The time that jobs wait before a thread is added.
  ///
  /// The time is longer while many threads use a processor.
  private var patience: Double {
    let count = extraCount - (longJobs?.waitingCount ?? 0)
    return count < 32 ? 0.001 : min(0.002 * Double(count - 30), 0.1)
  }

  /// The next job, if a job arrives before the thread's rest ends.
  ///
  /// Requires the lock.
  private func waitForJob() -> Job? {
    if jobs.count == 0, !isStopping {
      sleepingCount += 1
      let end = monotonicSeconds() + Self.restInSeconds
      var left = Self.restInSeconds
      while jobs.count == 0, !isStopping, left > 0 {
        wake.wait(lock, seconds: left)
        left = end - monotonicSeconds()
      }
      sleepingCount -= 1
    }
    return removeFirst()
  }

  /// Ends the calling thread.
  ///
  /// Requires the lock, and releases it.
  private func retire() {
    let own = pthread_self()
    // If the thread is not in the list, `stop` has taken it, and joins or detaches it.
    if let index = threads.firstIndex(where: { pthread_equal($0, own) != 0 }) {
      threads.remove(at: index)
      pthread_detach(own)
    }
    lock.unlock()
  }

  // MARK: Jobs

  /// The next job, if it is a shared job.
  ///
  /// Call it on one of the threads.
  func takeShared() -> (any SharedJob)? {
    guard waitingCount.load(ordering: .relaxed) > 0 else { return nil }
    lock.lock()
    defer { lock.unlock() }
    guard case .shared(let job)? = jobs.first else { return nil }
    _ = removeFirst()
    return job
  }

  /// Waits for a job; returns `nil` when the threads are to end.
  private func takeJob(afterQuick isQuick: Bool) -> Job? {
    lock.lock()
    defer { lock.unlock() }
    wasQuick = isQuick
    if jobs.count == 0, !isStopping, !isWatching { watch() }
    sleepingCount += 1
    while jobs.count == 0 && !isStopping { wake.wait(lock) }
    sleepingCount -= 1
    return removeFirst()
  }

  /// Polls for a job.
  ///
  /// The caller must hold the lock. The function releases the lock while it waits.
  private func watch() {
    isWatching = true
    lock.unlock()
    Self.watch { waitingCount.load(ordering: .relaxed) > 0 }
    lock.lock()
    isWatching = false
  }

  private func removeFirst() -> Job? {
    guard let job = jobs.removeFirst() else { return nil }
    takenCount &+= 1
    waitingCount.store(jobs.count, ordering: .relaxed)
    return job
  }

  /// Runs the queued jobs, then ends the threads.
  ///
  /// If one of the threads calls it, it does not wait for that thread. With `waits` false it waits
  /// for none.
  package func stop(waits: Bool = true) {
    lock.lock()
    isStopping = true
    let running = threads
    threads = []
    wake.broadcast()
    relief.broadcast()
    lock.unlock()
    for thread in running {
      if !waits || pthread_equal(thread, pthread_self()) != 0 {
        pthread_detach(thread)
      } else {
        pthread_join(thread, nil)
      }
    }
  }
}

/// A flag that one thread sets once and another polls.
package final class Latch: Sendable {
  private let value = Atomic(false)

  package init() {}

  package var isSet: Bool { value.load(ordering: .acquiring) }

  package func set() { value.store(true, ordering: .releasing) }
}
