import LodestoreSystem
import Testing

@testable import LMDB

/// The end of a transaction in a child that has inherited it by a fork.
@Suite struct ForkTests {
  /// Forks this process; Swift hides the call, as a child with one of many threads can do little.
  private static func fork() -> pid_t {
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "fork") else { LMDBTests.fail("no fork") }
    return unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
  }

  private static func waitFor(_ child: pid_t) {
    var status: Int32 = -1
    guard waitpid(child, &status, 0) == child, status == 0 else {
      LMDBTests.fail("the forked child ended with \(status)")
    }
  }

  @Test func `a read that ends in a forked child keeps the pages of the parent`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let environment = try openEnvironment(directory.file("store"))
      let tree = try openedTree(of: environment)
      try put((0..<2_000).map(key), into: tree, of: environment)
      let parent = getpid()
      let found = try environment.read { transaction in
        let child = ForkTests.fork()
        if child == 0 { return -1 }
        ForkTests.waitFor(child)
        // The commits rewrite all records, so that pages without a reader's slot would be reused.
        for round in 1...4 {
          try environment.write { transaction in
            for row in 0..<2_000 {
              try transaction.put(key(row), [UInt8](repeating: UInt8(round), count: 20), in: tree)
            }
          }
        }
        var count = 0
        try Cursor(tree, in: transaction).walk(KeyRange()) { key, value in
          if Array(key) == Array(value) { count += 1 }
          return true
        }
        return count
      }
      // The child has left the closure like the parent, which has ended the read in the child.
      if getpid() != parent { _exit(found == -1 ? 0 : 1) }
      guard found == 2_000 else { fail("\(found) of 2,000 records are as they were") }
      EnvironmentRegistry.close(environment)
    }
  }

  @Test func `a write that ends in a forked child is not committed`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let environment = try openEnvironment(directory.file("store"))
      let tree = try openedTree(of: environment)
      let parent = getpid()
      let refusal = kind {
        try environment.write { transaction in
          try transaction.put([1], [1], in: tree)
          let child = ForkTests.fork()
          if child == 0 { return }
          ForkTests.waitFor(child)
          throw LMDBError(.keySize(0), operation: "go on")
        }
      }
      if getpid() != parent { _exit(refusal == .usedAfterFork ? 0 : 1) }
      guard refusal == .keySize(0) else { fail("the parent got \(String(describing: refusal))") }
      try put([[2]], into: tree, of: environment)
      guard try environment.read({ try $0.get([1], in: tree) }) == nil else {
        fail("the child has committed the write of its parent")
      }
      EnvironmentRegistry.close(environment)
    }
  }

  /// A store in memory has a name for a moment.
  ///
  /// The probe of the engine, which each writing process runs once, opens such a store.
  @Test func `a process that is killed while opening a store in memory leaves no name`()
    async
  {
    await #expect(processExitsWith: .success) {
      let before = Set(namesInMemory())
      for round in 0..<20 {
        let child = ForkTests.fork()
        if child == 0 {
          while true {
            _ = try? EngineProbe.run()
            let environment = try? EnvironmentRegistry.openInMemory(options: EnvironmentOptions()) {
              _ in
            }
            if let environment { EnvironmentRegistry.close(environment) }
          }
        }
        usleep(5_000 + UInt32(round) * 97)
        kill(child, SIGKILL)
        var status: Int32 = 0
        guard waitpid(child, &status, 0) == child else { fail("the child is not there") }
      }
      // Opening a store in memory, as the probe does, removes the files of killed processes.
      _ = try EngineProbe.run()
      // Other processes may have such names for a moment, so the test waits.
      for _ in 0..<6_000 where !before.isSuperset(of: namesInMemory()) { usleep(10_000) }
      let left = Set(namesInMemory()).subtracting(before)
      guard left.isEmpty else { fail("\(left.count) are left: \(left.sorted())") }
    }
  }
}
