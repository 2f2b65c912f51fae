import LMDB
import LodestoreSystem
import Testing

@Suite struct DiskFullTests {
  private static func fill(_ environment: Environment, _ tree: Tree) -> LMDBError? {
    do {
      for row in 0..<10_000 {
        try environment.write {
          try $0.put(key(row), [UInt8](repeating: 7, count: 50_000), in: tree)
        }
      }
      return nil
    } catch {
      return error as? LMDBError
    }
  }

  @Test func `a failed write on a disk with room poisons until reopened`() async {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let directory = try TemporaryDirectory()
      let path = directory.file("store")
      var environment = try openEnvironment(path)
      var tree = try openedTree(of: environment)
      try put([[1]], into: tree, of: environment)
      // The limit is not a multiple of the page size, so that a write is cut short. LMDB then
      // reports EIO.
      var limit = rlimit(rlim_cur: 1_000_100, rlim_max: rlim_t.max)
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      guard let failure = Self.fill(environment, tree) else { fail("there is no end") }
      guard failure.name == "EIO", [.engine, .fileSizeLimit(1_000_100)].contains(failure.kind)
      else {
        fail(failure.description)
      }
      limit.rlim_cur = limit.rlim_max
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      guard kind({ try put([[2]], into: tree, of: environment) }) == .poisoned else {
        fail("written after a failure")
      }
      guard try environment.read({ try $0.get([1], in: tree) }) != nil else { fail("unreadable") }
      EnvironmentRegistry.close(environment)
      environment = try openEnvironment(path)
      tree = try openedTree(of: environment)
      try put([[2]], into: tree, of: environment)
      EnvironmentRegistry.close(environment)
    }
  }

  @Test func `observers hear of a write once it can be read, and never when it fails`()
    async
  {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let directory = try TemporaryDirectory()
      let environment = try openEnvironment(directory.file("store"))
      let tree = try openedTree(of: environment)
      var limit = rlimit(rlim_cur: 1_000_100, rlim_max: rlim_t.max)
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      var told = 0
      var written = 0
      while kind({
        try environment.write { transaction in
          try transaction.put(key(written), [UInt8](repeating: 7, count: 50_000), in: tree)
          transaction.afterCommit { _, _ in
            told += 1
            let count = try? environment.read { try $0.count(of: tree) }
            if count != told { fail("told of row \(told), \(count ?? -1) can be read") }
          }
        }
      }) == nil { written += 1 }
      limit.rlim_cur = limit.rlim_max
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      guard written > 0, told == written else { fail("told of \(told) of \(written)") }
      EnvironmentRegistry.close(environment)
    }
  }

  @Test func `a full disk is reported, and freed space heals the store`() async throws {
    let directory = try TemporaryDirectory()
    #if os(Linux)
      let isMounted = mount("tmpfs", directory.path, "tmpfs", 0, "size=8m") == 0
    #else
      let isMounted = false
    #endif
    guard isMounted else {
      print("skipped: a small file system cannot be mounted here")
      return
    }
    #if os(Linux)
      defer { umount2(directory.path, 2) }
    #endif
    let path = directory.file("store")
    let ballast = directory.file("ballast")
    write([UInt8](repeating: 0, count: 2 << 20), to: ballast)
    let environment = try openEnvironment(path)
    defer { EnvironmentRegistry.close(environment) }
    let tree = try openedTree(of: environment)
    let failure = try #require(Self.fill(environment, tree))
    guard case .diskFull = failure.kind else {
      Issue.record("\(failure)")
      return
    }
    let count = try environment.read { try $0.count(of: tree) }
    #expect(count > 0)
    try environment.read { _ = try $0.get(key(count - 1), in: tree)?.last }
    // The file is truncated first, because a process that is being started may keep it open
    // briefly.
    truncate(ballast, 0)
    unlink(ballast)
    try put([[255]], into: tree, of: environment)
    #expect(try environment.read { try $0.count(of: tree) } == count + 1)
    // On a full disk, opening without a lock file fails with an error, not with a bus error.
    EnvironmentRegistry.close(environment)
    unlink(path + "-lock")
    write([UInt8](repeating: 0, count: 8 << 20), to: ballast)
    guard case .diskFull? = kind({ _ = try openEnvironment(path) { $0.access = .readOnly } }) else {
      Issue.record("opened without room for the lock file")
      return
    }
    truncate(ballast, 0)
    unlink(ballast)
    EnvironmentRegistry.close(try openEnvironment(path))
  }
}
