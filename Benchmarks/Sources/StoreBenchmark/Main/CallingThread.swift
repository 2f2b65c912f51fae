import Synchronization

/// Runs a task on the thread that waits for its end, without another thread.
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

  // Jobs are enqueued only by this thread, so the list is empty only when the task has ended.
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
