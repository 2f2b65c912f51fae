import LodestoreSystem
@testable import LMDB
import Synchronization
import Testing

/// A check that counts its calls shows when the pages of a file are checked.
@Suite struct TrustTests {
  private let directory: TemporaryDirectory
  private let path: String
  private let checks = SharedNumber()

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("store")
    try use(path)
  }

  private func opened(
    _ path: String, _ trust: EnvironmentOptions.Trust = .verifyFirst, isReading: Bool = false
  ) throws -> Environment {
    try openEnvironment(path) { options in
      options.trust = trust
      options.checkPages = { [checks] _, _, step throws(LMDBError) in
        checks.add()
        guard step(1, 1) else { throw LMDBError(.cancelled, operation: "check") }
      }
      if isReading { options.access = .readOnly }
    }
  }

  /// Opens the file, and writes to it.
  private func use(_ path: String, row: Int = 0) throws {
    let environment = try opened(path)
    defer { EnvironmentRegistry.close(environment) }
    try put([key(row)], into: try openedTree(of: environment), of: environment)
  }

  /// The number of page checks when the file is opened.
  private func checkCount(_ path: String, isReading: Bool = false) throws -> Int {
    let before = checks.value
    EnvironmentRegistry.close(try opened(path, isReading: isReading))
    return checks.value - before
  }

  static func bytes(of path: String) throws -> [UInt8] {
    let file = open(path, O_RDONLY)
    try #require(file >= 0)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: size(of: path))
    try #require(pread(file, &bytes, bytes.count, 0) == bytes.count)
    return bytes
  }

  // MARK: Files of this machine's own processes

  @Test func `a file that this process closed is not checked again`() throws {
    for row in 1...3 {
      #expect(try checkCount(path) == 0)
      #expect(try checkCount(path, isReading: true) == 0)
      let before = checks.value
      try use(path, row: row)
      #expect(checks.value == before)
    }
  }

  @Test func `a file that was renamed with its lock file is not checked again`() throws {
    let other = directory.file("other")
    #expect(rename(path, other) == 0)
    #expect(rename(path + "-lock", other + "-lock") == 0)
    #expect(try checkCount(other) == 0)
  }

  @Test func `a file that another process has open is not checked`() async throws {
    let environment = try opened(path)
    await #expect(processExitsWith: .success) { [path = path as String] in
      var options = EnvironmentOptions()
      options.trust = .verifyFirst
      options.checkPages = { _, _, _ in fail("checked") }
      let environment = try EnvironmentRegistry.open(path, options: options) { _ in }
      try put([key(7)], into: try openedTree(of: environment), of: environment)
      EnvironmentRegistry.close(environment)
    }
    EnvironmentRegistry.close(environment)
    #expect(try checkCount(path) == 0)
  }

  @Test func `a file whose process was killed is not checked while the machine runs`() async throws
  {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      var options = EnvironmentOptions()
      options.trust = .verifyFirst
      options.checkPages = { _, _, _ in fail("checked") }
      let environment = try EnvironmentRegistry.open(path, options: options) { _ in }
      try put([key(7)], into: try openedTree(of: environment), of: environment)
      kill(getpid(), SIGKILL)
    }
    #expect(try checkCount(path) == 0)
  }

  @Test func `a file whose process did not end before the machine did is checked`() throws {
    let environment = try opened(path)
    // The lock file has the state after a loss of power.
    var lock = try Self.bytes(of: path + "-lock")
    EnvironmentRegistry.close(environment)
    let start = lock.count - FileStamp.size
    var stamp = try #require(FileStamp(Array(lock[start...])))
    #expect(stamp.state == .inUse)
    write(lock, to: path + "-lock")
    #expect(try checkCount(path) == 0)
    stamp.boot &+= 1
    lock.replaceSubrange(start..., with: stamp.bytes)
    write(lock, to: path + "-lock")
    #expect(try checkCount(path) == 1)
    #expect(try checkCount(path) == 0)
  }

  @Test func `another file is opened during the check of a file`() async throws {
    let other = directory.file("other")
    try use(other)
    unlink(path + "-lock")
    await #expect(processExitsWith: .success) {
      [path = path as String, other = other as String] in
      // A hang ends the process by a signal.
      alarm(60)
      var options = EnvironmentOptions()
      options.trust = .verifyFirst
      let plain = options
      options.checkPages = { _, _, _ in
        do {
          EnvironmentRegistry.close(try EnvironmentRegistry.open(other, options: plain) { _ in })
        } catch {
          fail("\(error)")
        }
      }
      EnvironmentRegistry.close(try EnvironmentRegistry.open(path, options: options) { _ in })
    }
  }

  @Test func `a thread that waits for the check of another thread can cancel its wait`() async {
    unlink(path + "-lock")
    await #expect(processExitsWith: .success) { [path = path as String] in
      alarm(60)
      var options = EnvironmentOptions()
      options.trust = .verifyFirst
      options.checkPages = { [options] _, _, _ in
        let found = kind {
          _ = try EnvironmentRegistry.open(path, options: options, onCheck: { _, _ in false }) {
            _ in
          }
        }
        if found != .cancelled { fail("\(String(describing: found))") }
      }
      EnvironmentRegistry.close(try EnvironmentRegistry.open(path, options: options) { _ in })
    }
  }

  // MARK: All others

  /// Opens and closes the file until the lock file says that it was closed cleanly.
  ///
  /// A process that another test is just starting may hold the locks for a moment.
  private func leaveClosed() throws {
    for _ in 0..<1_000 {
      let lock = try Self.bytes(of: path + "-lock")
      if FileStamp(Array(lock.suffix(FileStamp.size)))?.state == .closed { return }
      usleep(1_000)
      try use(path)
    }
    Issue.record("the file is never left closed")
  }

  @Test func `a file that was changed in its place is checked`() throws {
    for round in 0..<20 {
      try leaveClosed()
      let file = open(path, O_WRONLY)
      let byte: [UInt8] = [UInt8(round)]
      // Directly after the close, another program changes the last byte of a page that no commit
      // needs.
      #expect(pwrite(file, byte, 1, off_t(size(of: path) - 1)) == 1)
      close(file)
      #expect(try checkCount(path) == 1, "round \(round)")
      #expect(try checkCount(path) == 0)
    }
  }

  @Test func `a copy is checked, with its lock file and without`() throws {
    let bytes = try Self.bytes(of: path)
    let lock = try Self.bytes(of: path + "-lock")
    let copy = directory.file("copy")
    write(bytes, to: copy)
    #expect(try checkCount(copy) == 1)
    #expect(try checkCount(copy) == 0)
    let other = directory.file("other")
    write(bytes, to: other)
    write(lock, to: other + "-lock")
    #expect(try checkCount(other) == 1)
  }

  @Test func `a replaced file is checked, even if it has equal bytes`() throws {
    let bytes = try Self.bytes(of: path)
    write(bytes, to: directory.file("new"))
    #expect(rename(directory.file("new"), path) == 0)
    #expect(try checkCount(path) == 1)
  }

  @Test func `a file that was written without the mark is checked`() throws {
    let environment = try openEnvironment(path)
    try put([key(9)], into: try openedTree(of: environment), of: environment)
    EnvironmentRegistry.close(environment)
    #expect(try checkCount(path) == 1)
  }

  @Test func `a file without its lock file is checked`() throws {
    #expect(unlink(path + "-lock") == 0)
    #expect(try checkCount(path) == 1)
    #expect(try checkCount(path) == 0)
  }

  @Test func `a damaged mark counts as absent`() throws {
    let lock = try Self.bytes(of: path + "-lock")
    var random = SeededGenerator(salt: 41)
    for _ in 0..<100 {
      var damaged = lock
      let offset = lock.count - 1 - Int.random(in: 0..<FileStamp.size, using: &random)
      damaged[offset] ^= UInt8.random(in: 1 ... .max, using: &random)
      write(damaged, to: path + "-lock")
      #expect(try checkCount(path) == 1, "byte \(offset), \(SeededGenerator.replay)")
    }
    for length in [0, 1, 64, lock.count - 1, lock.count + 1] {
      write(Array(lock.prefix(length)), to: path + "-lock")
      if length > lock.count { write([1], to: path + "-lock", flags: O_APPEND) }
      #expect(try checkCount(path) == 1, "length \(length)")
    }
  }

  @Test func `the mark leaves the reader slots unchanged`() throws {
    var readers: [Int] = []
    for _ in 0..<3 {
      readers.append((size(of: path + "-lock") - FileStamp.size) / 64)
      try use(path)
    }
    #expect(Set(readers).count == 1)
    #expect((size(of: path + "-lock") - FileStamp.size) % 64 == 0)
  }

  @Test func `a failed write removes the mark of the checked file`() async throws {
    await #expect(processExitsWith: .success) { [path = path as String] in
      signal(SIGXFSZ, SIG_IGN)
      var options = EnvironmentOptions()
      options.trust = .verifyFirst
      options.checkPages = { _, _, _ in fail("checked") }
      let environment = try EnvironmentRegistry.open(path, options: options) { _ in }
      let tree = try openedTree(of: environment)
      var limit = rlimit(rlim_cur: 1_000_100, rlim_max: rlim_t.max)
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      var row = 100
      while kind({ try put((row..<(row + 5_000)).map(key), into: tree, of: environment) }) == nil {
        row += 5_000
      }
      limit.rlim_cur = limit.rlim_max
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      guard kind({ try put([key(1)], into: tree, of: environment) }) == .poisoned else {
        fail("not poisoned")
      }
      EnvironmentRegistry.close(environment)
    }
    #expect(try checkCount(path) == 1)
  }

  // MARK: Options

  @Test func `a file opened for reading is checked before its first write by option`()
    throws
  {
    #expect(unlink(path + "-lock") == 0)
    let environment = try opened(path, .verifyBeforeWrite)
    let tree = try openedTree(of: environment)
    #expect(try environment.read { try $0.count(of: tree) } == 1)
    let before = checks.value
    try put([key(5)], into: tree, of: environment)
    #expect(checks.value == before + 1)
    try put([key(6)], into: tree, of: environment)
    #expect(checks.value == before + 1)
    EnvironmentRegistry.close(environment)
    #expect(try checkCount(path) == 0)
  }

  @Test func `a check that finds something leaves the file closed`() throws {
    #expect(unlink(path + "-lock") == 0)
    let bytes = try Self.bytes(of: path)
    let refused = kind {
      _ = try openEnvironment(path) { options in
        options.trust = .verifyFirst
        options.checkPages = { _, _, _ throws(LMDBError) in
          throw LMDBError(.damaged("it is"), operation: "check")
        }
      }
    }
    #expect(refused == .damaged("it is"))
    #expect(try Self.bytes(of: path) == bytes)
    #expect(try checkCount(path) == 1)
  }

  @Test func `a check can be cancelled, and runs again the next time`() throws {
    #expect(unlink(path + "-lock") == 0)
    var options = EnvironmentOptions()
    options.trust = .verifyFirst
    options.checkPages = { _, _, step throws(LMDBError) in
      guard step(1, 2) else { throw LMDBError(.cancelled, operation: "check") }
    }
    let refused = kind {
      _ = try EnvironmentRegistry.open(path, options: options, onCheck: { _, _ in false }) { _ in }
    }
    #expect(refused == .cancelled)
    #expect(try checkCount(path) == 1)
  }
}
