import LodestoreSystem
import Synchronization

/// Limits the number of long jobs that run at once and makes them take turns, so that short jobs
/// find a processor.
///
/// Each job has its own thread, because a read cannot move to another thread. A job that may run
/// has one of a limited number of places; the other jobs wait on their own threads. A job is long
/// once it has run for two milliseconds. While other jobs wait, a long job keeps its place for
/// twenty milliseconds and then waits at the end of the queue. If no place becomes free for a tenth
/// of a second, because the running jobs wait for something else, one more job continues. A running
/// job yields its processor every half millisecond.
///
/// `@unchecked Sendable`: `lock` guards `runningCount`, `waiting`, `lastGrant` and the `hasPlace`
/// of each turn. Other threads change `hasPlace` only while the turn's own thread waits, so that
/// thread reads it without the lock.
package final class LongJobs: @unchecked Sendable {
  private static let shortInSeconds = 0.002
  private static let sliceInSeconds = 0.02
  /// The interval at which a job yields its processor.
  private static let yieldInSeconds = 0.0005

  private let lock = ManualLock()
  private let limit: Int
  private let patience: Double
  private var runningCount = 0
  private var waiting: [Turn] = []
  private var lastGrant = 0.0
  private let parked = Atomic(0)

  /// - Parameters:
  ///   - limit: The number of long jobs that run at once.
  ///   - patienceInSeconds: The time after which one more job continues, although `limit` jobs run.
  init(limit: Int, patienceInSeconds: Double = 0.1) {
    self.limit = limit
    patience = patienceInSeconds
  }

  /// The number of waiting jobs, which use no processor.
  var waitingCount: Int { parked.load(ordering: .relaxed) }

  /// Makes the turn of a new job.
  package func turn() -> Turn { Turn(self) }

  /// The turn of one job, used by its thread.
  ///
  /// Any thread may call ``cancel()``.
  ///
  /// `@unchecked Sendable`: only the job's own thread uses `since` and `lastYield`.
  package final class Turn: @unchecked Sendable {
    private let jobs: LongJobs
    private let cancelled = Atomic(false)
    /// The time when the job began, or when it last got a place among the running jobs.
    private var since = 0.0
    private var lastYield = 0.0
    fileprivate var hasPlace = false
    fileprivate let wake = TimedCondition()

    fileprivate init(_ jobs: LongJobs) { self.jobs = jobs }

    package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// Starts the measurement of the job's time.
    ///
    /// Call it when the job begins.
    package func begin() {
      since = monotonicSeconds()
      lastYield = since
    }

    /// Waits if other jobs should continue.
    ///
    /// Call it at intervals within the job.
    package func check() {
      let now = monotonicSeconds()
      if now - since > (hasPlace ? LongJobs.sliceInSeconds : LongJobs.shortInSeconds) {
        takeTurns()
      } else if now - lastYield > LongJobs.yieldInSeconds {
        // Without the yield, the system could make the thread of a short job wait for some
        // milliseconds.
        sched_yield()
        lastYield = monotonicSeconds()
      }
    }

    @inline(never)
    private func takeTurns() {
      if !isCancelled { jobs.takeTurns(self) }
      since = monotonicSeconds()
    }

    /// Gives the job's place to the next waiting job.
    ///
    /// Call it when the job has ended.
    package func end() {
      if hasPlace { jobs.leave(self) }
    }

    /// Ends the job's waiting.
    ///
    /// The job should end at its next ``isCancelled``.
    package func cancel() {
      cancelled.store(true, ordering: .relaxed)
      jobs.wake(self)
    }
  }

  // MARK: The places of running jobs

  private func takeTurns(_ turn: Turn) {
    lock.lock()
    defer { lock.unlock() }
    if turn.hasPlace {
      guard !waiting.isEmpty else { return }
      giveUpPlace(turn)
    } else if waiting.isEmpty, runningCount < limit {
      take(turn)
      return
    }
    wait(turn)
  }

  /// Waits until the job gets a place among the running jobs or is cancelled.
  ///
  /// Requires the lock, like all methods below.
  private func wait(_ turn: Turn) {
    waiting.append(turn)
    parked.add(1, ordering: .relaxed)
    let start = monotonicSeconds()
    while !turn.hasPlace, !turn.isCancelled {
      let left = max(start, lastGrant) + patience - monotonicSeconds()
      if left > 0 {
        turn.wake.wait(lock, seconds: left)
      } else {
        leaveQueue(turn)
        take(turn)
      }
    }
    if !turn.hasPlace { leaveQueue(turn) }
  }

  private func take(_ turn: Turn) {
    turn.hasPlace = true
    runningCount += 1
    lastGrant = monotonicSeconds()
  }

  private func leaveQueue(_ turn: Turn) {
    guard let index = waiting.firstIndex(where: { $0 === turn }) else { return }
    waiting.remove(at: index)
    parked.subtract(1, ordering: .relaxed)
  }

  private func giveUpPlace(_ turn: Turn) {
    turn.hasPlace = false
    runningCount -= 1
    while runningCount < limit, let next = waiting.first {
      leaveQueue(next)
      take(next)
      next.wake.signal()
    }
  }

  private func leave(_ turn: Turn) {
    lock.lock()
    giveUpPlace(turn)
    lock.unlock()
  }

  private func wake(_ turn: Turn) {
    lock.lock()
    turn.wake.signal()
    lock.unlock()
  }
}
