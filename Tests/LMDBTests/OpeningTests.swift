import LodestoreSystem
@testable import LMDB
import Testing

@Suite struct OpeningTests {
  private func refusal(_ path: String) -> LMDBError.Kind? {
    kind { EnvironmentRegistry.close(try openEnvironment(path) { $0.access = .readOnly }) }
  }

  private func isForeign(_ kind: LMDBError.Kind?) -> Bool {
    if case .notAnEnvironment? = kind { true } else { false }
  }

  private func isUnsuitable(_ kind: LMDBError.Kind?) -> Bool {
    if case .unsuitablePath? = kind { true } else { false }
  }

  @Test func `a shortened file is refused and stays unchanged`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let environment = try openEnvironment(path)
    try put((0..<2_000).map(key), into: try openedTree(of: environment), of: environment)
    EnvironmentRegistry.close(environment)
    let whole = size(of: path)
    for missing in [1, pageSize, whole / 2, whole - 2 * pageSize] {
      #expect(truncate(path, off_t(whole - missing)) == 0)
      guard case .truncated(let size, let needed)? = refusal(path) else {
        Issue.record("\(missing) bytes are missing and nobody says so")
        continue
      }
      #expect(size == UInt64(whole - missing))
      #expect(needed == UInt64(whole))
      #expect(LMDBTests.size(of: path) == whole - missing)
    }
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `a file short by free pages only is opened`(salt: UInt64) throws {
    // Rows put and removed in one write leave free pages at the end that are never written.
    var random = SeededGenerator(salt: salt)
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    var shortCount = 0
    for round in 0..<6 {
      let environment = try openEnvironment(path)
      let tree = try openedTree(of: environment)
      let count = Int.random(in: 1...1_500, using: &random)
      let kept = Int.random(in: 0..<count, using: &random)
      try environment.write { transaction in
        let value = [UInt8](repeating: 1, count: Int.random(in: 1...400, using: &random))
        for row in 0..<count { try transaction.put(key(round << 20 | row), value, in: tree) }
        for row in (kept..<count).reversed() {
          try transaction.delete(key(round << 20 | row), in: tree)
        }
      }
      if size(of: path) < (try environment.info.usedBytes) { shortCount += 1 }
      EnvironmentRegistry.close(environment)
      #expect(refusal(path) == nil, "\(SeededGenerator.replay)")
    }
    if salt == 1 { print("files short by free pages: \(shortCount) of 6") }
  }

  @Test(arguments: [1, 100, 8_192]) func `a text file is refused and stays unchanged`(count: Int)
    throws
  {
    let directory = try TemporaryDirectory()
    write([UInt8](repeating: 65, count: count), to: directory.file("text"))
    #expect(isForeign(refusal(directory.file("text"))))
    #expect(isForeign(kind { _ = try openEnvironment(directory.file("text")) }))
    #expect(size(of: directory.file("text")) == count)
    #expect(directory.names == ["text"])
  }

  @Test func `an empty file is refused and stays unchanged`() throws {
    let directory = try TemporaryDirectory()
    write([], to: directory.file("empty"))
    #expect(isForeign(refusal(directory.file("empty"))))
    #expect(isForeign(kind { _ = try openEnvironment(directory.file("empty")) }))
    #expect(directory.names == ["empty"])
    #expect(size(of: directory.file("empty")) == 0)
  }

