import Synchronization

/// The operations that run on several threads.
protocol ConcurrentStore: SideStore {
  /// Inserts one pod of ``Workload/singles`` durably; two threads must not call it at once.
  func insertSingle(_ place: Int) throws
  /// Inserts one pod of ``Workload/singles`` durably; any number of tasks may call it at once.
  func insertSingleFromTask(_ place: Int, turn: borrowing Mutex<Void>) async throws
  /// Upserts a batch in one durable transaction.
  func writeBatch(_ batch: Range<Int>) throws
  /// Gets pods by their unique keys, each in its own transaction, and decodes them on this thread.
  func gets(_ places: [UInt32]) throws
}

extension ConcurrentStore {
  // An engine in C has one writer at a time, and each insert is a commit.
  func insertSingleFromTask(_ place: Int, turn: borrowing Mutex<Void>) async throws {
    try insertInTurn(place, turn)
  }

  private func insertInTurn(_ place: Int, _ turn: borrowing Mutex<Void>) throws {
    try turn.withLock { _ in try insertSingle(place) }
  }

  func concurrentWork(_ operation: Operation, _ workload: Workload) -> Work? {
    let amounts = Amounts(records: workload.pods.count)
    switch operation {
    case .singleInserts:
      return .timed {
        try self.insertSingles(amounts.singleInserts)
        return { try self.everything() }
      }
    case .taskInserts:
      return .timed {
        try await self.insertSingles(amounts.taskInserts, tasks: Amounts.tasks)
        // The tasks insert in any order, so the answer is only the number of records.
        return { Answer(count: try self.everything().count) }
      }
    case .gets:
      return .timed {
        try self.gets(workload.singlePlaces)
        return { Answer(count: amounts.singleGets) }
      }
    case .getsBesideWriter:
      return .timed {
        try await self.getsBesideWriter(workload)
        return { Answer(count: amounts.singleGets) }
      }
    default: return nil
    }
  }

  private func insertSingles(_ count: Int) throws {
    for place in 0..<count { try insertSingle(place) }
  }

  private func insertSingles(_ count: Int, tasks: Int) async throws {
    let turn = Turn()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask {
          for place in stride(from: task, to: count, by: tasks) {
            try await self.insertSingleFromTask(place, turn: turn.mutex)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Runs gets while another thread writes batches of 1,000 until the last get has ended.
  private func getsBesideWriter(_ workload: Workload) async throws {
    let isDone = Flag()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        var from = 0
        while !isDone.isSet {
          let batch = from..<min(from + 1_000, workload.upserts.count)
          try self.writeBatch(batch)
          from = batch.upperBound == workload.upserts.count ? 0 : batch.upperBound
        }
      }
      group.addTask {
        defer { isDone.set() }
        try self.gets(workload.singlePlaces)
      }
      try await group.waitForAll()
    }
  }
}

/// A lock that a thread holds while it writes.
private final class Turn: Sendable {
  let mutex = Mutex(())
}

private final class Flag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .acquiring) }

  func set() { value.store(true, ordering: .releasing) }
}
