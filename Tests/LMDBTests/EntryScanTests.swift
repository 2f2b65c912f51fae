import LMDB
import LodestoreBytes
import Testing

/// Entries read from the pages in the map must equal those of LMDB's own cursor.
@Suite struct EntryScanTests {
  private struct Pair: Equatable {
    var key: [UInt8]
    var value: [UInt8]
  }

  private func stepped(
    _ range: KeyRange, _ backwards: Bool, _ tree: Tree, _ transaction: Transaction
  ) throws -> [Pair] {
    var found: [Pair] = []
    try Cursor(tree, in: transaction).walk(range, backwards: backwards) { key, value in
      found.append(Pair(key: Array(key), value: Array(value)))
      return true
    }
    return found
  }

  private func scanned(
    _ range: KeyRange, _ backwards: Bool, _ tree: Tree, _ transaction: Transaction,
    limit: Int = .max
  ) throws -> [Pair] {
    var found: [Pair] = []
    let cursor = try Cursor(tree, in: transaction)
    try cursor.forEachEntry(in: range, backwards: backwards) { (key, value) throws(LMDBError) in
      found.append(Pair(key: Array(key), value: Array(value)))
      return found.count < limit
    }
    return found
  }

  @Test func `entries of every range agree with those of a walk, in reads and during writes`()
    throws
  {
    var random = SeededGenerator(salt: 65)
    func randomKey() -> [UInt8] {
      (0..<Int.random(in: 1...9, using: &random)).map { _ in UInt8.random(in: 0...6, using: &random)
      }
    }
    func bound() -> KeyRange.Bound {
      switch Int.random(in: 0..<5, using: &random) {
      case 0: .unbounded
      case 1, 2: .included(randomKey())
      default: .excluded(randomKey())
      }
    }
    try withEnvironment { environment, tree in
      for _ in 0..<3 {
        try environment.write { transaction in
          for _ in 0..<1_500 {
            // A few values are so long that they are on overflow pages.
            let count =
              Int.random(in: 0..<200, using: &random) == 0
              ? 9_000 : Int.random(in: 0...20, using: &random)
            try randomKey()._withBytes { (key) throws(LMDBError) in
              try [UInt8](repeating: UInt8(key.count), count: count)._withBytes {
                (value) throws(LMDBError) in try transaction.put(key, value, in: tree)
              }
            }
          }
          #expect(
            try scanned(KeyRange(), false, tree, transaction.reads)
              == stepped(KeyRange(), false, tree, transaction.reads), "\(SeededGenerator.replay)")
        }
        try environment.read { (transaction) throws in
          for number in 0..<60 {
            let range = number == 0 ? KeyRange() : KeyRange(lower: bound(), upper: bound())
            for backwards in [false, true] {
              let expected = try stepped(range, backwards, tree, transaction)
              #expect(
                try scanned(range, backwards, tree, transaction) == expected,
                "\(range), \(backwards), \(SeededGenerator.replay)")
              let limit = Int.random(in: 1...300, using: &random)
              #expect(
                try scanned(range, backwards, tree, transaction, limit: limit)
                  == Array(expected.prefix(limit)),
                "\(limit) of \(range), \(backwards), \(SeededGenerator.replay)")
            }
          }
        }
      }
    }
  }

  @Test(.readsPages) func `records are found wherever they are, and no others`() throws {
    var random = SeededGenerator(salt: 66)
    try withEnvironment { environment, _ in
      try environment.write { transaction in
        _ = try environment.tree("r", isCreated: true, hasIntegerKeys: true, in: transaction)
      }
      let tree = try #require(try environment.openExistingTree("r", hasIntegerKeys: true))
      try environment.read { (transaction) throws in
        #expect(try RecordFinder(tree, in: transaction) == nil)
      }
      try environment.write { transaction in
        // The first half of the ids has no gaps, and the second half has gaps.
        for id in UInt64(1)...6_000 where id < 3_000 || Bool.random(using: &random) {
          let count =
            Int.random(in: 0..<100, using: &random) == 0
            ? 5_000 : Int.random(in: 0...300, using: &random)
          try [UInt8](repeating: UInt8(truncatingIfNeeded: id), count: count)._withBytes {
            (bytes) throws(LMDBError) in try transaction.put(id, bytes, in: tree)
          }
        }
        #expect(try RecordFinder(tree, in: transaction.reads) == nil)
      }
      try environment.read { (transaction) throws in
        var finder = try #require(try RecordFinder(tree, in: transaction))
        var inPagesCount = 0
        for round in 0..<80 {
          let most = round % 2 == 0 ? UInt64(7_000) : 400
          var ids = (0..<Int.random(in: 0...50, using: &random)).map { _ in
            UInt64.random(in: 0...most, using: &random)
          }
          if round % 3 > 0 { ids.sort() }
          var found = [ByteView](repeating: ByteView(), count: ids.count)
          finder.find(ids, &found)
          for (id, bytes) in zip(ids, found) {
            let stored = try transaction.get(id, in: tree)
            if bytes.baseAddress != nil {
              inPagesCount += 1
              #expect(stored.map { Array($0) } == Array(bytes), "\(id), \(SeededGenerator.replay)")
            } else {
              // The record is missing, or its value is on overflow pages.
              #expect((stored?.count ?? 5_000) == 5_000, "\(id), \(SeededGenerator.replay)")
            }
          }
        }
        #expect(inPagesCount > 500)
      }
    }
  }

  @Test(.readsPages) func `single records are found however unevenly their ids grow`() throws {
    var random = SeededGenerator(salt: 67)
    for spread in [UInt64(1), 2, 1 << 20, 1 << 50] {
      var ids: [UInt64] = []
      var last: UInt64 = 0
      for index in 0..<5_000 {
        // The ids alternate between consecutive runs and random gaps.
        last += index / 700 % 2 == 0 ? 1 : UInt64.random(in: 1...spread, using: &random)
        ids.append(last)
      }
      ids.append(.max)
      try withEnvironment { environment, _ in
        try environment.write { transaction in
          let tree = try #require(
            try environment.tree("r", isCreated: true, hasIntegerKeys: true, in: transaction))
          for id in ids {
            try [UInt8](repeating: UInt8(truncatingIfNeeded: id), count: 60)._withBytes {
              (bytes) throws(LMDBError) in try transaction.put(id, bytes, in: tree)
            }
          }
        }
        let tree = try #require(try environment.openExistingTree("r", hasIntegerKeys: true))
        try environment.read { (transaction) throws in
          var finder = try #require(try RecordFinder(tree, in: transaction))
          for id in ids {
            #expect(finder.find(id).first == UInt8(truncatingIfNeeded: id), "\(id)")
            for other in [id &- 1, id &+ 1] {
              let isThere = try transaction.get(other, in: tree) != nil
              #expect((finder.find(other).baseAddress != nil) == isThere, "\(other)")
            }
          }
          for id in [0, last + 1, UInt64.max - 1] { #expect(finder.find(id).baseAddress == nil) }
        }
      }
    }
  }
}
