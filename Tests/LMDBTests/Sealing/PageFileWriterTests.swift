import LodestoreBytes
import LodestoreSystem
import Testing

@testable import LMDB

/// Files of pages that are written without LMDB, and read with it.
@Suite("The writer of page files")
struct PageFileWriterTests {
  private typealias Pair = (key: [UInt8], value: [UInt8])

  private struct SourceTree {
    var name: String
    var hasIntegerKeys = false
    var pairs: [Pair] = []
  }

  private func write(_ trees: [SourceTree], to path: String) throws -> PageFileWriter.Written {
    let file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
    defer { close(file) }
    var writer = try PageFileWriter(descriptor: file)
    for tree in trees {
      try writer.beginTree(tree.name, hasIntegerKeys: tree.hasIntegerKeys)
      for pair in tree.pairs {
        try pair.key._withBytes { key in
          try pair.value._withBytes { try writer.add(key, $0) }
        }
      }
    }
    return try writer.finish()
  }

  /// The trees as LMDB, or this package's pages in its place, reads them.
  private func read(_ path: String, _ trees: [SourceTree], inPages: Bool) throws -> [[Pair]] {
    var options = EnvironmentOptions()
    options.access = .readOnly
    options.usesPlainEngine = !inPages
    let file = open(path, O_RDONLY)
    defer { close(file) }
    let environment =
      inPages
      ? try Environment.openInPages(file, as: path, options: options)
      : try Environment.openUnshared(file, as: path, options: options)
    defer { environment.shutDown() }
    return try trees.map { tree in
      let opened = try #require(
        try environment.openExistingTree(tree.name, hasIntegerKeys: tree.hasIntegerKeys))
      return try environment.read { transaction in
        #expect(try transaction.count(of: opened) == tree.pairs.count)
        // Each key is searched from the root, and the pairs are walked in order.
        for pair in tree.pairs {
          let value = try transaction.get(pair.key, in: opened)
          #expect(value.map { Array($0) } == pair.value)
        }
        var pairs: [Pair] = []
        let cursor = try Cursor(opened, in: transaction)
        var isThere = try cursor.first()
        while isThere {
          pairs.append((Array(cursor.key), Array(cursor.value)))
          isThere = try cursor.next()
        }
        return pairs
      }
    }
  }

  private func check(_ trees: [SourceTree], _ label: String) throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("file")
    let written = try write(trees, to: path)
    for commit in [PageChecker.Commit.newest, .previous] {
      let report = try PageChecker.check(path: path, commit: commit)
      #expect(report.findings == [], "\(label)")
      #expect(report.fileSizeInBytes == Int(written.byteCount))
      #expect(report.pageCount * PageFileWriter.pageSize == Int(written.byteCount))
      #expect(report.freePageCount == 0)
      #expect(report.trees.map(\.name) == trees.map(\.name).sorted())
    }
    for inPages in PageFormat.ofEngine == .lmdb09 ? [false, true] : [true] {
      let found = try read(path, trees, inPages: inPages)
      for (found, tree) in zip(found, trees) {
        let isEqual = found.elementsEqual(tree.pairs) { $0.key == $1.key && $0.value == $1.value }
        #expect(isEqual, "\(label), \(tree.name), in pages: \(inPages)")
      }
    }
    var verity = VerityTree()
    contents(of: path)._withBytes { verity.update($0) }
    verity.finish()
    #expect(verity.digest == written.verityDigest, "\(label)")
    #expect(verity.frameDigests == written.frameDigests, "\(label)")
    #expect(try write(trees, to: directory.file("again")).verityDigest == written.verityDigest)
  }

  private func tree(
    _ name: String, _ count: Int, keys: ClosedRange<Int>, values: ClosedRange<Int>,
    _ random: inout SeededGenerator
  ) -> SourceTree {
    var pairs: [[UInt8]: [UInt8]] = [:]
    while pairs.count < count {
      let key = (0..<Int.random(in: keys, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      pairs[key] = [UInt8](
        repeating: UInt8.random(in: 0...255, using: &random),
        count: Int.random(in: values, using: &random))
    }
    let sorted = pairs.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    return SourceTree(name: name, pairs: sorted.map { ($0.key, $0.value) })
  }

  @Test func `LMDB and the page reader read a written file, whatever its pairs`() throws {
    var random = SeededGenerator(salt: 44_001)
    for round in 0..<SeededGenerator.caseCount(byDefault: 6) {
      var trees = [SourceTree(name: "empty"), SourceTree(name: "ids", hasIntegerKeys: true)]
      var id: UInt64 = 0
      for _ in 0..<[0, 1, 200, 5_000][round % 4] {
        id += UInt64.random(in: 1...300, using: &random)
        let count = Int.random(in: 0...120, using: &random)
        trees[1].pairs.append(
          (withUnsafeBytes(of: id) { Array($0) }, [UInt8](repeating: UInt8(count), count: count)))
      }
      trees.append(tree("short", 3_000, keys: 2...20, values: 0...16, &random))
      trees.append(tree("long keys", 300, keys: 500...511, values: 0...0, &random))
      trees.append(tree("long values", 60, keys: 4...30, values: 1_900...20_000, &random))
      if round == 3 {
        trees += (0..<400).map { SourceTree(name: "many \($0)", pairs: [([1], [2])]) }
      }
      try check(trees, "round \(round), \(SeededGenerator.replay)")
    }
  }

  /// LMDB puts a node of more than 2,038 bytes into overflow pages.
  ///
  /// The sizes are around that limit, and around the ends of such pages.
  @Test func `the writer stores values in the places where LMDB stores them`() throws {
    var tree = SourceTree(name: "t")
    let counts = [
      0, 1, 2, 2_020, 2_021, 2_022, 2_023, 2_024, 4_079, 4_080, 4_081, 8_175, 8_176, 8_177, 100_000,
    ]
    for (index, count) in counts.enumerated() {
      tree.pairs.append((key(index), [UInt8](repeating: UInt8(index + 1), count: count)))
    }
    try check([tree], "sizes")
    guard PageFormat.ofEngine == .lmdb09, pageSize == PageFileWriter.pageSize else { return }
    let directory = try TemporaryDirectory()
    _ = try write([tree], to: directory.file("ours"))
    let environment = try openEnvironment(directory.file("theirs"))
    defer { EnvironmentRegistry.close(environment) }
    let opened = try openedTree(of: environment)
    try environment.write { transaction in
      for pair in tree.pairs { try transaction.put(pair.key, pair.value, in: opened) }
    }
    let ours = try PageChecker.check(path: directory.file("ours")).trees[0]
    let theirs = try PageChecker.check(path: directory.file("theirs")).trees[0]
    #expect(ours.overflowPages == theirs.overflowPages)
    #expect(ours.entries == theirs.entries)
  }

  @Test func `the writer fills the space without pairs with zeros`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("file")
    var tree = SourceTree(name: "t")
    for number in 0..<2_000 {
      let value = [UInt8](repeating: 0xEE, count: number % 90 == 0 ? 5_001 : number % 77)
      tree.pairs.append((key(number), value))
    }
    _ = try write([tree], to: path)
    let bytes = contents(of: path)
    func word(_ offset: Int) -> Int { Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 }
    var page = 2 * PageFileWriter.pageSize
    var gaps = (leaves: 0, runs: 0)
    while page < bytes.count {
      let isRun = word(page + 10) == Int(PageFlag.overflow)
      let gap =
        isRun
        ? page + 16 + 5_001..<page + 2 * PageFileWriter.pageSize
        : page + word(page + 12)..<page + word(page + 14)
      #expect(bytes[gap].allSatisfy { $0 == 0 })
      if isRun { gaps.runs += 1 } else { gaps.leaves += 1 }
      page += (isRun ? 2 : 1) * PageFileWriter.pageSize
    }
    #expect(gaps.runs == 23)
    #expect(gaps.leaves > 20)
  }

  @Test func `the writer refuses pairs that no tree can have`() throws {
    let directory = try TemporaryDirectory()
    func failure(_ pairs: [Pair], hasIntegerKeys: Bool = false) -> PageWriteError? {
      let tree = SourceTree(name: "t", hasIntegerKeys: hasIntegerKeys, pairs: pairs)
      do {
        _ = try write([tree], to: directory.file("file"))
        return nil
      } catch { return error as? PageWriteError }
    }
    #expect(failure([([1], []), ([1], [])]) == .keyOrder(tree: "t"))
    #expect(failure([([2], []), ([1], [])]) == .keyOrder(tree: "t"))
    #expect(failure([([], [])]) == .keyLength(tree: "t", byteCount: 0))
    #expect(
      failure([([UInt8](repeating: 1, count: 512), [])]) == .keyLength(tree: "t", byteCount: 512))
    #expect(failure([([1], [])], hasIntegerKeys: true) == .keyLength(tree: "t", byteCount: 1))
    let trees = [SourceTree(name: "t"), SourceTree(name: "t")]
    #expect(throws: PageWriteError.treeTwice("t")) {
      try write(trees, to: directory.file("file"))
    }
  }
}
