import LodestoreSystem
@testable import LMDB
import Testing

/// Closes environments within a write while other writes wait; each test runs in a process, which
/// ends if the close hangs.
@Suite struct ClosingTests {
  @Test func `a write may close while an asynchronous one waits for its turn`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    await #expect(processExitsWith: .success) { [path = path as String] in
      alarm(20)
      let environment = try openEnvironment(path)
      let tree = try openedTree(of: environment)
      let asked = environment.writerLock.ticketCount
      let waiting = try environment.write { transaction in
        try transaction.put([1], [1], in: tree)
        let waiting = Task {
          try await environment.writeTogether { try $0.put([2], [2], in: tree) }
        }
        while environment.writerLock.ticketCount < asked + 2 { usleep(200) }
        EnvironmentRegistry.close(environment)
        return waiting
      }
      guard case .failure(let error as LMDBError) = await waiting.result, error.kind == .closed
      else { fail("a write after closing was not refused") }
    }
    try expectRows([[1]], in: path)
  }

  @Test func `a queued write may close while a read waits in a write`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    await #expect(processExitsWith: .success) { [path = path as String] in
      alarm(20)
      let environment = try openEnvironment(path)
      let tree = try openedTree(of: environment)
      let mayWrite = SharedNumber()
      let reading = Task {
        try await environment.readerThreads.run {
          try environment.read { _ in
            while mayWrite.value == 0 { usleep(200) }
            try put([[2]], into: tree, of: environment)
          }
        }
      }
      try await environment.writeTogether { transaction in
        let asked = environment.writerLock.ticketCount
        mayWrite.add()
        while environment.writerLock.ticketCount == asked { usleep(200) }
        EnvironmentRegistry.close(environment)
        try transaction.put([1], [1], in: tree)
      }
      guard case .failure(let error as LMDBError) = await reading.result, error.kind == .closed
      else { fail("a write after closing was not refused") }
    }
    try expectRows([[1]], in: path)
  }

  private func expectRows(_ keys: [[UInt8]], in path: String) throws {
    let environment = try openEnvironment(path)
    defer { EnvironmentRegistry.close(environment) }
    let tree = try openedTree(of: environment)
    let found = try environment.read { transaction in
      var found: [[UInt8]] = []
      try Cursor(tree, in: transaction).walk(KeyRange()) { key, _ in
        found.append(Array(key))
        return true
      }
      return found
    }
    #expect(found == keys)
  }
}
