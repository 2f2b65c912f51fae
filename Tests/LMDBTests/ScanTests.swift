import LMDB
import LodestoreBytes
import LodestoreSystem
import Testing

/// A scan reads pages directly, and must find the same records as LMDB's own cursor.
@Suite struct ScanTests {
  private func recordTree(of environment: Environment) throws -> Tree {
    try environment.write { transaction in
      _ = try environment.tree("r", isCreated: true, hasIntegerKeys: true, in: transaction)
    }
    return try #require(try environment.openExistingTree("r", hasIntegerKeys: true))
  }

  private func scanned(_ tree: Tree, _ transaction: Transaction, from start: UInt64 = 0) throws
    -> [UInt64: [UInt8]]
  {
    let cursor = try Cursor(tree, in: transaction)
    guard try cursor.seek(atOrAfter: start) else { return [:] }
    var found: [UInt64: [UInt8]] = [:]
    var last: UInt64 = 0
    try cursor.forEachRecord { (id, bytes) throws(LMDBError) in
      #expect(id > last)
      last = id
      found[id] = Array(bytes)
      return true
    }
    return found
  }

  @Test func `a scan sees records of all sizes in reads and during writes`() throws {
    try withEnvironment { environment, _ in
      let tree = try recordTree(of: environment)
      var generator = SeededGenerator(salt: 61)
      var expected: [UInt64: [UInt8]] = [:]
      for round in 0..<8 {
        try environment.write { transaction in
          for _ in 0..<300 {
            let id = UInt64.random(in: 1...2_000, using: &generator)
            if Int.random(in: 0..<4, using: &generator) == 0 {
              try transaction.delete(id, in: tree)
              expected[id] = nil
            } else {
              // Most values are small, and some are larger than a page.
              let count =
                Int.random(in: 0..<9, using: &generator) == 0
                ? Int.random(in: 0...20_000, using: &generator)
                : Int.random(in: 0...300, using: &generator)
              let bytes = [UInt8](
                repeating: UInt8(truncatingIfNeeded: id &+ UInt64(round)), count: count)
              try bytes._withBytes { (bytes) throws(LMDBError) in
                try transaction.put(id, bytes, in: tree)
              }
              expected[id] = bytes
            }
          }
          #expect(try scanned(tree, transaction.reads) == expected, "\(SeededGenerator.replay)")
        }
        try environment.read { (transaction) throws in
          #expect(try scanned(tree, transaction) == expected, "\(SeededGenerator.replay)")
          let start = UInt64.random(in: 1...2_000, using: &generator)
          #expect(
            try scanned(tree, transaction, from: start) == expected.filter { $0.key >= start },
            "from \(start), \(SeededGenerator.replay)")
        }
      }
    }
  }

  @Test func `a scan ends at its upper bound`() throws {
    try withEnvironment { environment, _ in
      let tree = try recordTree(of: environment)
      try environment.write { transaction in
        for id in UInt64(1)...500 {
          try key(Int(id))._withBytes { (bytes) throws(LMDBError) in
            try transaction.put(id, bytes, in: tree)
          }
        }
      }
      for limit in [1, 2, 99, 499, 500] {
        let count = try environment.read { (transaction) throws -> Int in
          let cursor = try Cursor(tree, in: transaction)
          guard try cursor.first() else { return 0 }
          var count = 0
          try cursor.forEachRecord { (_, _) throws(LMDBError) in
            count += 1
            return count < limit
          }
          return count
        }
        #expect(count == limit)
      }
    }
  }

  @Test func `a page whose keys do not ascend ends the scan with an error`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let environment = try openEnvironment(path)
    let tree = try recordTree(of: environment)
    try environment.write { transaction in
      for id in 1...UInt64(pageSize / 20) {
        try [UInt8](repeating: 0xab, count: 100)._withBytes { (bytes) throws(LMDBError) in
          try transaction.put(id, bytes, in: tree)
        }
      }
    }
    EnvironmentRegistry.close(environment)
    // The test sets the last key of each leaf page of records to 1.
    var bytes = [UInt8](repeating: 0, count: size(of: path))
    let file = open(path, O_RDWR)
    defer { close(file) }
    _ = bytes._withMutableBytes { pread(file, $0.baseAddress, $0.count, 0) }
    var damagedCount = 0
    for page in stride(from: 2 * pageSize, to: bytes.count, by: pageSize) {
      func number(_ offset: Int) -> Int {
        Int(bytes[page + offset]) | Int(bytes[page + offset + 1]) << 8
      }
      let lower = format.origin + number(format.lower)
      guard number(format.flags) == 2, lower > format.slot(10), lower < pageSize else { continue }
      let node = format.origin + number(lower - 2)
      guard node + 16 < pageSize, bytes[page + node + 6] == 8, bytes[page + node + 7] == 0 else {
        continue
      }
      let one: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0]
      _ = one._withBytes { pwrite(file, $0.baseAddress, 8, off_t(page + node + 8)) }
      damagedCount += 1
    }
    try #require(damagedCount > 1)
    let damaged = try openEnvironment(path) { $0.access = .readOnly }
    defer { EnvironmentRegistry.close(damaged) }
    let records = try #require(try damaged.openExistingTree("r", hasIntegerKeys: true))
    #expect(
      name {
        try damaged.read { (transaction) throws in _ = try scanned(records, transaction) }
      } == "MDB_CORRUPTED")
  }
}
