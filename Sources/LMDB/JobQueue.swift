/// The urgency of a job relative to other waiting jobs.
package enum JobUrgency: Int, CaseIterable, Sendable {
  case high, normal, low

  /// The urgency for the priority of the task that waits for the job.
  package init(_ priority: TaskPriority) {
    self = priority > .medium ? .high : priority < .utility ? .low : .normal
  }
}

/// Waiting jobs: the most urgent first, and jobs of equal urgency in the order of their arrival.
///
/// Tasks that read without a pause would block less urgent jobs forever. After ``mostPassing`` more
/// urgent jobs, the first job of a lower urgency is therefore taken.
struct JobQueue {
  /// The number of more urgent jobs that may pass a waiting job.
  static let mostPassing = 16

  private struct Lane {
    var jobs: [WorkerThreads.Job?] = []
    var next = 0
    /// The number of more urgent jobs taken while the first job of this urgency waited.
    var passingCount = 0

    var isEmpty: Bool { next == jobs.count }
  }

  private var lanes = Array(repeating: Lane(), count: JobUrgency.allCases.count)
  private(set) var count = 0

  /// The job that ``removeFirst()`` would return.
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
    // The slot is cleared, so that the job's references are released. The array is compacted at
    // intervals, even under constant load.
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
