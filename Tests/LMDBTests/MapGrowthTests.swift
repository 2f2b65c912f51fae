import LodestoreSystem
@testable import LMDB
import Testing

@Suite struct MapGrowthTests {
  private static let mebibyte = 1 << 20

  @Test func `a write larger than the map runs again on a clean transaction`() throws {
    try withEnvironment({ $0.mapSizeInBytes = Self.mebibyte }) { environment, tree in
      let value = [UInt8](repeating: 7, count: 3_000)
      var runs = 0
      try environment.write { transaction in
        runs += 1
        #expect(try transaction.count(of: tree) == 0)
        for row in 0..<2_000 { try transaction.put(key(row), value, in: tree) }
      }
      #expect(runs > 1)
      #expect(try environment.read { try $0.count(of: tree) } == 2_000)
    }
  }

  @Test func `a map at its limit fails the write with the limit, and the last commit stays`() throws
  {
    try withEnvironment({
      $0.mapSizeInBytes = Self.mebibyte
      $0.mapGrowthLimitInBytes = 2 * Self.mebibyte
    }) { environment, tree in
      try put([[1]], into: tree, of: environment)
      let failure = kind {
        try environment.write { transaction in
          for row in 0..<4_000 {
            try transaction.put(key(row), [UInt8](repeating: 7, count: 1_000), in: tree)
          }
        }
      }
      guard case .cannotGrow? = failure else {
        Issue.record("found \(String(describing: failure))")
        return
      }
      #expect(try environment.read { try $0.count(of: tree) } == 1)
      try put([[2]], into: tree, of: environment)
    }
  }

  /// A move of the map can fail although the trial succeeded, if the system takes the address space
  /// in between.
  @Test func `a reader does not access a map that could not be moved`() throws {
    let directory = try TemporaryDirectory()
    let environment = try openEnvironment(directory.file("store"))
    environment.readers.withLock { $0.isClosed = true }
    #expect(kind { try environment.adoptMapSize() } == .closed)
    environment.readers.withLock { $0.isClosed = false }
    EnvironmentRegistry.close(environment)
  }

  /// A map that is read at the wrong moment ends the process.
  @Test func `other threads may read the number of the newest commit while the map moves`() async {
    await #expect(processExitsWith: .success) {
      for _ in 0..<8 {
        let directory = try TemporaryDirectory()
        let environment = try openEnvironment(directory.file("store")) {
          $0.mapSizeInBytes = 1 << 20
        }
        let (asked, isOver) = (SharedNumber(), SharedNumber())
        let threads = WorkerThreads(threadCount: 2)
        for _ in 0..<2 {
          threads.submit {
            while isOver.value == 0 { if environment.newestCommit != nil { asked.add() } }
          }
        }
        while asked.value == 0 { usleep(100) }
        let tree = try openedTree(of: environment)
        let value = [UInt8](repeating: 7, count: 4_000)
        for round in 0..<24 {
          try environment.write { transaction in
            for row in 0..<250 { try transaction.put(key(round << 20 | row), value, in: tree) }
          }
        }
        EnvironmentRegistry.close(environment)
        if environment.newestCommit != nil { fail("a commit of a closed environment") }
        isOver.add()
        threads.stop()
      }
    }
  }

  @Test func `a write inside a read that must grow ends in time`() throws {
    try withEnvironment({
      $0.mapSizeInBytes = Self.mebibyte
      $0.growthWaitInSeconds = 0.2
    }) { environment, tree in
      let start = ContinuousClock.now
      let failure = try environment.read { _ in
        kind {
          try environment.write { transaction in
            for row in 0..<4_000 {
              try transaction.put(key(row), [UInt8](repeating: 7, count: 1_000), in: tree)
            }
          }
        }
      }
      guard case .cannotGrow? = failure else {
        Issue.record("found \(String(describing: failure))")
        return
      }
      // A hang would never end, but a busy machine may take seconds.
      #expect(ContinuousClock.now - start < .seconds(60))
    }
  }

  @Test func `growing while threads read within reads shows no error`() async throws {
    let directory = try TemporaryDirectory()
    let environment = try openEnvironment(directory.file("store")) {
      $0.mapSizeInBytes = Self.mebibyte
    }
    defer { EnvironmentRegistry.close(environment) }
    let tree = try openedTree(of: environment)
    let isDone = SharedNumber()
    let reads = SharedNumber()
    try await withThrowingTaskGroup(of: Void.self) { group in
      // The writer starts first and is one job, because the readers keep all processors until it
      // ends.
      group.addTask {
        defer { isDone.add() }
        try await environment.writer.run {
          for batch in 0..<60 {
            try environment.write { transaction in
              let value = [UInt8](repeating: 7, count: 1_000)
              for row in 0..<150 { try transaction.put(key(batch * 150 + row), value, in: tree) }
            }
          }
          isDone.add()
        }
      }
      for _ in 0..<3 {
        group.addTask {
          try await environment.readerThreads.run {
            repeat {
              try environment.read { outer in
                let count = try outer.count(of: tree)
                try environment.read { inner in
                  let newer = try inner.count(of: tree)
                  if newer < count { throw LMDBError(code: EIO, operation: "go back in time") }
                }
              }
              reads.add()
            } while isDone.value == 0
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try environment.read { try $0.count(of: tree) } == 9_000)
    #expect(try environment.info.mapSizeInBytes > 8 * Self.mebibyte)
    #expect(reads.value > 0)
  }

  @Test func `two processes that grow in turns show no error`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let environment = try openEnvironment(path) { $0.mapSizeInBytes = Self.mebibyte }
    defer { EnvironmentRegistry.close(environment) }
    let tree = try openedTree(of: environment)
    async let child = #expect(processExitsWith: .success) { [path = path as String] in
      let environment = try openEnvironment(path) { $0.mapSizeInBytes = 1 << 20 }
      let tree = try openedTree(of: environment)
      for row in 0..<400 {
        try environment.write {
          try $0.put(key(1 << 20 | row), [UInt8](repeating: 7, count: 20_000), in: tree)
        }
        _ = try environment.read { try $0.count(of: tree) }
      }
      EnvironmentRegistry.close(environment)
    }
    // The writes run on the writer's thread. In the test's own task they would block the threads of
    // the pool.
    try await environment.writer.run {
      for row in 0..<400 {
        try environment.write {
          try $0.put(key(row), [UInt8](repeating: 7, count: 20_000), in: tree)
        }
        _ = try environment.read { try $0.count(of: tree) }
      }
    }
    _ = await child
    #expect(try environment.read { try $0.count(of: tree) } == 800)
  }
}
