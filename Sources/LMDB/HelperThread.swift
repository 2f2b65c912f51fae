#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A thread that runs jobs for another thread, in the order in which they are given.
///
/// All calls come from that other thread, the owner. State, all guarded by `mutex`: `jobs`, `openCount`
/// (jobs queued and running), `isStopping`. A job sees what the owner wrote before ``run(_:)``; the owner
/// sees what the job wrote after ``wait(forAllBut:)``.
package final class HelperThread: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let change: UnsafeMutablePointer<pthread_cond_t>
  private var jobs: [() -> Void] = []
  private var openCount = 0
  private var isStopping = false
  private var thread: pthread_t?

  /// `nil` on a single processor, and when no thread can be started.
  package init?() {
    mutex = .allocate(capacity: 1)
    change = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    change.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(change, nil)
    guard sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1 else { return nil }
    thread = startedThread { self.loop() }
    if thread == nil { return nil }
  }

  deinit {
    // The thread holds a reference, so it has ended by now.
    pthread_cond_destroy(change)
    pthread_mutex_destroy(mutex)
    change.deallocate()
    mutex.deallocate()
  }

  /// Runs `job` after those that were given before.
  package func run(_ job: @escaping () -> Void) {
    pthread_mutex_lock(mutex)
    jobs.append(job)
    openCount += 1
    pthread_cond_signal(change)
    pthread_mutex_unlock(mutex)
  }

  /// Waits until at most `count` jobs are unfinished.
  package func wait(forAllBut count: Int = 0) {
    pthread_mutex_lock(mutex)
    while openCount > count { pthread_cond_wait(change, mutex) }
    pthread_mutex_unlock(mutex)
  }

  /// Waits for all jobs and ends the thread.
  package func stop() {
    guard let thread else { return }
    self.thread = nil
    pthread_mutex_lock(mutex)
    isStopping = true
    pthread_cond_signal(change)
    pthread_mutex_unlock(mutex)
    pthread_join(thread, nil)
  }

  private func loop() {
    pthread_mutex_lock(mutex)
    while true {
      while jobs.isEmpty && !isStopping { pthread_cond_wait(change, mutex) }
      if jobs.isEmpty { break }
      let job = jobs.removeFirst()
      pthread_mutex_unlock(mutex)
      job()
      pthread_mutex_lock(mutex)
      openCount -= 1
      pthread_cond_signal(change)
    }
    pthread_mutex_unlock(mutex)
  }
}
