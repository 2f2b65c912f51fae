import LodestoreSystem
import Synchronization
import Testing

@testable import LMDB

@Suite struct RegistryTests {
  @Test func `a hard link leads to the same environment`() throws {
    let directory = try TemporaryDirectory()
    let first = try openEnvironment(directory.file("store"))
    #expect(link(directory.file("store"), directory.file("alias")) == 0)
    let second = try openEnvironment(directory.file("alias"))
    #expect(first === second)
    EnvironmentRegistry.close(second)
    try put([[1]], into: try openedTree(of: first), of: first)
    EnvironmentRegistry.close(first)
    #expect(kind { try put([[1]], into: Tree.any(first), of: first) } == .closed)
  }

  @Test func `a relative path leads to the same environment`() throws {
    let directory = try TemporaryDirectory()
    let first = try openEnvironment(directory.file("store"))
    defer { EnvironmentRegistry.close(first) }
    let name = try #require(directory.path.split(separator: "/").last)
    let second = try openEnvironment("/tmp/../tmp/./\(name)/store")
    #expect(first === second)
    EnvironmentRegistry.close(second)
  }

  @Test func `every use after the close is refused`() throws {
    let directory = try TemporaryDirectory()
    let environment = try openEnvironment(directory.file("store"))
    let tree = try openedTree(of: environment)
    EnvironmentRegistry.close(environment)
    EnvironmentRegistry.close(environment)
    #expect(kind { try environment.read { _ = try $0.get([1], in: tree) } } == .closed)
    #expect(kind { try environment.write { try $0.put([1], [1], in: tree) } } == .closed)
    #expect(kind { _ = try environment.beginRead() } == .closed)
    #expect(
      kind { try environment.copy(to: directory.file("copy"), compacting: true) } == .closed)
    #expect(
      kind { _ = try environment.openExistingTree("u", hasIntegerKeys: false) } == .closed)
    #expect(kind { _ = try environment.info } == .closed)
    #expect(environment.checkReaders() == 0)
  }

  @Test func `a file with a read that outlives close opens only when the read has ended`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let environment = try openEnvironment(path) { $0.growthWaitInSeconds = 0.05 }
    let tree = try openedTree(of: environment)
    try put([[7]], into: tree, of: environment)
    let pinned = try environment.beginRead()
    EnvironmentRegistry.close(environment)
    #expect(try environment.transaction(of: pinned).get([7], in: tree)?.first == 7)
    let refusal = kind { _ = try openEnvironment(path) { $0.growthWaitInSeconds = 0.05 } }
    #expect(refusal == .unsuitablePath("still open under a snapshot of a store that was closed"))
    environment.endRead(pinned)
    let again = try openEnvironment(path)
    #expect(again !== environment)
    EnvironmentRegistry.close(again)
  }

  @Test func `closing inside a write takes effect when the write ends`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let environment = try openEnvironment(path)
    let tree = try openedTree(of: environment)
    try environment.write { transaction in
      EnvironmentRegistry.close(environment)
      try transaction.put([1], [1], in: tree)
    }
    let again = try openEnvironment(path)
    #expect(again !== environment)
    let reopened = try openedTree(of: again)
    #expect(try again.read { try $0.count(of: reopened) } == 1)
    EnvironmentRegistry.close(again)
  }

  @Test func `a file that replaced an open one is refused`() throws {
    let directory = try TemporaryDirectory()
    let first = try openEnvironment(directory.file("store"))
    defer { EnvironmentRegistry.close(first) }
    try first.copy(to: directory.file("copy"), compacting: true)
    #expect(rename(directory.file("copy"), directory.file("store")) == 0)
    let refusal = kind { _ = try openEnvironment(directory.file("store")) }
    #expect(refusal == .mismatched(.otherDataFile))
  }

  @Test func `an environment inherited by a fork is refused`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let environment = try openEnvironment(directory.file("store"))
      let tree = try openedTree(of: environment)
      ForkCounter.imitateFork()
      guard kind({ try environment.read { _ = try $0.get([1], in: tree) } }) == .usedAfterFork,
        kind({ try environment.write { _ in } }) == .usedAfterFork
      else { fail("used after fork") }
      EnvironmentRegistry.close(environment)
      for name in directory.names { unlink(directory.file(name)) }
      rmdir(directory.path)
      // The process ends without a leak check, because a forked child never frees its inherited
      // memory.
      _exit(0)
    }
  }

  /// If the child closed the inherited descriptors, its own locks on the same files would be lost.
  @Test func `an environment inherited by a fork keeps its files open`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      var environment: Environment? = try openEnvironment(directory.file("store"))
      weak let kept = environment
      let lock = environment?.files?.lockDescriptor ?? -1
      ForkCounter.imitateFork()
      if let environment { EnvironmentRegistry.close(environment) }
      environment = nil
      guard kept != nil, lock >= 0, fcntl(lock, F_GETFD) >= 0 else { fail("closed in a fork") }
      for name in directory.names { unlink(directory.file(name)) }
      rmdir(directory.path)
      _exit(0)
    }
  }

  /// The watch's thread stayed in the parent, which still uses the pipe that would end the thread.
  @Test func `a watch inherited by a fork is stopped without its thread`() async {
    await #expect(processExitsWith: .success) {
      let isIn = Atomic(false)
      let watch = FileWatch(path: "/dev/null") {
        isIn.store(true, ordering: .sequentiallyConsistent)
        while true { usleep(10_000) }
      }
      guard watch.start() else { fail("no thread") }
      while !isIn.load(ordering: .sequentiallyConsistent) { usleep(1_000) }
      ForkCounter.imitateFork()
      alarm(30)
      watch.stop()
      _exit(0)
    }
  }

  @Test func `opening from many threads at once gives one environment`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let objects = try await withThrowingTaskGroup(of: Environment.self) { group in
      for _ in 0..<8 { group.addTask { try openEnvironment(path) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(objects.map(ObjectIdentifier.init)).count == 1)
    for object in objects { EnvironmentRegistry.close(object) }
    #expect(kind { try objects[0].write { _ in } } == .closed)
  }
}

extension Tree {
  /// A tree for calls that must be refused before they use it.
  static func any(_: Environment) -> Tree { Tree(name: "any", handle: 2, hasIntegerKeys: false) }
}
