import LMDB
import LodestoreBytes
import LodestoreSystem
import Testing

/// A scan moves from leaf to leaf by the branch pages above, in trees with many branches and in
/// damaged trees.
@Suite struct BranchScanTests {
  private static let recordCount: UInt64 = 40_000
  /// With larger pages, one branch is enough for all leaves.
  private static let leastBranches = pageSize > 4_096 ? 0 : 4

  /// Makes a file whose tree "r" has three levels, with all ids except every seventh and 100 bytes
  /// for each record.
  ///
  /// A further call with a higher `start` adds records above it.
  private func makeFile(_ path: String, above start: UInt64 = 0) throws {
    let environment = try openEnvironment(path)
    defer { EnvironmentRegistry.close(environment) }
    let bytes = [UInt8](repeating: 0xab, count: 100)
    try environment.write { transaction in
      _ = try environment.tree("r", isCreated: true, hasIntegerKeys: true, in: transaction)
    }
    let tree = try #require(try environment.openExistingTree("r", hasIntegerKeys: true))
    try environment.write { transaction in
      for id in 1...Self.recordCount where id % 7 != 0 {
        try bytes._withBytes { (bytes) throws(LMDBError) in
          try transaction.put(start + id, bytes, in: tree)
        }
      }
    }
  }

  /// The ids that a scan from `start` on meets.
  private func ids(in path: String, from start: UInt64 = 1) throws -> [UInt64] {
    let environment = try openEnvironment(path) { $0.access = .readOnly }
    defer { EnvironmentRegistry.close(environment) }
    let tree = try #require(try environment.openExistingTree("r", hasIntegerKeys: true))
    return try environment.read { (transaction) throws in
      var ids: [UInt64] = []
      let cursor = try Cursor(tree, in: transaction)
      guard try cursor.seek(atOrAfter: start) else { return [] }
      try cursor.forEachRecord { (id, bytes) throws(LMDBError) in
        #expect(bytes.count == 100)
        ids.append(id)
        return true
      }
      return ids
    }
  }

