#if Datasets
  import Foundation

  /// Keeps the next steps of a life until the history runs them.
  ///
  /// All calls come from the thread of the history.
  final class HistoryExecutor: TaskExecutor, @unchecked Sendable {
    private enum Step {
      /// A part of a task up to its next suspension.
      case job(UnownedJob)
      /// The return from a store's call to its task.
      case resumption(() -> Void)
    }

    private let thread = Thread.current
    private var steps: [Step] = []

    func enqueue(_ job: consuming ExecutorJob) {
      precondition(Thread.current === thread, "a job comes from another thread")
      steps.append(.job(UnownedJob(job)))
    }

    func enqueue(_ resumption: @escaping () -> Void) { steps.append(.resumption(resumption)) }

    /// The number of steps that can run.
    var count: Int { steps.count }

    func run(at index: Int) {
      switch steps.remove(at: index) {
      case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
      case .resumption(let body): body()
      }
    }
  }
#endif
