import LodestoreSystem
@testable import LMDB
import Testing

@Suite struct GroupCommitTests {
  struct Stop: Error, Equatable { var number = 0 }

  @Test func `waiting writes share a commit in the order of their requests`() async throws {
    try await withGroup { group in
      let found = try await group.run(5) { member, transaction in
        let before = try transaction.count(of: group.tree)
        try transaction.put(key(member), [1], in: group.tree)
        return [before, Int(transaction.id)]
      }
      let values = try found.map { try $0.get() }
      #expect(values.map(\.first) == [0, 1, 2, 3, 4])
      #expect(Set(values.map(\.last)).count == 1)
      #expect(try group.keys() == [0, 1, 2, 3, 4])
    }
  }

  @Test func `an error of a member undoes only that member, after the earlier commits`()
    async throws
  {
    try await withGroup { group in
      let runs = (0..<5).map { _ in SharedNumber() }
      let found = try await group.run(5) { member, transaction in
        runs[member].add()
        try transaction.put(key(member), [1], in: group.tree)
        if member == 2 { throw Stop(number: Int(transaction.id)) }
        return Int(transaction.id)
      }
      let first = try found[0].get()
      #expect(try found[1].get() == first)
      #expect(throws: Stop(number: first + 1)) { try found[2].get() }
      #expect(try found[3].get() == first + 1 && found[4].get() == first + 1)
      #expect(try group.keys() == [0, 1, 3, 4])
      #expect(runs.map(\.value) == [2, 2, 2, 1, 1])
    }
  }

  @Test func `members that throw at random end as if each were the only one`() async throws {
    var random = SeededGenerator(salt: 31)
    for _ in 0..<10 {
      let throwers = (0..<40).map { _ in Int.random(in: 0..<4, using: &random) == 0 }
      // The closures of some members throw only if they are not the first of their transaction.
      let fickle = (0..<40).map { _ in Int.random(in: 0..<6, using: &random) == 0 }
      try await withGroup { group in
        let runs = (0..<40).map { _ in SharedNumber() }
        let found = try await group.run(40) { member, transaction in
          runs[member].add()
          let before = try transaction.count(of: group.tree)
          try transaction.put(key(member), [1], in: group.tree)
          if throwers[member] || (fickle[member] && runs[member].value == 1) { throw Stop() }
          return before
        }
        var count = 0
        for (member, result) in found.enumerated() {
          let isKept = (try? result.get()) != nil
          if isKept {
            #expect(try result.get() == count, "\(SeededGenerator.replay)")
            count += 1
          } else {
            #expect(throwers[member] || fickle[member], "\(SeededGenerator.replay)")
          }
          #expect(!throwers[member] || !isKept, "\(SeededGenerator.replay)")
        }
        let kept = found.indices.filter { (try? found[$0].get()) != nil }
        #expect(try group.keys() == kept, "\(SeededGenerator.replay)")
      }
    }
  }

  @Test func `a caught failure undoes only its member`() async throws {
    try await withGroup { group in
      let found = try await group.run(3) { member, transaction in
        try transaction.put(key(member), [1], in: group.tree)
        // The delete fails, because the cursor has not moved to a pair.
        if member == 1 { try? WritingCursor(group.tree, in: transaction).delete() }
      }
      #expect(name { try found[1].get() } == "EINVAL")
      #expect(throws: Never.self) { try found[0].get() }
      #expect(throws: Never.self) { try found[2].get() }
      #expect(try group.keys() == [0, 2])
    }
  }

  @Test func `a cursor that a member stores is refused in the next member`() async throws {
    try await withGroup { group in
      let kept = KeptCursor()
      let found = try await group.run(2) { member, transaction in
        try transaction.put(key(member), [1], in: group.tree)
        if member == 0 { kept.cursor = try Cursor(group.tree, in: transaction) }
        return member == 0 ? nil : name { _ = try kept.cursor?.first() }
      }
      #expect(try found[1].get() == "MDB_BAD_TXN")
    }
  }

  @Test func `a map that grows during a group loses no member`() async throws {
    // On a busy machine, some members may come after the group is made. The test then tries again.
    for _ in 0..<20 {
      let isOneGroup = try await withGroup({ $0.mapSizeInBytes = 1 << 20 }) { group in
        let first = SharedNumber()
        let found = try await group.run(8) { member, transaction in
          if member == 0 { first.add() }
          let value = [UInt8](repeating: 7, count: 300_000)
          try transaction.put(key(member), value, in: group.tree)
          return Int(transaction.id)
        }
        #expect(try group.keys() == Array(0..<8))
        guard Set(try found.map { try $0.get() }).count == 1 else { return false }
        #expect(first.value > 1)
        return true
      }
      if isOneGroup { return }
    }
    Issue.record("eight members were never one group")
  }

  @Test func `a member too large for the map fails without the others`() async throws {
    try await withGroup({
      $0.mapSizeInBytes = 1 << 20
      $0.mapGrowthLimitInBytes = 2 << 20
    }) { group in
      let found = try await group.run(4) { member, transaction in
        let value = [UInt8](repeating: 7, count: member == 2 ? 4 << 20 : 100)
        try transaction.put(key(member), value, in: group.tree)
      }
      guard case .cannotGrow? = kind({ try found[2].get() }) else {
        Issue.record("found \(found[2])")
        return
      }
      #expect(try group.keys() == [0, 1, 3])
    }
  }