  @Test func `a scan sees a tree of many branches whole from any key`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    try makeFile(path)
    let expected = (1...Self.recordCount).filter { $0 % 7 != 0 }
    try #require(branchOffsets(in: path).count > Self.leastBranches)
    var generator = SeededGenerator(salt: 62)
    for round in 0..<42 {
      let first: UInt64 = round == 0 ? 1 : Self.recordCount
      let start = round < 2 ? first : .random(in: 1...Self.recordCount, using: &generator)
      #expect(
        try ids(in: path, from: start) == expected.filter { $0 >= start },
        "from \(start), \(SeededGenerator.replay)")
    }
  }

  /// In every branch, one child reference is changed.
  ///
  /// The reference leads to the meta page, an earlier leaf, the branch itself, a page beyond the
  /// end, or a later leaf.
  ///
  /// LMDB alone ends the process in some of these cases.
  @Test(.readsPages, arguments: [0, 1, 2, 3, 4])
  func `a branch that leads elsewhere ends the scan with an error`(_ kind: Int) throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    try makeFile(path)
    let branches = branchOffsets(in: path)
    try #require(branches.count > Self.leastBranches)
    let file = open(path, O_RDWR)
    for branch in branches {
      let earlier = child(10, ofBranchAt: branch, in: file)
      let later = child(30, ofBranchAt: branch, in: file)
      let target = [0, earlier, UInt64(branch / pageSize), 1 << 40, later][kind]
      setChild(20, ofBranchAt: branch, in: file, to: target)
    }
    close(file)
    #expect(name { _ = try ids(in: path) } == "MDB_CORRUPTED")
  }

  /// The last id of a middle leaf is replaced by an id of a later leaf, or by an id that no record
  /// has.
  @Test(arguments: [0, 1])
  func `an id that a later record has ends the scan with an error, and skips no record`(
    _ kind: Int
  ) throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    try makeFile(path)
    let file = open(path, O_RDWR)
    let branch = try #require(branchOffsets(in: path).first)
    let leaf = Int(child(12, ofBranchAt: branch, in: file)) * pageSize
    let bytes = page(leaf, of: file)
    let node = node(nodeCount(of: bytes) - 1, of: bytes)
    // An id above all ids of the leaf after; every seventh id does not exist.
    let id = (number(bytes, at: node + 8) / 7 + 20 * pageSize / 4_096) * 7 + (kind == 0 ? 1 : 0)
    let raised = [UInt8(id & 0xff), UInt8(id >> 8)]
    _ = raised._withBytes { pwrite(file, $0.baseAddress, 2, off_t(leaf + node + 8)) }
    close(file)
    #expect(name { _ = try ids(in: path) } == "MDB_CORRUPTED")
  }

  /// The page of the tree of names states another page's number, from which the start of the map
  /// would be calculated wrongly.
  @Test func `a scan does not follow a page with the number of another page`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    // The second write frees the page of names that the first one put at the file's end, and the
    // third write reuses that page.
    for write in 0..<3 { try makeFile(path, above: UInt64(write) * Self.recordCount) }
    let expected = try ids(in: path)
    let file = open(path, O_RDWR)
    let pages = stride(from: 2 * pageSize, to: size(of: path), by: pageSize)
    // The page of names has few keys, and one of them is "r".
    let names = pages.filter { offset in
      let bytes = page(offset, of: file)
      guard number(bytes, at: format.flags) == 2, nodeCount(of: bytes) < 24 else { return false }
      return bytes[node(0, of: bytes) + 8] == UInt8(ascii: "r")
    }
    // The number is the highest possible one, so the calculated start of the map is long before the
    // real one.
    let highest = size(of: path) / pageSize - 1
    try #require(names.contains { $0 / pageSize + 4_096_000 / pageSize < highest })
    for offset in names {
      _ = withUnsafeBytes(of: UInt64(highest).littleEndian) {
        pwrite(file, $0.baseAddress, 8, off_t(offset))
      }
    }
    close(file)
    // LMDB does not read this field. The scan reads it, rejects the number, and uses LMDB to move
    // from page to page.
    #expect(try ids(in: path) == expected)
  }

  // MARK: Pages as LMDB lays them out

  private func page(_ offset: Int, of file: Int32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: pageSize)
    _ = bytes._withMutableBytes { pread(file, $0.baseAddress, $0.count, off_t(offset)) }
    return bytes
  }

  private func number(_ bytes: [UInt8], at offset: Int) -> Int {
    Int(bytes[offset]) | Int(bytes[offset + 1]) << 8
  }

  /// The offsets of the branch pages with more than thirty children.
  private func branchOffsets(in path: String) -> [Int] {
    let file = open(path, O_RDONLY)
    defer { close(file) }
    return stride(from: 2 * pageSize, to: size(of: path), by: pageSize).filter { offset in
      let bytes = page(offset, of: file)
      return number(bytes, at: format.flags) == 1 && nodeCount(of: bytes) > 30
    }
  }

  private func nodeCount(of page: [UInt8]) -> Int {
    (number(page, at: format.lower) + format.origin - format.headerSize) / 2
  }

  /// The offset of the node at `index` in its page.
  private func node(_ index: Int, of page: [UInt8]) -> Int {
    number(page, at: format.slot(index)) + format.origin
  }

  private func child(_ index: Int, ofBranchAt offset: Int, in file: Int32) -> UInt64 {
    let bytes = page(offset, of: file)
    let node = node(index, of: bytes)
    return (0..<6).reduce(0) { $0 | UInt64(bytes[node + $1]) << UInt64($1 * 8) }
  }

  private func setChild(_ index: Int, ofBranchAt offset: Int, in file: Int32, to child: UInt64) {
    let node = node(index, of: page(offset, of: file))
    let bytes = (0..<6).map { UInt8(truncatingIfNeeded: child >> UInt64($0 * 8)) }
    _ = bytes._withBytes { pwrite(file, $0.baseAddress, 6, off_t(offset + node)) }
  }
}
