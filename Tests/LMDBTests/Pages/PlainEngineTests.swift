import LodestoreBytes
import Testing

@testable import LMDB

/// One file is read with LMDB's functions alone, and with pages read by this package.
@Suite struct PlainEngineTests {
  /// Records of all sizes with gaps between their ids, and a tree of byte keys.
  private func makeFile(_ path: String) throws {
    var random = SeededGenerator(salt: 71)
    let environment = try openEnvironment(path)
    defer { EnvironmentRegistry.close(environment) }
    try environment.write { transaction in
      _ = try environment.tree("r", isCreated: true, hasIntegerKeys: true, in: transaction)
      _ = try environment.tree("t", isCreated: false, hasIntegerKeys: false, in: transaction)
    }
    let records = try #require(try environment.openExistingTree("r", hasIntegerKeys: true))
    let entries = try openedTree(of: environment)
    try environment.write { transaction in
      for id in UInt64(1)...3_000 where !id.isMultiple(of: 5) {
        let size = id.isMultiple(of: 97) ? 70_000 : Int.random(in: 0...900, using: &random)
        try [UInt8](repeating: UInt8(truncatingIfNeeded: id), count: size)._withBytes {
          (bytes) throws(LMDBError) in try transaction.put(id, bytes, in: records)
        }
        try transaction.put(key(Int(id)), [UInt8](repeating: 1, count: size % 40), in: entries)
      }
    }
  }

  private func open(_ path: String, isPlain: Bool) throws -> Environment {
    try openEnvironment(path) {
      $0.usesPlainEngine = isPlain
      $0.mapSizeInBytes = 1 << 28
    }
  }

  /// Everything that the file holds, as scans in both directions show it.
  private func contents(_ path: String, isPlain: Bool) throws -> [[UInt8]] {
    let environment = try open(path, isPlain: isPlain)
    defer { EnvironmentRegistry.close(environment) }
    let records = try #require(try environment.openExistingTree("r", hasIntegerKeys: true))
    let entries = try openedTree(of: environment)
    return try environment.read { (transaction) throws in
      #expect((try RecordFinder(records, in: transaction) == nil) == !environment.readsPages)
      var found: [[UInt8]] = []
      let cursor = try Cursor(records, in: transaction)
      guard try cursor.first() else { return [] }
      try cursor.forEachRecord { (id, bytes) throws(LMDBError) in
        found.append(key(Int(id)) + Array(bytes))
        return true
      }
      for backwards in [false, true] {
        let range = KeyRange(lower: .included(key(100)), upper: .excluded(key(2_900)))
        let cursor = try Cursor(entries, in: transaction)
        try cursor.forEachEntry(in: range, backwards: backwards) {
          (key, value) throws(LMDBError) in
          found.append(Array(key) + Array(value))
          return true
        }
      }
      return found
    }
  }

  @Test func `the plain engine and the other one find equal results`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    try makeFile(path)
    let plain = try contents(path, isPlain: true)
    #expect(plain.count == 2_400 + 2 * 2_240)
    #expect(try contents(path, isPlain: false) == plain)
  }

  @Test func `records are changed in place only if the engine is known`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    try makeFile(path)
    for isPlain in [true, false] {
      let environment = try open(path, isPlain: isPlain)
      defer { EnvironmentRegistry.close(environment) }
      let records = try #require(try environment.openExistingTree("r", hasIntegerKeys: true))
      try environment.write { transaction in
        let cursor = try WritingCursor(records, in: transaction)
        #expect(try cursor.reads.seek(7))
        let before = Array(cursor.reads.value)
        let bytes = try cursor.changeableCurrent()
        #expect((bytes == nil) == !environment.readsPages)
        if let bytes { #expect(Array(bytes) == before) }
        #expect(try cursor.reads.seek(97))
        #expect(try cursor.changeableCurrent() == nil)
      }
    }
  }

  @Test func `estimates by counting are exact near either end and close elsewhere`()
    throws
  {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    try makeFile(path)
    let environment = try open(path, isPlain: true)
    defer { EnvironmentRegistry.close(environment) }
    let tree = try openedTree(of: environment)
    func estimate(_ lower: Int?, _ upper: Int?) throws -> Int {
      let range = KeyRange(
        lower: lower.map { .included(key($0)) } ?? .unbounded,
        upper: upper.map { .excluded(key($0)) } ?? .unbounded)
      return try environment.read { try $0.estimatedCount(of: tree, within: range) }
    }
    #expect(try estimate(nil, nil) == 2_400)
    #expect(try estimate(501, 601) == 80)
    #expect(try estimate(nil, 101) == 80)
    #expect(try estimate(101, nil) == 2_320)
    #expect(try estimate(101, 2_901) == 2_240)
    #expect(try estimate(601, 501) == 0)
    let middle = try estimate(1_001, 2_001)
    #expect(middle >= 256 && middle <= 1_888, "\(middle)")
    let half = try estimate(nil, 1_501)
    #expect(half == 1_200)
  }
}