  @Test func `a lock file that is a link is refused, and the target of the link stays`() throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("store")
    EnvironmentRegistry.close(try openEnvironment(store))
    #expect(unlink(store + "-lock") == 0)
    let target = directory.file("target")
    write([1, 2, 3], to: target)
    #expect(symlink(target, store + "-lock") == 0)
    #expect(isUnsuitable(kind { _ = try openEnvironment(store) }))
    #expect(size(of: target) == 3)
  }

  @Test func `a name too long for the name of its lock file is refused and leaves no file`()
    throws
  {
    let directory = try TemporaryDirectory()
    for length in [251, 255, 256, 300] {
      let path = directory.file(String(repeating: "n", count: length))
      guard case .unsuitablePath(let what)? = kind({ _ = try openEnvironment(path) }) else {
        Issue.record("a name of \(length) bytes was taken")
        continue
      }
      #expect(what.contains("a name of \(length) bytes, of which 250 are the most"))
      #expect(directory.names.isEmpty)
    }
    EnvironmentRegistry.close(
      try openEnvironment(directory.file(String(repeating: "n", count: 250))))
    #expect(directory.names.count == 2)
  }

  @Test func `paths that are no files are refused`() throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("store")
    EnvironmentRegistry.close(try openEnvironment(store))
    #expect(symlink(store, directory.file("link")) == 0)
    #expect(mkfifo(directory.file("fifo"), 0o600) == 0)
    #expect(mkdir(directory.file("directory"), 0o700) == 0)
    defer { rmdir(directory.file("directory")) }
    let paths = [
      directory.file("link"), directory.file("fifo"), directory.file("directory"), "", "/dev/zero",
      store + "\0", directory.file("a\0b"),
    ]
    for path in paths {
      #expect(isUnsuitable(refusal(path)), "\(path.debugDescription)")
      #expect(isUnsuitable(kind { _ = try openEnvironment(path) }), "\(path.debugDescription)")
    }
    #expect(name { _ = try openEnvironment(directory.file("no/store")) } == "ENOENT")
    #expect(
      name { _ = try openEnvironment(directory.file("none")) { $0.access = .readOnly } }
        == "ENOENT")
  }

  @Test func `a file system of the kernel is refused`() {
    guard case .unsupportedFileSystem? = kind({ _ = try openEnvironment("/proc/store") }) else {
      Issue.record("a store may be made on procfs")
      return
    }
  }

  @Test func `the lock file is written whole with the permissions of the store`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    EnvironmentRegistry.close(try openEnvironment(path) { $0.readerSlotCount = 5_000 })
    unlink(path + "-lock")
    #expect(chmod(path, 0o640) == 0)
    let environment = try openEnvironment(path) {
      $0.readerSlotCount = 5_000
      $0.access = .readOnly
    }
    defer { EnvironmentRegistry.close(environment) }
    var status = stat()
    #expect(lstat(path + "-lock", &status) == 0)
    #expect(status.st_mode & 0o777 == 0o640)
    #expect(Int(status.st_blocks) * 512 >= Int(status.st_size))
    #expect(try environment.info.readerSlotCount == 5_000)
  }

  @Test func `only its owner can access a new store`() throws {
    let directory = try TemporaryDirectory()
    let environment = try openEnvironment(directory.file("store"))
    defer { EnvironmentRegistry.close(environment) }
    for name in ["store", "store-lock"] {
      var status = stat()
      #expect(lstat(directory.file(name), &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600)
    }
    #expect(directory.names == ["store", "store-lock"])
  }

  @Test
  func
    `a file that a process may not write is read without locks and another only when that is allowed`()
    async throws
  {
    guard geteuid() == 0 else {
      print("skipped: needs root, to become somebody who may not write")
      return
    }
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let path = directory.file("store")
      EnvironmentRegistry.close(try openEnvironment(path))
      unlink(path + "-lock")
      chmod(path, 0o666)
      chmod(directory.path, 0o555)
      guard seteuid(65_534) == 0 else { fail("cannot become nobody") }
      guard name({ _ = try openEnvironment(path) { $0.access = .readOnly } }) == "EACCES" else {
        fail("opened without a lock file, although it could be written")
      }
      EnvironmentRegistry.close(
        try openEnvironment(path) {
          $0.access = .readOnly
          $0.allowsUnlockedReading = true
        })
      guard seteuid(0) == 0, chmod(path, 0o444) == 0, seteuid(65_534) == 0 else {
        fail("cannot become nobody again")
      }
      let environment = try openEnvironment(path) { $0.access = .readOnly }
      guard !environment.hasLockFile else { fail("claims a lock file") }
      guard try environment.read({ try $0.treeNames() }) == ["t"] else { fail("reads wrong") }
      EnvironmentRegistry.close(environment)
      guard seteuid(0) == 0 else { fail("cannot become root") }
    }
  }

  @Test func `an environment opened for reading refuses writes`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    EnvironmentRegistry.close(try openEnvironment(path))
    let reader = try openEnvironment(path) { $0.access = .readOnly }
    defer { EnvironmentRegistry.close(reader) }
    #expect(name { try reader.write { _ in } } == "EACCES")
    #expect(isUnsuitable(kind { _ = try openEnvironment(path) }))
  }

  @Test func `a store in memory leaves no name`() throws {
    let before = Set(namesInMemory())
    // Other tests open stores in memory too, whose names exist for a moment.
    func isFreeOfNames() -> Bool {
      for _ in 0..<500 {
        if before.isSuperset(of: namesInMemory()) { return true }
        usleep(10_000)
      }
      return false
    }
    let environment = try EnvironmentRegistry.openInMemory(options: EnvironmentOptions()) {
      _ = try $0.environment.tree("t", isCreated: true, hasIntegerKeys: false, in: $0)
    }
    #expect(isFreeOfNames())
    try put([[1]], into: try openedTree(of: environment), of: environment)
    let directory = try TemporaryDirectory()
    try environment.copy(to: directory.file("copy"), compacting: false)
    EnvironmentRegistry.close(environment)
    let copy = try openEnvironment(directory.file("copy"))
    defer { EnvironmentRegistry.close(copy) }
    let copied = try openedTree(of: copy)
    #expect(try copy.read { try $0.count(of: copied) } == 1)
  }
}

/// The names in the memory file system that a store in memory has while it is opened.
func namesInMemory() -> [String] {
  guard let directory = opendir("/dev/shm") else { return [] }
  defer { closedir(directory) }
  var names: [String] = []
  while let entry = readdir(directory) { names.append(entryName(entry)) }
  return names.filter { $0.hasPrefix(".lodestore.") || $0.hasPrefix("lodestore.") }
}
