/// How soon a job is to run, beside others that wait.
package enum JobUrgency: Int, CaseIterable, Sendable {
  case high, normal, low

  /// That of the task which waits for the job.
  package init(_ priority: TaskPriority) {
    self = priority > .medium ? .high : priority < .utility ? .low : .normal
  }
}

/// Jobs that wait: the most urgent first, and those of one urgency in the order of their coming.
struct JobQueue {
  private struct Lane {
    var jobs: [WorkerThreads.Job?] = []
    var next = 0
  }

  private var lanes = Array(repeating: Lane(), count: JobUrgency.allCases.count)
  private(set) var count = 0

  /// The job that ``removeFirst()`` would give.
  var first: WorkerThreads.Job? {
    guard count > 0, let lane = lanes.first(where: { $0.next < $0.jobs.count }) else { return nil }
    return lane.jobs[lane.next]
  }

  mutating func append(_ job: WorkerThreads.Job, _ urgency: JobUrgency) {
    lanes[urgency.rawValue].jobs.append(job)
    count += 1
  }

  mutating func removeFirst() -> WorkerThreads.Job? {
    guard count > 0,
      let index = lanes.firstIndex(where: { $0.next < $0.jobs.count })
    else { return nil }
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
