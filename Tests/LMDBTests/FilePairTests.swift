import LodestoreSystem
@testable import LMDB
import Testing

/// A data file and a lock file that do not belong together, with real processes.
@Suite struct FilePairTests {
  private static func open(_ path: String, isReading: Bool = false) -> LMDBError.Kind? {
    kind {
      EnvironmentRegistry.close(
        try openEnvironment(path) { if isReading { $0.access = .readOnly } })
    }
  }

  /// Opens `path` in another process, for writing and for reading, and expects `refusal`, or
  /// success.
  private func expectOpening(_ path: String, refusedAs refusal: String?) async {
    await #expect(processExitsWith: .success) {
      [path = path as String, refusal = refusal as String?] in
      for isReading in [false, true] {
        let kind = FilePairTests.open(path, isReading: isReading)
        let found: String? = if case .mismatched(let how)? = kind { how.name } else { nil }
        guard found == refusal, refusal != nil || kind == nil else {
          fail("opening gave \(String(describing: kind)), expected \(refusal ?? "success")")
        }
      }
    }
  }

  private func write(_ row: Int, to environment: Environment) throws {
    try put([key(row)], into: try openedTree(of: environment), of: environment)
  }

  private func rows(of environment: Environment) throws -> Int {
    let tree = try openedTree(of: environment)
    return try environment.read { try $0.count(of: tree) }
  }

  // MARK: One data file, two lock files

  @Test func `a hard link is refused while another process has the file open`() async throws {
    let directory = try TemporaryDirectory()
    let (path, alias) = (directory.file("store"), directory.file("alias"))
    let environment = try openEnvironment(path)
    #expect(link(path, alias) == 0)
    await expectOpening(alias, refusedAs: "otherLockFile")
    await expectOpening(path, refusedAs: nil)
    try write(1, to: environment)
    EnvironmentRegistry.close(environment)
    // As long as the file is open under only one name at a time, no commit can be lost.
    await expectOpening(alias, refusedAs: nil)
  }

  @Test func `processes that open two hard links of a file lose no commit`() async throws {
    let directory = try TemporaryDirectory()
    let (path, alias) = (directory.file("store"), directory.file("alias"))
    EnvironmentRegistry.close(try openEnvironment(path))
    #expect(link(path, alias) == 0)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        let name = number % 2 == 0 ? path : alias
        group.addTask {
          await #expect(processExitsWith: .success) { [name = name as String] in
            var done = 0
            while done < 25 {
              do {
                let environment = try openEnvironment(name)
                let tree = try openedTree(of: environment)
                for _ in 0..<5 {
                  try environment.write { transaction in
                    let old = try transaction.get([1], in: tree).map(LMDBTests.number) ?? 0
                    try transaction.put([1], key(old + 1), in: tree)
                  }
                  done += 1
                }
                EnvironmentRegistry.close(environment)
              } catch let error as LMDBError where error.isMismatch {}
              usleep(UInt32.random(in: 100...3_000))
            }
          }
        }
      }
    }
    let environment = try openEnvironment(path)
    defer { EnvironmentRegistry.close(environment) }
    let tree = try openedTree(of: environment)
    #expect(try environment.read { try $0.get([1], in: tree).map(number) } == 100)
  }

  @Test func `a moved file is refused by other processes and not written by this one`() async throws
  {
    let directory = try TemporaryDirectory()
    let (path, moved) = (directory.file("store"), directory.file("moved"))
    let environment = try openEnvironment(path)
    defer { EnvironmentRegistry.close(environment) }
    try write(1, to: environment)
    #expect(rename(path, moved) == 0)
    await expectOpening(moved, refusedAs: "otherLockFile")
    #expect(kind { try write(2, to: environment) } == .mismatched(.dataFileReplaced))
    #expect(try rows(of: environment) == 1)
    #expect(rename(moved, path) == 0)
    try write(2, to: environment)
  }

  @Test(arguments: [true, false])
  func `a lost lock file stops writes of this process and openings of others`(isReplaced: Bool)
    async throws
  {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let environment = try openEnvironment(path)
    try write(1, to: environment)
    #expect(unlink(path + "-lock") == 0)
    if isReplaced { LMDBTests.write([0], to: path + "-lock") }
    #expect(kind { try write(2, to: environment) } == .mismatched(.lockFileReplaced))
    #expect(try rows(of: environment) == 1)
    await expectOpening(path, refusedAs: "otherLockFile")
    EnvironmentRegistry.close(environment)
    unlink(path + "-lock")
    await expectOpening(path, refusedAs: nil)
    let again = try openEnvironment(path)
    defer { EnvironmentRegistry.close(again) }
    try write(2, to: again)
  }

  @Test func `an unrelated file in the place of the lock file stays unchanged`() async throws {
    let directory = try TemporaryDirectory()
    let (path, other) = (directory.file("store"), directory.file("other"))
    for name in [path, other] {
      let environment = try openEnvironment(name)
      try write(1, to: environment)
      EnvironmentRegistry.close(environment)
      unlink(name + "-lock")
    }
    // Another store begins with zeros, like an unused lock file.
    for bytes in [try TrustTests.bytes(of: other), Array("notes of mine\n".utf8)] {
      LMDBTests.write(bytes, to: path + "-lock")
      for isReading in [false, true] {
        guard case .unsuitablePath(let what) = FilePairTests.open(path, isReading: isReading)
        else {
          Issue.record("the file was taken for a lock file")
          return
        }
        #expect(what.hasPrefix("no lock file"))
      }
      #expect(try TrustTests.bytes(of: path + "-lock") == bytes)
    }
    LMDBTests.write([], to: path + "-lock")
    let environment = try openEnvironment(path)
    try write(2, to: environment)
    EnvironmentRegistry.close(environment)
  }

  @Test func `a cut lock file is named in the errors of this process and of others`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let environment = try openEnvironment(path)
    try write(1, to: environment)
    let lockSize = size(of: path + "-lock")
    #expect(truncate(path + "-lock", 0) == 0)
    #expect(kind { try write(2, to: environment) } == .mismatched(.lockFileCut))
    await expectOpening(path, refusedAs: "lockFileCut")
    // The lock file gets its size back, because closing the environment touches the map of it.
    #expect(truncate(path + "-lock", off_t(lockSize)) == 0)
    EnvironmentRegistry.close(environment)
  }

  @Test func `a lock file that is lost during a write stops its commit`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let environment = try openEnvironment(path)
    defer { EnvironmentRegistry.close(environment) }
    let tree = try openedTree(of: environment)
    let refusal = kind {
      try environment.write { transaction in
        try transaction.put([1], [1], in: tree)
        unlink(path + "-lock")
      }
    }
    #expect(refusal == .mismatched(.lockFileReplaced))
    #expect(try rows(of: environment) == 0)
  }

  /// A program that uses LMDB without this library creates its own lock file, and writes.
  @Test func `a read is refused after commits under another lock file`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let environment = try openEnvironment(path)
    defer { EnvironmentRegistry.close(environment) }
    try write(1, to: environment)
    unlink(path + "-lock")
    await #expect(processExitsWith: .success) { [path = path as String] in
      let other = try Environment.open(path, EnvironmentOptions(), nil, nil, flags: 0)
      let tree = try openedTree(of: other)
      for row in 2...4 { try put([key(row)], into: tree, of: other) }
    }
    let refusal = kind { try environment.read { _ in } }
    guard case .mismatched(.transactions(let lock, let data))? = refusal else {
      Issue.record("the read gave \(String(describing: refusal))")
      return
    }
    #expect(data == lock + 3)
  }

  @Test func `a closed file may be moved while a program is being started`() throws {
    let directory = try TemporaryDirectory()
    let (path, moved) = (directory.file("store"), directory.file("moved"))
    let environment = try openEnvironment(path)
    try write(1, to: environment)
    let files = try #require(environment.files)
    // A child has such descriptors between its fork and the start of its program.
    let inherited = [files.dataDescriptor, files.lockDescriptor].map {
      fcntl($0, F_DUPFD_CLOEXEC, 0)
    }
    defer { for descriptor in inherited { close(descriptor) } }
    EnvironmentRegistry.close(environment)
    #expect(rename(path, moved) == 0)
    unlink(path + "-lock")
    let again = try openEnvironment(moved)
    defer { EnvironmentRegistry.close(again) }
    #expect(try rows(of: again) == 1)
  }

  // MARK: One lock file, two data files

  @Test(arguments: 0...3)
  func `a replaced file is refused while the old one is open`(commitsBehind: Int) async throws {
    let directory = try TemporaryDirectory()
    let (path, copy) = (directory.file("store"), directory.file("copy"))
    let environment = try openEnvironment(path)
    try write(1, to: environment)
    try environment.copy(to: copy, compacting: false)
    for row in 0..<commitsBehind { try write(2 + row, to: environment) }
    #expect(rename(copy, path) == 0)
    await expectOpening(path, refusedAs: "otherDataFile")
    #expect(kind { try write(9, to: environment) } == .mismatched(.dataFileReplaced))
    #expect(try rows(of: environment) == 1 + commitsBehind)
    EnvironmentRegistry.close(environment)
    await expectOpening(path, refusedAs: nil)
    let restored = try openEnvironment(path)
    defer { EnvironmentRegistry.close(restored) }
    #expect(try rows(of: restored) == 1)
  }

  /// This happens if a process that uses LMDB without this library has the replaced file open.
  @Test func `a file whose transactions differ from its lock file is refused`() async throws {
    let directory = try TemporaryDirectory()
    let (path, copy) = (directory.file("store"), directory.file("copy"))
    EnvironmentRegistry.close(try openEnvironment(path))
    let untied = try Environment.open(path, EnvironmentOptions(), nil, nil, flags: 0)
    try untied.copy(to: copy, compacting: false)
    try write(1, to: untied)
    #expect(rename(copy, path) == 0)
    await expectOpening(path, refusedAs: "transactions")
    untied.shutDown()
    await expectOpening(path, refusedAs: nil)
  }

  @Test func `a new store instead of both files is opened`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let environment = try openEnvironment(path)
    defer { EnvironmentRegistry.close(environment) }
    unlink(path)
    unlink(path + "-lock")
    await expectOpening(path, refusedAs: nil)
    #expect(kind { try write(1, to: environment) } == .mismatched(.dataFileReplaced))
  }

  // MARK: Permitted changes of files

  @Test func `both files may be moved with their directory`() async throws {
    let directory = try TemporaryDirectory()
    let (folder, moved) = (directory.file("folder"), directory.file("moved"))
    #expect(mkdir(folder, 0o700) == 0)
    let environment = try openEnvironment(folder + "/store")
    #expect(rename(folder, moved) == 0)
    try write(1, to: environment)
    await expectOpening(moved + "/store", refusedAs: nil)
    EnvironmentRegistry.close(environment)
    for name in ["/store", "/store-lock"] { unlink(moved + name) }
    rmdir(moved)
  }

  @Test func `a killed process leaves nothing that binds data file and lock file`() async throws {
    let directory = try TemporaryDirectory()
    let (path, alias) = (directory.file("store"), directory.file("alias"))
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      _ = try openEnvironment(path)
      kill(getpid(), SIGKILL)
    }
    #expect(link(path, alias) == 0)
    let environment = try openEnvironment(alias)
    defer { EnvironmentRegistry.close(environment) }
    try write(1, to: environment)
  }
}

extension LMDBError {
  fileprivate var isMismatch: Bool { if case .mismatched = kind { true } else { false } }
}

extension LMDBError.FileMismatch {
  fileprivate var name: String {
    switch self {
    case .otherLockFile: "otherLockFile"
    case .otherDataFile: "otherDataFile"
    case .unusableLockFile: "unusableLockFile"
    case .transactions: "transactions"
    case .dataFileReplaced: "dataFileReplaced"
    case .lockFileReplaced: "lockFileReplaced"
    case .lockFileCut: "lockFileCut"
    }
  }
}
