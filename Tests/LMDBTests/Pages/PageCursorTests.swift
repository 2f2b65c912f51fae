import LodestoreBytes
import LodestoreSystem
import Testing

@testable import LMDB
@testable import LodestorePages

/// Reading trees without LMDB, compared with LMDB's own cursor.
@Suite struct PageCursorTests {
  /// The numbers of pairs: none, one, one page, a few pages, three levels and more.
  private static let counts = [0, 1, 5, 60, 800, 5_000]

  @Test(arguments: [true, false])
  func `a cursor in the pages moves as LMDB's cursor does`(
    hasIntegerKeys: Bool
  ) throws {
    var random = SeededGenerator(salt: hasIntegerKeys ? 4_310 : 4_311)
    for round in 0..<SeededGenerator.caseCount(byDefault: 24) {
      let count = Self.counts[round % Self.counts.count]
      let trial = RandomTree(hasIntegerKeys, count)
      try trial.with(&random) { environment, tree, path, random in
        let snapshot = try PageSnapshot(newestOf: PageMap(PageFile(path: path)))
        let pages = try #require(try snapshot.tree("t"))
        try environment.read { transaction in
          #expect(try transaction.count(of: tree) == Int(pages.record.entries))
          let cursors = (try Cursor(tree, in: transaction), pages.cursor())
          for _ in 0..<600 {
            let difference = try trial.move(cursors, pages, &random)
            try #require(difference == nil, "\(difference ?? ""), \(SeededGenerator.replay)")
          }
        }
      }
    }
  }

  @Test(arguments: [true, false])
  func `no damage of pages ends the process and every search ends`(hasIntegerKeys: Bool) throws {
    var random = SeededGenerator(salt: hasIntegerKeys ? 4_312 : 4_313)
    var outcomes = (answers: 0, errors: 0)
    let trial = RandomTree(hasIntegerKeys, 1_500)
    try trial.with(&random) { _, _, path, random in
      let whole = contents(of: path)
      let damaged = path + "-damaged"
      for _ in 0..<SeededGenerator.caseCount(byDefault: 60) {
        write(Self.damaged(whole, &random), to: damaged)
        do {
          try trial.search(damaged, &random)
          outcomes.answers += 1
        } catch {
          outcomes.errors += 1
        }
      }
      unlink(damaged)
    }
    #expect(outcomes.errors > 0)
  }

  /// The file with some bytes changed, or with pages replaced by others.
  private static func damaged(
    _ whole: [UInt8], _ random: inout SeededGenerator
  ) -> [UInt8] {
    var bytes = whole
    let pages = whole.count / pageSize
    for _ in 0...Int.random(in: 0...5, using: &random) {
      let start = Int.random(in: 2..<pages, using: &random) * pageSize
      switch Int.random(in: 0..<5, using: &random) {
      case 0:
        let other = Int.random(in: 2..<pages, using: &random) * pageSize
        // The page gets the content of another page, but keeps its number.
        bytes.replaceSubrange(
          (start + 8)..<(start + pageSize), with: whole[(other + 8)..<(other + pageSize)])
      case 1:
        bytes[start + Int.random(in: 0..<64, using: &random)] = .random(in: 0...255, using: &random)
      case 2:
        let header = start + pageSize - Int.random(in: 2...400, using: &random)
        for place in header..<(header + 2) { bytes[place] = .random(in: 0...255, using: &random) }
      case 3:
        bytes.replaceSubrange(start..<(start + pageSize), with: repeatElement(0, count: pageSize))
      default:
        bytes[Int.random(in: start..<(start + pageSize), using: &random)] ^=
          1 << UInt8.random(in: 0..<8, using: &random)
      }
    }
    if Int.random(in: 0..<8, using: &random) == 0 {
      bytes.removeLast(Int.random(in: 0..<(bytes.count - 2 * pageSize), using: &random))
    }
    return bytes
  }
}

/// A tree of random pairs, some of them removed again, in which two cursors make random moves.
private struct RandomTree {
  let hasIntegerKeys: Bool
  let count: Int

  init(_ hasIntegerKeys: Bool, _ count: Int) {
    self.hasIntegerKeys = hasIntegerKeys
    self.count = count
  }

