/// How soon a job is to run, beside others that wait.
package enum JobUrgency: Int, CaseIterable, Sendable {
  case high, normal, low

  /// That of the task which waits for the job.
  package init(_ priority: TaskPriority) {
    self = priority > .medium ? .high : priority < .utility ? .low : .normal
  }
}

/// Jobs that wait: the most urgent first, and those of one urgency in the order of their coming.
///
/// Tasks that read without end would keep less urgent jobs waiting for ever. So after
/// ``mostPassing`` more urgent jobs the first job of a lower urgency is taken.
struct JobQueue {
  /// How many more urgent jobs may go before one that waits.
  static let mostPassing = 16

  private struct Lane {
    var jobs: [WorkerThreads.Job?] = []
    var next = 0
    /// How many more urgent jobs were taken while the first job of the lane waited.
    var passingCount = 0

    var isEmpty: Bool { next == jobs.count }
  }

  private var lanes = Array(repeating: Lane(), count: JobUrgency.allCases.count)
  private(set) var count = 0

  /// The job that ``removeFirst()`` would give.
  var first: WorkerThreads.Job? {
    guard let index = nextLane else { return nil }
    return lanes[index].jobs[lanes[index].next]
  }

  private var nextLane: Int? {
    guard count > 0 else { return nil }
    return lanes.lastIndex { !$0.isEmpty && $0.passingCount >= Self.mostPassing }
      ?? lanes.firstIndex { !$0.isEmpty }
  }

  mutating func append(_ job: WorkerThreads.Job, _ urgency: JobUrgency) {
    lanes[urgency.rawValue].jobs.append(job)
    count += 1
  }

  mutating func removeFirst() -> WorkerThreads.Job? {
    guard let index = nextLane else { return nil }
    lanes[index].passingCount = 0
    for lower in lanes.indices where lower > index && !lanes[lower].isEmpty {
      lanes[lower].passingCount += 1
    }
    // The slot is emptied, so that nothing the job holds outlives it; the array shrinks from time
    // to time under steady load, too.
    let next = lanes[index].next
    let job = lanes[index].jobs[next]
    lanes[index].jobs[next] = nil
    lanes[index].next += 1
    if lanes[index].next == lanes[index].jobs.count || lanes[index].next >= 1_024 {
      lanes[index].jobs.removeFirst(lanes[index].next)
      lanes[index].next = 0
    }
    count -= 1
    return job
  }
}
