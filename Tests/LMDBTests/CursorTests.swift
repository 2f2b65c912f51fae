import LMDB
import LodestoreBytes
import Testing

@Suite struct CursorTests {
  private func keys(
    _ range: KeyRange, backwards: Bool, _ tree: Tree, _ environment: Environment
  ) throws -> [[UInt8]] {
    try environment.read { transaction in
      var keys: [[UInt8]] = []
      try Cursor(tree, in: transaction).walk(range, backwards: backwards) { key, _ in
        keys.append(Array(key))
        return true
      }
      return keys
    }
  }

  @Test(arguments: [false, true])
  func `a prefix that ends in 255 holds exactly its keys`(backwards: Bool) throws {
    try withEnvironment { environment, tree in
      try put(
        [[1, 254], [1, 255], [1, 255, 0], [1, 255, 255], [2], [2, 0]], into: tree, of: environment)
      let expected: [[UInt8]] = [[1, 255], [1, 255, 0], [1, 255, 255]]
      #expect(
        try keys(.prefix([1, 255]), backwards: backwards, tree, environment)
          == (backwards ? expected.reversed() : expected))
    }
  }

  @Test(arguments: [false, true])
  func `a prefix of nothing but 255 reaches the end`(backwards: Bool) throws {
    try withEnvironment { environment, tree in
      try put([[254, 255], [255], [255, 255], [255, 255, 255]], into: tree, of: environment)
      let expected: [[UInt8]] = [[255, 255], [255, 255, 255]]
      #expect(
        try keys(.prefix([255, 255]), backwards: backwards, tree, environment)
          == (backwards ? expected.reversed() : expected))
    }
  }

  @Test func `an empty tree has no positions`() throws {
    try withEnvironment { environment, tree in
      try environment.read { transaction in
        let cursor = try Cursor(tree, in: transaction)
        #expect(try !cursor.first())
        #expect(try !cursor.last())
        #expect(try !cursor.next())
        #expect(try !cursor.previous())
        #expect(try !cursor.seek(atOrAfter: [0].span()))
        #expect(try !cursor.seek(before: [255].span()))
        #expect(cursor.key.isEmpty && cursor.value.isEmpty)
      }
    }
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `every kind of range agrees with that of a sorted array`(salt: UInt64) throws {
    var random = SeededGenerator(salt: salt)
    func randomKey() -> [UInt8] {
      (0..<Int.random(in: 1...3, using: &random)).map { _ in
        [0, 1, 127, 254, 255].randomElement(using: &random) ?? 0
      }
    }
    try withEnvironment { environment, tree in
      let all = Set((0..<60).map { _ in randomKey() }).sorted { $0.lexicographicallyPrecedes($1) }
      try put(all, into: tree, of: environment)
      for _ in 0..<200 {
        func bound() -> KeyRange.Bound {
          switch Int.random(in: 0..<5, using: &random) {
          case 0: .unbounded
          case 1: .included([])
          case 2, 3: .included(randomKey())
          default: .excluded(Bool.random(using: &random) ? randomKey() : [])
          }
        }
        let range = KeyRange(lower: bound(), upper: bound())
        let expected = all.filter { key in
          let isAbove =
            switch range.lower {
            case .unbounded: true
            case .included(let bound): !key.lexicographicallyPrecedes(bound)
            case .excluded(let bound): bound.lexicographicallyPrecedes(key)
            }
          let isBelow =
            switch range.upper {
            case .unbounded: true
            case .included(let bound): !bound.lexicographicallyPrecedes(key)
            case .excluded(let bound): key.lexicographicallyPrecedes(bound)
            }
          return isAbove && isBelow
        }
        #expect(
          try keys(range, backwards: false, tree, environment) == expected,
          "\(range), \(SeededGenerator.replay)")
        #expect(
          try keys(range, backwards: true, tree, environment) == expected.reversed(),
          "\(range) backwards, \(SeededGenerator.replay)")
      }
    }
  }

  @Test func `a deleted pair is followed by its neighbour`() throws {
    try withEnvironment { environment, tree in
      try put((0..<500).map(key), into: tree, of: environment)
      try environment.write { transaction in
        let cursor = try WritingCursor(tree, in: transaction)
        var seen: [Int] = []
        var found = try cursor.reads.first()
        while found {
          seen.append(number(cursor.reads.key))
          if (seen.last ?? 0) % 3 == 0 { try cursor.delete() }
          found = try cursor.reads.next()
        }
        #expect(seen == Array(0..<500))
        #expect(try transaction.count(of: tree) == 333)
      }
    }
  }

  /// LMDB 1.0 reads a cursor's transaction when it closes the cursor.
  @Test func `a cursor that outlives its read is closed when the transaction ends`() async throws {
    await #expect(processExitsWith: .success) {
      try withEnvironment { environment, tree in
        try put([[1], [2]], into: tree, of: environment)
        // There are more reads than the environment keeps for reuse, so LMDB frees the transactions
        // of the last ones.
        let reads = try (0..<80).map { _ in try environment.beginRead() }
        var cursors = try reads.map { read in
          let cursor = try Cursor(tree, in: environment.transaction(of: read))
          guard try cursor.first() else { fail("the tree is empty") }
          return cursor
        }
        for read in reads { environment.endRead(read) }
        // The freed memory is overwritten with other bytes, so that a use of a freed transaction
        // shows.
        let others = (0..<800).map { _ in [UInt8](repeating: 0xaa, count: 16_000) }
        cursors.removeAll()
        guard others.allSatisfy({ $0.last == 0xaa }) else { fail("other bytes were changed") }
        let count = try environment.read { try $0.count(of: tree) }
        guard count == 2, try environment.info.usedReaderSlotCount <= 82 else {
          fail("\(count) entries")
        }
      }
    }
  }

  @Test func `a cursor that outlives its write is refused and freed once`() throws {
    struct Stop: Error {}
    try withEnvironment { environment, tree in
      try put([[1]], into: tree, of: environment)
      for commits in [true, false] {
        var kept: [WritingCursor] = []
        try? environment.write { transaction in
          kept = try (0..<8).map { _ in try WritingCursor(tree, in: transaction) }
          #expect(try kept[0].reads.first())
          if !commits { throw Stop() }
        }
        #expect(name { _ = try kept[0].reads.first() } == "MDB_BAD_TXN")
        #expect(name { try kept[0].put([1].span(), [2].span()) } == "MDB_BAD_TXN")
        kept = []
      }
      try put([[2]], into: tree, of: environment)
    }
  }

  @Test func `integer keys take eight bytes and refuse other lengths`() throws {
    try withEnvironment { environment, _ in
      let tree = try environment.write { transaction in
        try #require(
          try environment.tree("n", isCreated: true, hasIntegerKeys: true, in: transaction))
      }
      try environment.write { transaction in
        for number in (1...300 as ClosedRange<UInt64>).reversed() {
          try transaction.put(number, [1].span(), in: tree)
        }
        #expect(kind { try transaction.put([1, 2, 3], [], in: tree) } == .keySize(3))
        #expect(try transaction.get([1, 2, 3], in: tree) == nil)
        let cursor = try Cursor(tree, in: transaction)
        #expect(try cursor.seek(atOrAfter: 299))
        #expect(cursor.integerKey == 299)
        #expect(try cursor.last())
        #expect(cursor.integerKey == 300)
      }
      #expect(
        name { _ = try environment.openExistingTree("n", hasIntegerKeys: false) }
          == "MDB_INCOMPATIBLE")
    }
  }
}

extension [UInt8] {
  private static let kept = SharedBuffers()

  /// A copy of the bytes that lives as long as the process, for a few bytes.
  func span() -> ByteView { Self.kept.copy(self) }
}