  func with(
    _ random: inout SeededGenerator,
    _ body: (Environment, Tree, String, inout SeededGenerator) throws -> Void
  ) throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let options = EnvironmentOptions { $0.durability = .mayLoseLastCommit }
    let environment = try EnvironmentRegistry.open(path, options: options) { _ in }
    defer { EnvironmentRegistry.close(environment) }
    let sizes = [0, 3, 50, 900, 3_000, 20_000]
    try environment.write { transaction in
      let tree = try environment.tree(
        "t", isCreated: true, hasIntegerKeys: hasIntegerKeys, in: transaction)
      guard let tree else { return }
      for _ in 0..<count {
        let isLong = Int.random(in: 0..<20, using: &random) == 0
        let size = sizes[Int.random(in: 0..<(isLong ? 6 : 4), using: &random)]
        let byte = UInt8.random(in: 0...255, using: &random)
        try transaction.put(
          key(&random), [UInt8](repeating: byte, count: size), in: tree)
      }
      for _ in 0..<(count / 3) {
        let removed = key(&random)
        let cursor = try WritingCursor(tree, in: transaction)
        let isFound = try removed._withBytes { (bytes) throws(LMDBError) in
          try cursor.reads.seek(atOrAfter: bytes)
        }
        if isFound { try cursor.delete() }
      }
    }
    let tree = try #require(
      try environment.openExistingTree("t", hasIntegerKeys: hasIntegerKeys))
    try body(environment, tree, path, &random)
  }

  private func key(_ random: inout SeededGenerator) -> [UInt8] {
    if hasIntegerKeys {
      let id = UInt64.random(in: 0...UInt64(3 * count), using: &random)
      return withUnsafeBytes(of: id) { Array($0) }
    }
    let longest = [8, 24, 511][Int.random(in: 0..<3, using: &random)]
    return (0..<Int.random(in: 1...longest, using: &random)).map {
      UInt8.random(in: $0 < 3 ? 0...3 : 0...255, using: &random)
    }
  }

  /// Moves both cursors in the same way; returns the move after which they differ.
  func move(
    _ cursors: (lmdb: Cursor, pages: PageCursor), _ tree: PageTree,
    _ random: inout SeededGenerator
  ) throws -> String? {
    let kind = Int.random(in: 0..<14, using: &random)
    var key = key(&random)
    let isFound: Bool
    let pair: PagePair?
    switch kind {
    case 0: (isFound, pair) = (try cursors.lmdb.first(), try cursors.pages.first())
    case 1: (isFound, pair) = (try cursors.lmdb.last(), try cursors.pages.last())
    case 2...5: (isFound, pair) = (try cursors.lmdb.next(), try cursors.pages.next())
    case 6...9: (isFound, pair) = (try cursors.lmdb.previous(), try cursors.pages.previous())
    default:
      if kind > 11, count > 0, try key._withBytes({ try cursors.lmdb.seek(atOrAfter: $0) }) {
        // The key of the last move exists, so a look-up must find it.
        key = Array(cursors.lmdb.key)
        let found = try key._withBytes { try tree.pages?.pair(of: $0) }
        if found?.value.baseAddress == nil { return "a look-up of \(key) finds nothing" }
      }
      let isExact = kind > 10
      (isFound, pair) = try key._withBytes { key in
        isExact
          ? (try cursors.lmdb.seek(key), try cursors.pages.seek(key))
          : (try cursors.lmdb.seek(atOrAfter: key), try cursors.pages.seek(atOrAfter: key))
      }
    }
    let isSame =
      isFound == (pair != nil)
      && (pair.map {
        cursors.lmdb.key.elementsEqual($0.key) && cursors.lmdb.value.elementsEqual($0.value)
      } ?? true)
    return isSame ? nil : "\(count) pairs, move \(kind), key \(key)"
  }

  /// Calls every function that reads pages, on a file that may be damaged.
  func search(_ path: String, _ random: inout SeededGenerator) throws {
    let file = open(path, O_RDONLY)
    defer { close(file) }
    let options = EnvironmentOptions { $0.access = .readOnly }
    let environment = try Environment.openInPages(file, as: path, options: options)
    defer { environment.shutDown() }
    guard let tree = try environment.openExistingTree("t", hasIntegerKeys: hasIntegerKeys) else {
      return
    }
    let keys = (0..<50).map { _ in key(&random) }
    try environment.read { transaction in
      var failure: (any Error)?
      func attempt(_ body: (Cursor) throws -> Void) {
        do { try body(Cursor(tree, in: transaction)) } catch { failure = error }
      }
      attempt { cursor in while try cursor.next() { _ = cursor.value.last } }
      attempt { cursor in while try cursor.previous() { _ = cursor.value.last } }
      for key in keys {
        attempt { _ in _ = try transaction.get(key, in: tree)?.last }
        attempt { cursor in _ = try key._withBytes { try cursor.seek(atOrAfter: $0) } }
      }
      if hasIntegerKeys {
        attempt { cursor in
          if try cursor.first() {
            try cursor.forEachRecord(readsWhole: true) { _, bytes in
              bytes.last != 1 || !bytes.isEmpty
            }
          }
        }
        attempt { cursor in if try cursor.first() { _ = try cursor.skip(700) } }
        attempt { _ in
          var finder = try RecordFinder(tree, in: transaction)
          for id in 0..<UInt64(count) { _ = finder?.find(id).last }
        }
      } else {
        attempt { cursor in try cursor.forEachEntry(in: KeyRange()) { key, _ in !key.isEmpty } }
        attempt { cursor in
          try cursor.forEachEntry(in: KeyRange(), backwards: true) { key, _ in !key.isEmpty }
        }
        for key in keys {
          attempt { _ in
            _ = try transaction.estimatedCount(of: tree, within: KeyRange(lower: .included(key)))
          }
        }
      }
      attempt { _ in _ = try transaction.freePageCount() }
      if let failure { throw failure }
    }
  }
}
