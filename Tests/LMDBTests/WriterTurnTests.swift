import LodestoreSystem
@testable import LMDB
import Synchronization
import Testing

@Suite struct WriterTurnTests {
  @Test func `a thread gets its turn among tasks that never stop`() async throws {
    try await withGroup { group in
      let isDone = SharedNumber()
      let written = try await withThrowingTaskGroup(of: Int.self) { tasks in
        for task in 0..<16 {
          tasks.addTask {
            var count = 0
            while isDone.value == 0 {
              try await group.put(task << 32 | count)
              count += 1
            }
            return count
          }
        }
        tasks.addTask {
          try await group.environment.readerThreads.run {
            defer { isDone.add() }
            for row in 0..<50 {
              try put([key(99 << 32 | row)], into: group.tree, of: group.environment)
            }
            return 50
          }
        }
        return try await tasks.reduce(0, +)
      }
      #expect(try group.keys().count == written)
    }
  }

  @Test func `another process gets its turn among tasks that never stop`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let environment = try openEnvironment(path)
    defer { EnvironmentRegistry.close(environment) }
    let group = WaitingGroup(
      environment: environment, tree: try openedTree(of: environment))
    let isDone = SharedNumber()
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for task in 0..<16 {
        tasks.addTask {
          var count = 0
          while isDone.value == 0 {
            try await group.put(task << 32 | count)
            count += 1
          }
        }
      }
      await #expect(processExitsWith: .success) { [path = path as String] in
        let environment = try openEnvironment(path)
        let tree = try openedTree(of: environment)
        for row in 0..<20 { try put([key(99 << 32 | row)], into: tree, of: environment) }
        EnvironmentRegistry.close(environment)
      }
      isDone.add()
      try await tasks.waitForAll()
    }
    #expect(try group.keys().filter { $0 >> 32 == 99 }.count == 20)
  }

  #if os(Linux)
    @Test func `a write can limit its wait for another process, which the error names`()
      async throws
    {
      let directory = try TemporaryDirectory()
      let path = directory.file("store")
      let environment = try openEnvironment(path)
      defer { EnvironmentRegistry.close(environment) }
      let (isHeld, isDone) = (SharedNumber(), SharedNumber())
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask {
          try await environment.readerThreads.run {
            try environment.write { _ in
              isHeld.add()
              while isDone.value == 0 { usleep(1_000) }
            }
          }
        }
        while isHeld.value == 0 { try await Task.sleep(for: .milliseconds(1)) }
        await #expect(processExitsWith: .success) {
          [path = path as String, holder = "process \(getpid()) (" as String] in
          let environment = try openEnvironment(path)
          let warnings = Mutex<[TurnHolder]>([])
          let now = realSeconds()
          var policy = TurnPolicy()
          policy.limitInSeconds = 0.3
          policy.warningInSeconds = 0.1
          policy.onLongWait = { _, turn in warnings.withLock { $0.append(turn) } }
          environment.addTurnPolicy(policy)
          guard case .writerBusy(let text) = kind({ try environment.write { _ in } }),
            let told = warnings.withLock({ $0 }).first, text == told.name, text.hasPrefix(holder),
            let since = told.since, since > now - 60, since < now,
            environment.turnHolder == TurnHolder(name: text, since: since)
          else { fail("the write did not name \(holder): \(warnings.withLock { $0 })") }
          EnvironmentRegistry.close(environment)
        }
        isDone.add()
        try await tasks.waitForAll()
      }
      // Nobody holds the turn now.
      #expect(environment.turnHolder == nil)
      var policy = TurnPolicy()
      policy.limitInSeconds = 0.3
      environment.addTurnPolicy(policy)
      try environment.write { _ in }
    }
  #endif

  @Test func `a write that cannot begin leaves the turn to other writers`() throws {
    try withEnvironment { environment, tree in
      let lockFile = environment.path + "-lock"
      #expect(rename(lockFile, lockFile + ".away") == 0)
      let refusal = kind { try put([[1]], into: tree, of: environment) }
      #expect(refusal == .mismatched(.lockFileReplaced))
      #expect(rename(lockFile + ".away", lockFile) == 0)
      #expect(environment.writerLock.lock(withinSeconds: 2))
      // A lock that was acquired too late is released too, so that the test ends.
      environment.writerLock.unlock()
      try put([[1]], into: tree, of: environment)
    }
  }

  @Test func `writers get the lock in the order of their requests`() async throws {
    let lock = TurnLock()
    let order = Mutex<[Int]>([])
    let threads = WorkerThreads(threadCount: 8)
    lock.lock()
    #expect(!lock.lock(withinSeconds: 0))
    for number in 0..<8 {
      let asked = lock.ticketCount
      let turn = threads.enqueue(
        .alone {
          lock.lock()
          order.withLock { $0.append(number) }
          lock.unlock()
        })
      try #require(turn != .refused)
      while lock.ticketCount == asked { try? await Task.sleep(for: .microseconds(200)) }
    }
    // While others wait, a further attempt ends at its time limit without the lock.
    #expect(!lock.lock(withinSeconds: 0.001))
    lock.unlock()
    threads.stop()
    #expect(order.withLock { $0 } == Array(0..<8))
    #expect(lock.lock(withinSeconds: 0))
    lock.unlock()
  }
}

/// The time in seconds since the beginning of 2001.
private func realSeconds() -> Double {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  return Double(now.tv_sec - 978_307_200) + Double(now.tv_nsec) / 1e9
}
