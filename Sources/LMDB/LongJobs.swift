import LodestoreSystem
import Synchronization

/// Lets only a few long jobs run at once, in turns, so that a short one finds a processor.
///
/// Each job has a thread, as a read cannot move to another; jobs without a place wait on theirs.
/// A job is long when it has run for two milliseconds. While others wait, it keeps its place for
/// twenty milliseconds, and then waits behind them. When no place has become free for a tenth of a
/// second, because the jobs that have one wait for something else, one more job goes on. A running
/// job lets other threads have its processor every half a millisecond.
///
/// `@unchecked Sendable`: `lock` guards `runningCount`, `waiting`, `lastGrant` and the `hasPlace`
/// of each turn. Other threads change `hasPlace` only while the turn's own thread waits, so that
/// this one reads it without the lock.
package final class LongJobs: @unchecked Sendable {
  private static let shortInSeconds = 0.002
  private static let sliceInSeconds = 0.02
  /// How often a job lets other threads have its processor.
  private static let yieldInSeconds = 0.0005

  private let lock = HeldLock()
  private let limit: Int
  private let patience: Double
  private var runningCount = 0
  private var waiting: [Turn] = []
  private var lastGrant = 0.0
  private let parked = Atomic(0)

  /// - Parameters:
  ///   - limit: how many run at once.
  ///   - patienceInSeconds: when no place has become free for so long, one more goes on.
  init(limit: Int, patienceInSeconds: Double = 0.1) {
    self.limit = limit
    patience = patienceInSeconds
  }

  /// How many wait, and so take no processor.
  var waitingCount: Int { parked.load(ordering: .relaxed) }

  /// For a job that begins.
  package func turn() -> Turn { Turn(self) }

  /// The part of one job, for the thread that runs it; any thread may call ``cancel()``.
  ///
  /// `@unchecked Sendable`: only the job's own thread uses `since` and `lastYield`.
  package final class Turn: @unchecked Sendable {
    private let jobs: LongJobs
    private let cancelled = Atomic(false)
    /// When the job began, or last got a place.
    private var since = 0.0
    private var lastYield = 0.0
    fileprivate var hasPlace = false
    fileprivate let wake = TimedCondition()

    fileprivate init(_ jobs: LongJobs) { self.jobs = jobs }

    package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// Called when the job begins.
    package func begin() {
      since = monotonicSeconds()
      lastYield = since
    }

    /// Called by the job now and then: waits when others are to go on.
    package func check() {
      let now = monotonicSeconds()
      if now - since > (hasPlace ? LongJobs.sliceInSeconds : LongJobs.shortInSeconds) {
        takeTurns()
      } else if now - lastYield > LongJobs.yieldInSeconds {
        // The system would let the thread of a short job wait for some milliseconds.
        sched_yield()
        lastYield = monotonicSeconds()
      }
    }

    @inline(never)
    private func takeTurns() {
      if !isCancelled { jobs.takeTurns(self) }
      since = monotonicSeconds()
    }

    /// Called when the job has ended.
    package func end() {
      if hasPlace { jobs.leave(self) }
    }

    /// Ends its waiting; the job is to end at its next ``isCancelled``.
    package func cancel() {
      cancelled.store(true, ordering: .relaxed)
      jobs.wake(self)
    }
  }

  // MARK: Places

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

  /// With the lock held, as all that follow.
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