  @Test func `the next member finds a tree that a member makes`() async throws {
    try await withGroup { group in
      let environment = group.environment
      let found = try await group.run(3) { member, transaction in
        let tree = try #require(
          try environment.tree("new", isCreated: true, hasIntegerKeys: false, in: transaction))
        try transaction.put(key(member), [1], in: tree)
        if member == 1 { throw Stop() }
      }
      #expect(throws: Stop.self) { try found[1].get() }
      let tree = try openedTree(of: environment, "new")
      #expect(try environment.read { try $0.count(of: tree) } == 2)
    }
  }

  @Test func `a write inside a member is refused`() async throws {
    try await withGroup { group in
      let found = try await group.run(2) { member, transaction in
        try transaction.put(key(member), [1], in: group.tree)
        return kind { try group.environment.write { _ in } }
      }
      #expect(try found.map { try $0.get() } == [.nestedWrite, .nestedWrite])
      #expect(try group.keys() == [0, 1])
    }
  }

  @Test func `a cancelled write that waits ends at once and never runs`() async throws {
    try await withGroup { group in
      let ran = SharedNumber()
      let gate = try await group.holdWriter()
      let cancelled = Task {
        try await group.environment.writeTogether { _ in ran.add() }
      }
      await group.untilWaiting(1)
      let other = Task { try await group.put(7) }
      await group.untilWaiting(2)
      cancelled.cancel()
      // The writer's thread is still busy, so the cancelled write has not begun.
      await #expect(throws: CancellationError.self) { try await cancelled.value }
      gate.add()
      try await other.value
      #expect(ran.value == 0)
      #expect(try group.keys() == [7])
    }
  }

  @Test func `a write of a cancelled task does not request the turn`() async throws {
    try await withGroup { (group) throws in
      let isCancelled = SharedNumber()
      let task = Task {
        while isCancelled.value == 0 { try? await Task.sleep(for: .microseconds(200)) }
        try await group.put(1)
      }
      task.cancel()
      isCancelled.add()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(try group.keys() == [])
    }
  }

  @Test func `a write whose turn has come is committed even if its task is cancelled`() async throws
  {
    try await withGroup { group in
      let isRunning = SharedNumber()
      let isCancelled = SharedNumber()
      let task = Task {
        try await group.environment.writeTogether { transaction in
          isRunning.add()
          while isCancelled.value == 0 { usleep(200) }
          try transaction.put(key(1), [1], in: group.tree)
        }
      }
      while isRunning.value == 0 { try? await Task.sleep(for: .microseconds(200)) }
      task.cancel()
      isCancelled.add()
      try await task.value
      #expect(try group.keys() == [1])
    }
  }

  @Test func `closing ends the writes that wait`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let environment = try openEnvironment(path)
    let group = WaitingGroup(
      environment: environment, tree: try openedTree(of: environment))
    let gate = try await group.holdWriter()
    let tasks = try await group.ask(5) { member, transaction in
      try transaction.put(key(member), [1], in: group.tree)
    }
    let closing = Task.detached { EnvironmentRegistry.close(environment) }
    while !environment.closing.load(ordering: .relaxed) {
      try? await Task.sleep(for: .microseconds(200))
    }
    gate.add()
    for task in tasks {
      await #expect { try await task.value } throws: { ($0 as? LMDBError)?.kind == .closed }
    }
    await closing.value
    let again = try openEnvironment(path)
    let tree = try openedTree(of: again)
    #expect(try again.read { try $0.count(of: tree) } == 0)
    EnvironmentRegistry.close(again)
  }

  @Test func `a member that closes the store is committed with the earlier members`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let environment = try openEnvironment(path)
    let group = WaitingGroup(
      environment: environment, tree: try openedTree(of: environment))
    let found = try await group.run(4) { member, transaction in
      try transaction.put(key(member), [1], in: group.tree)
      if member == 1 { EnvironmentRegistry.close(group.environment) }
    }
    #expect(throws: Never.self) { try found[0].get() }
    #expect(throws: Never.self) { try found[1].get() }
    #expect(kind { try found[2].get() } == .closed)
    #expect(kind { try found[3].get() } == .closed)
    let again = try openEnvironment(path)
    let tree = try openedTree(of: again)
    #expect(try again.read { try $0.count(of: tree) } == 2)
    EnvironmentRegistry.close(again)
  }

  @Test func `a commit that fails is reported to each member`() async {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      try await withGroup { group in
        try await group.put(100)
        // Not at a whole page, so that a write is cut short: LMDB then says EIO.
        var limit = rlimit(rlim_cur: 1_000_100, rlim_max: rlim_t.max)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        let found = try await group.run(4) { member, transaction in
          let value = [UInt8](repeating: 7, count: 400_000)
          try transaction.put(key(member), value, in: group.tree)
        }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        guard found.allSatisfy({ result in name { try result.get() } == "EIO" }) else {
          fail("\(found)")
        }
        guard
          kind({ try LMDBTests.put([[2]], into: group.tree, of: group.environment) })
            == .poisoned
        else { fail("written after a failure") }
        guard try group.keys() == [100] else { fail("a part of the group is there") }
      }
    }
  }
}

/// A cursor that a member keeps beyond its turn; used on the writer's thread.
private final class KeptCursor: @unchecked Sendable {
  var cursor: Cursor?
}
