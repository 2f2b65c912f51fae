import Foundation
import Synchronization
import Testing

@testable import LMDB

@Suite("Long jobs")
struct LongJobsTests {
  /// Runs `body` on a separate thread.
  private func start(_ body: @escaping @Sendable () -> Void) -> DispatchSemaphore {
    let end = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      body()
      end.signal()
    }
    return end
  }

  /// Begins a job, and runs it until it counts as long and has a place, or until it is cancelled.
  private func become(_ turn: LongJobs.Turn) {
    turn.begin()
    usleep(3_000)
    turn.check()
  }

  @Test func `only a few long jobs run at the same time`() {
    let jobs = LongJobs(limit: 2, patienceInSeconds: 60)
    let state = Mutex((running: 0, most: 0))
    let ends = (0..<7).map { _ in
      start {
        let turn = jobs.turn()
        become(turn)
        for _ in 0..<100 {
          state.withLock {
            $0.running += 1
            $0.most = max($0.most, $0.running)
          }
          usleep(500)
          state.withLock { $0.running -= 1 }
          turn.check()
        }
        turn.end()
      }
    }
    for end in ends { end.wait() }
    #expect(state.withLock { $0.most } == 2)
    #expect(jobs.waitingCount == 0)
  }

  @Test func `long jobs take turns, so that no job waits for the end of another`() {
    let jobs = LongJobs(limit: 1, patienceInSeconds: 60)
    let isOver = Latch()
    let first = start {
      let turn = jobs.turn()
      become(turn)
      // Runs until the other job has ended.
      while !isOver.isSet {
        usleep(500)
        turn.check()
      }
      turn.end()
    }
    let second = start {
      let turn = jobs.turn()
      become(turn)
      for _ in 0..<20 {
        usleep(3_000)
        turn.check()
      }
      turn.end()
      isOver.set()
    }
    second.wait()
    first.wait()
  }

  @Test func `a cancelled long job ends its waiting`() {
    let jobs = LongJobs(limit: 1, patienceInSeconds: 60)
    let mayEnd = Latch()
    let hasPlace = DispatchSemaphore(value: 0)
    let first = start {
      let turn = jobs.turn()
      become(turn)
      hasPlace.signal()
      while !mayEnd.isSet { usleep(500) }
      turn.end()
    }
    hasPlace.wait()
    let turn = jobs.turn()
    let second = start {
      become(turn)
      turn.end()
    }
    while jobs.waitingCount == 0 { usleep(500) }
    turn.cancel()
    second.wait()
    #expect(turn.isCancelled && jobs.waitingCount == 0)
    // The first job still has its place.
    mayEnd.set()
    first.wait()
  }

  @Test func `long jobs continue while the running jobs wait for other work`() {
    let jobs = LongJobs(limit: 1, patienceInSeconds: 0.05)
    let isOver = Latch()
    let hasPlace = DispatchSemaphore(value: 0)
    let first = start {
      let turn = jobs.turn()
      become(turn)
      hasPlace.signal()
      // The job runs a closure of the program that waits for another read.
      while !isOver.isSet { usleep(500) }
      turn.end()
    }
    hasPlace.wait()
    for _ in 0..<3 {
      start {
        let turn = jobs.turn()
        become(turn)
        turn.end()
      }.wait()
    }
    isOver.set()
    first.wait()
    #expect(jobs.waitingCount == 0)
  }
}
