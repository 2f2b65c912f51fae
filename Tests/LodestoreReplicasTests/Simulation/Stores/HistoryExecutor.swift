#if Datasets
  import Synchronization

  /// Keeps the jobs of a life's tasks until the history runs them.
  final class HistoryExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobs.withLock { $0.append(job) }
    }

    /// The number of jobs that can run.
    var count: Int { jobs.withLock { $0.count } }

    func runJob(at index: Int) {
      let job = jobs.withLock { $0.remove(at: index) }
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
#endif
