import LodestoreSystem

/// A thread that runs jobs for another thread, in the order in which they are submitted.
///
/// Only that other thread, the owner, may call the methods. `lock` guards `jobs`, `openCount` (the
/// queued and running jobs) and `isStopping`. A job sees everything that the owner wrote before
/// ``run(_:)``; the owner sees everything that the job wrote after ``wait(forAllBut:)``.
package final class HelperThread: @unchecked Sendable {
  private let lock = ManualLock()
  private let change = TimedCondition()
  private var jobs: [() -> Void] = []
  private var openCount = 0
  private var isStopping = false
  private var thread: pthread_t?

  /// Fails on a single processor, and if no thread can be started.
  package init?() {
    guard SystemProcessors.count > 1 else { return nil }
    thread = startedThread { self.loop() }
    if thread == nil { return nil }
  }

  /// Runs `job` after all jobs submitted before.
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
    // A job is released without the lock, because its release may run other code.
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
