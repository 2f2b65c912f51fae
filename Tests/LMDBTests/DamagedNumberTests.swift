import LMDB
import LodestoreBytes
import LodestoreSystem
import Testing

/// Numbers in the file that cannot be true must be refused.
@Suite struct DamagedNumberTests {
  private static func set(_ byte: UInt8, at offset: Int, of path: String) {
    let file = open(path, O_WRONLY)
    guard file >= 0 else { return }
    defer { close(file) }
    _ = withUnsafeBytes(of: byte) { pwrite(file, $0.baseAddress, 1, off_t(offset)) }
  }

  private static func use(_ path: String) throws {
    let environment = try openEnvironment(path)
    defer { EnvironmentRegistry.close(environment) }
    _ = try environment.info
    let tree = try openedTree(of: environment)
    try environment.read { transaction in
      _ = transaction.id
      _ = try transaction.count(of: tree)
      _ = try transaction.freePageCount()
      _ = try transaction.estimatedCount(of: tree, within: KeyRange())
    }
    try put([[1]], into: tree, of: environment)
  }

  @Test(arguments: [format.meta.size - 1, pageSize + format.meta.size - 1])
  func `a transaction number beyond that of any file is refused`(offset: Int) async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    EnvironmentRegistry.close(try openEnvironment(path))
    await #expect(processExitsWith: .success) { [path = path as String, offset = offset as Int] in
      DamagedNumberTests.set(0xff, at: offset, of: path)
      guard case .damaged(let what)? = kind({ try DamagedNumberTests.use(path) }) else {
        fail("a file of transaction 2^64 - 2^56 was opened")
      }
      guard what.contains("transaction number 18374686479671623") else { fail(what) }
    }
  }

  @Test func `no byte of the numbers of a meta page ends the process`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    await #expect(processExitsWith: .success) { [path = path as String] in
      for offset in format.meta.lastPage..<format.meta.size {
        for page in [0, pageSize] {
          for byte: UInt8 in [0xff, 0x80, 0x7f, 0x01] {
            let environment = try openEnvironment(path)
            try put((0..<200).map(key), into: try openedTree(of: environment), of: environment)
            EnvironmentRegistry.close(environment)
            DamagedNumberTests.set(byte, at: page + offset, of: path)
            do { try DamagedNumberTests.use(path) } catch is LMDBError {}
            unlink(path)
            unlink(path + "-lock")
          }
        }
      }
    }
  }

  /// A tree's record has its counts of branch pages, leaf pages, overflow pages and entries from
  /// byte 8 on.
  ///
  /// Each offset is the highest byte of one count.
  @Test(arguments: [15, 23, 31, 39])
  func `a count of a tree beyond any map is refused`(offset: Int) async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let environment = try openEnvironment(path)
    try put((0..<200).map(key), into: try openedTree(of: environment), of: environment)
    EnvironmentRegistry.close(environment)
    let bytes = try #require(contents(of: path))
    // The test finds the name "t" after its node's header, in the page of the last commit and in
    // older pages.
    let treeName = format.key(ofTree: "t")
    let header: [UInt8] = [48, 0, 0, 0, 2, 0, UInt8(treeName.count), 0] + treeName
    let offsets = bytes.indices.filter { bytes[$0...].starts(with: header) }
    try #require(!offsets.isEmpty)
    for node in offsets {
      Self.set(0xff, at: node + header.count + offset, of: path)
    }
    let damaged = try openEnvironment(path)
    defer { EnvironmentRegistry.close(damaged) }
    let tree = try openedTree(of: damaged)
    #expect(name { try damaged.read { _ = try $0.statistics(of: tree) } } == "MDB_CORRUPTED")
  }

  private func contents(of path: String) -> [UInt8]? {
    let file = open(path, O_RDONLY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: size(of: path))
    let count = bytes._withMutableBytes { read(file, $0.baseAddress, $0.count) }
    return count == bytes.count ? bytes : nil
  }
}
