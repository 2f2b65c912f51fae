import Synchronization

/// Runs a task on the thread that waits for it, and makes no other.
final class CallingThread: TaskExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    var isOver = false
  }

  private let state = Mutex(State())

  func enqueue(_ job: consuming ExecutorJob) {
    let unowned = UnownedJob(job)
    state.withLock { $0.jobs.append(unowned) }
  }

  /// Lets ``run()`` return.
  func end() { state.withLock { $0.isOver = true } }

  // Nothing enqueues from elsewhere, so that there is a job or it is over.
  func run() {
    while true {
      let (job, isOver) = state.withLock { state in
        (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.isOver)
      }
      if let job {
        job.runSynchronously(on: asUnownedTaskExecutor())
      } else if isOver {
        return
      }
    }
  }
}
