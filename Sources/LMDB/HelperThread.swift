import LodestoreSystem

/// A thread that runs jobs for another thread, in the order in which they are given.
///
/// All calls come from that other thread, the owner. State, all guarded by `lock`: `jobs`,
/// `openCount` (jobs queued and running), `isStopping`. A job sees what the owner wrote before
/// ``run(_:)``; the owner sees what the job wrote after ``wait(forAllBut:)``.
package final class HelperThread: @unchecked Sendable {
  private let lock = HeldLock()
  private let change = TimedCondition()
  private var jobs: [() -> Void] = []
  private var openCount = 0
  private var isStopping = false
  private var thread: pthread_t?

  /// `nil` on a single processor, and when no thread can be started.
  package init?() {
    guard SystemProcessors.count > 1 else { return nil }
    thread = startedThread { self.loop() }
    if thread == nil { return nil }
  }

  /// Runs `job` after those that were given before.
  package func run(_ job: @escaping () -> Void) {
    lock.lock()
    jobs.append(job)
    openCount += 1
    change.signal()
    lock.unlock()
  }

  /// Waits until at most `count` jobs are unfinished.
  package func wait(forAllBut count: Int = 0) {
    lock.lock()
    while openCount > count { change.wait(lock) }
    lock.unlock()
  }

  /// Waits for all jobs and ends the thread.
  package func stop() {
    guard let thread else { return }
    self.thread = nil
    lock.lock()
    isStopping = true
    change.signal()
    lock.unlock()
    pthread_join(thread, nil)
  }

  private func loop() {
    // A job is let go of without the lock, whatever hangs on it.
    while let job = takeJob() {
      job()
      endJob()
    }
  }

  private func takeJob() -> (() -> Void)? {
    lock.lock()
    defer { lock.unlock() }
    while jobs.isEmpty && !isStopping { change.wait(lock) }
    return jobs.isEmpty ? nil : jobs.removeFirst()
  }

  private func endJob() {
    lock.lock()
    openCount -= 1
    change.signal()
    lock.unlock()
  }
}
