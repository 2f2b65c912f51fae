import Foundation
import LMDB
import LodestoreSystem
import Testing

@Suite struct ReaderTests {
  @Test func `a snapshot does not change and may end on another thread`() async throws {
    let directory = try TemporaryDirectory()
    let environment = try openEnvironment(directory.file("store"))
    defer { EnvironmentRegistry.close(environment) }
    let tree = try openedTree(of: environment)
    let pinned = try environment.beginRead()
    try put([[1]], into: tree, of: environment)
    #expect(try environment.transaction(of: pinned).count(of: tree) == 0)
    try await environment.readerThreads.run { environment.endRead(pinned) }
    #expect(try environment.read { try $0.count(of: tree) } == 1)
  }

  @Test func `new readers get the slots of killed readers`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let environment = try openEnvironment(path) { $0.readerSlotCount = 8 }
    defer { EnvironmentRegistry.close(environment) }
    #expect(try environment.info.readerSlotCount == 8)
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let environment = try openEnvironment(path)
      for _ in 0..<8 { _ = try environment.beginRead() }
      guard name({ _ = try environment.beginRead() }) == "MDB_READERS_FULL" else {
        fail("more than eight readers")
      }
      kill(getpid(), SIGKILL)
    }
    var pinned: [Environment.PinnedRead] = []
    for _ in 0..<8 { pinned.append(try environment.beginRead()) }
    #expect(name { _ = try environment.beginRead() } == "MDB_READERS_FULL")
    for read in pinned { environment.endRead(read) }
    try environment.read { _ in }
    #expect(environment.checkReaders() == 0)
  }

  /// The variable `LODESTORE_READ_COMMITS` sets the number of commits.
  @Test func `a read shows the commit of its number`() async throws {
    let wanted = ProcessInfo.processInfo.environment["LODESTORE_READ_COMMITS"]
    let commits = wanted.flatMap { Int($0) } ?? 25_000
    // The file is in memory if possible, so that commits follow each other as fast as possible.
    let isInMemory = access("/dev/shm", W_OK) == 0
    let directory = try TemporaryDirectory(under: isInMemory ? "/dev/shm" : "/tmp")
    let environment = try openEnvironment(directory.file("store")) {
      $0.allowsAnyFileSystem = true
    }
    defer { EnvironmentRegistry.close(environment) }
    let tree = try openedTree(of: environment)
    @Sendable func write() throws {
      try environment.write { try $0.put(key(0), key(Int($0.id)), in: tree) }
    }
    try write()
    let isDone = SharedNumber()
    let wrong = SharedNumber()
    try await withThrowingTaskGroup(of: Void.self) { group in
      // The writer starts first, because the readers keep all processors until it ends.
      group.addTask {
        defer { isDone.add() }
        try await environment.writer.run {
          defer { isDone.add() }
          // Before the fix, one to four of 400,000 commits were shown under another commit's
          // number.
          for _ in 0..<(isInMemory ? commits : 200) { try write() }
        }
      }
      for _ in 0..<3 {
        group.addTask {
          try await environment.readerThreads.run {
            repeat {
              try environment.read { transaction in
                let written = try transaction.get(key(0), in: tree).map(number)
                if written != Int(transaction.id) { wrong.add() }
              }
            } while isDone.value == 0
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(wrong.value == 0)
  }

  @Test func `ended reads release their slots`() throws {
    try withEnvironment({ $0.readerSlotCount = 8 }) { environment, tree in
      for _ in 0..<1_000 { try environment.read { _ = try $0.count(of: tree) } }
      let pinned = try (0..<8).map { _ in try environment.beginRead() }
      for read in pinned { environment.endRead(read) }
    }
  }
}
