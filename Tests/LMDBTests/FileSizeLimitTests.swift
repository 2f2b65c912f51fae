import LMDB
import LodestoreSystem
import Testing

/// A process that may not make large files (`ulimit -f`), and does not handle the system's signal.
@Suite struct FileSizeLimitTests {
  private static func limitFiles(to bytes: UInt64) {
    var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
    #if canImport(Glibc)
      let code = setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    #else
      let code = setrlimit(RLIMIT_FSIZE, &limit)
    #endif
    guard code == 0 else { fail("the limit cannot be set") }
  }

  private static func fill(_ environment: Environment, rows: Int) throws {
    let tree = try openedTree(of: environment)
    try environment.write { transaction in
      for row in 0..<rows {
        try transaction.put(key(row), [UInt8](repeating: 7, count: 1_000), in: tree)
      }
    }
  }

  private static func isLimit(_ kind: LMDBError.Kind?, _ bytes: UInt64) -> Bool {
    kind == .fileSizeLimit(bytes)
  }

  @Test func `a write beyond the size limit of the file fails, and loses nothing`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    await #expect(processExitsWith: .success) { [path = path as String] in
      FileSizeLimitTests.limitFiles(to: 1 << 20)
      let environment = try openEnvironment(path)
      try FileSizeLimitTests.fill(environment, rows: 100)
      let refusal = kind { try FileSizeLimitTests.fill(environment, rows: 3_000) }
      guard FileSizeLimitTests.isLimit(refusal, 1 << 20) else {
        fail("the write gave \(String(describing: refusal))")
      }
      let tree = try openedTree(of: environment)
      guard try environment.read({ try $0.count(of: tree) }) == 100 else { fail("lost") }
      try FileSizeLimitTests.fill(environment, rows: 110)
      EnvironmentRegistry.close(environment)
    }
    // Without the limit, the store can be written again.
    let environment = try openEnvironment(path)
    defer { EnvironmentRegistry.close(environment) }
    try Self.fill(environment, rows: 3_000)
    await #expect(processExitsWith: .success) { [path = path as String] in
      FileSizeLimitTests.limitFiles(to: 1 << 20)
      let environment = try openEnvironment(path)
      let tree = try openedTree(of: environment)
      guard try environment.read({ try $0.count(of: tree) }) == 3_000 else { fail("unread") }
      let refusal = kind { try FileSizeLimitTests.fill(environment, rows: 10) }
      guard FileSizeLimitTests.isLimit(refusal, 1 << 20) else {
        fail("the write to a file beyond the limit gave \(String(describing: refusal))")
      }
      EnvironmentRegistry.close(environment)
    }
  }

  @Test func `a limit that is set while the file is open fails the next write that exceeds it`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    await #expect(processExitsWith: .success) { [path = path as String] in
      // A program cannot be protected from the system's signal here, so the test ignores it.
      signal(SIGXFSZ, SIG_IGN)
      let environment = try openEnvironment(path)
      try FileSizeLimitTests.fill(environment, rows: 100)
      FileSizeLimitTests.limitFiles(to: 1 << 20)
      let refusal = kind { try FileSizeLimitTests.fill(environment, rows: 3_000) }
      guard FileSizeLimitTests.isLimit(refusal, 1 << 20) else {
        fail("the write gave \(String(describing: refusal))")
      }
      // The system's error does not show that only the limit was the cause, so further writes are
      // refused.
      guard kind({ try FileSizeLimitTests.fill(environment, rows: 90) }) == .poisoned else {
        fail("written after a failure")
      }
      EnvironmentRegistry.close(environment)
      let again = try openEnvironment(path)
      try FileSizeLimitTests.fill(again, rows: 90)
      EnvironmentRegistry.close(again)
    }
  }

  @Test func `a store that cannot be made leaves no file`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    await #expect(processExitsWith: .success) { [path = path as String] in
      FileSizeLimitTests.limitFiles(to: 4_096)
      let refusal = kind { _ = try openEnvironment(path) }
      guard FileSizeLimitTests.isLimit(refusal, 4_096) else {
        fail("creating gave \(String(describing: refusal))")
      }
    }
    #expect(directory.names.isEmpty)
  }
}
