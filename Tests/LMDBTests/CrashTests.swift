import LMDB
import LodestoreSystem
import Testing

@Suite struct CrashTests {
  @Test func `a killed writer loses no change that was reported as safe`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let acknowledged = directory.file("acknowledged")
    var random = SeededGenerator(salt: 77)
    for round in 1...20 {
      let last = Int.random(in: 0...12, using: &random)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [
          path = path as String, acknowledged = acknowledged as String, round = round as Int,
          last = last as Int
        ] in
        let environment = try openEnvironment(path)
        let tree = try openedTree(of: environment)
        for commit in 0...last {
          try environment.write { transaction in
            for row in 0..<50 {
              try transaction.put(key(round << 32 | commit << 16 | row), [1, 2, 3], in: tree)
            }
            if commit == last { kill(getpid(), SIGKILL) }
          }
          write([UInt8(commit)], to: acknowledged, flags: O_CREAT | O_TRUNC)
        }
      }
      let environment = try openEnvironment(path)
      let tree = try openedTree(of: environment)
      let found = try environment.read { transaction in
        var count = 0
        let range = KeyRange(
          lower: .included(key(round << 32)), upper: .excluded(key((round + 1) << 32)))
        try Cursor(tree, in: transaction).walk(range) { _, value in
          #expect(Array(value) == [1, 2, 3])
          count += 1
          return true
        }
        return count
      }
      #expect(found == last * 50, "round \(round), \(SeededGenerator.replay)")
      EnvironmentRegistry.close(environment)
    }
  }

  @Test func `a writer killed while another process is open leaves the lock free`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let environment = try openEnvironment(path)
    defer { EnvironmentRegistry.close(environment) }
    let tree = try openedTree(of: environment)
    for round in 0..<3 {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let environment = try openEnvironment(path)
        let tree = try openedTree(of: environment)
        try environment.write { transaction in
          try transaction.put([99], [99], in: tree)
          kill(getpid(), SIGKILL)
        }
      }
      try await environment.writer.run { try put([key(round)], into: tree, of: environment) }
      #expect(try environment.read { try $0.get([99], in: tree) } == nil)
    }
    #expect(try environment.read { try $0.count(of: tree) } == 3)
  }
}
