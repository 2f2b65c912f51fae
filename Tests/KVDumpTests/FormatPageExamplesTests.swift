import LodestoreBytes
import Testing

@testable import LodestorePages

/// The examples of Format.md, "LMDB's pages", that are parts of pages of LMDB 0.9.
@Suite struct FormatPageExamplesTests {
  private static let format = PageFormat.lmdb09

  private static func numbers(_ text: some StringProtocol) -> [UInt64] {
    text.split { !$0.isNumber }.compactMap { UInt64($0) }
  }

  /// The numbers that the left side of the line states, and the bytes.
  private static func example(_ kind: String) throws -> (numbers: [UInt64], bytes: [UInt8]) {
    var lines: [String] = []
    for line in FormatRulesTests.blocks(of: "page-part").joined() {
      if line.contains(" = ") {
        lines.append(String(line))
      } else {
        lines[lines.count - 1] += " " + line
      }
    }
    #expect(lines.count == 6)
    let line = try #require(lines.first { $0.hasPrefix(kind) })
    let equals = try #require(line.ranges(of: " = ").last)
    return (
      numbers(line[..<equals.lowerBound].dropFirst(kind.count)),
      FormatRulesTests.bytes(line[equals.upperBound...])
    )
  }

  /// The number of `count` bytes at `offset`.
  private static func number(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> UInt64 {
    bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The key and the rest of a node.
  private static func node(_ bytes: [UInt8]) -> (key: [UInt8], rest: [UInt8]) {
    let keyStart = PageLayout.nodeHeaderSize
    let keyEnd = keyStart + Int(number(bytes, PageLayout.nodeKeySize, 2))
    return (Array(bytes[keyStart..<keyEnd]), Array(bytes[keyEnd...]))
  }

  @Test func `the example of a meta page holds`() throws {
    let (numbers, bytes) = try Self.example("meta page")
    #expect(bytes.count == Self.format.meta.size)
    let meta = bytes._withBytes { MetaPage($0, Self.format) }
    #expect(meta.magic == MetaPageLayout.magicNumber && meta.version == Self.format.dataVersion)
    #expect(meta.pageFlags == PageFlag.meta)
    func record(_ tree: TreeRecord) -> [UInt64] {
      [UInt64(tree.depth), tree.leafPages, tree.entries, tree.root]
    }
    #expect(
      numbers
        == [meta.pageNumber, meta.mapSize, UInt64(meta.pageSize)] + record(meta.freeList)
        + record(meta.main) + [meta.lastPage, meta.transaction])
  }

  @Test func `the example of a node of the main tree holds`() throws {
    let (numbers, bytes) = try Self.example("tree node")
    let (key, rest) = Self.node(bytes)
    #expect(Self.format.name(ofTree: key) == "records.1")
    #expect(Self.number(bytes, PageLayout.nodeFlags, 2) == UInt64(NodeFlag.isTree))
    #expect(rest.count == TreeRecordLayout.size)
    let tree = rest._withBytes { TreeRecord($0, at: 0) }
    #expect(
      numbers == [
        1, UInt64(tree.flags), UInt64(tree.depth), tree.branchPages, tree.leafPages,
        tree.overflowPages, tree.entries, tree.root,
      ])
  }

  @Test func `the examples of branch and leaf nodes and of the header of a run hold`() throws {
    let branch = try Self.example("branch node")
    let child =
      Self.number(branch.bytes, PageLayout.nodeValueSize, 4)
      | Self.number(branch.bytes, PageLayout.nodeFlags, 2) << PageLayout.childLowBits
    #expect(branch.numbers == [child, Self.number(Self.node(branch.bytes).key, 0, 8)])
    let leaf = try Self.example("leaf node")
    let (key, rest) = Self.node(leaf.bytes)
    #expect(Self.number(leaf.bytes, PageLayout.nodeFlags, 2) == UInt64(NodeFlag.isLarge))
    #expect(rest.count == Self.format.overflowReferenceSize)
    #expect(
      leaf.numbers == [
        Self.number(leaf.bytes, PageLayout.nodeValueSize, 4), Self.number(rest, 0, 8),
        UInt64(key.count),
      ])
    let run = try Self.example("run header")
    #expect(run.bytes.count == Self.format.headerSize)
    let pages = Self.number(run.bytes, Self.format.overflowCount, 4)
    #expect(
      run.numbers == [
        Self.number(run.bytes, PageLayout.number, 8), Self.number(run.bytes, Self.format.flags, 2),
        pages,
      ])
    #expect(pages == Self.format.overflowPages(of: Int(leaf.numbers[0]), pageSize: 4_096))
  }

  @Test func `the example of a node of the free list holds`() throws {
    let (numbers, bytes) = try Self.example("free-list node")
    let (key, rest) = Self.node(bytes)
    let words = stride(from: 0, to: rest.count, by: EngineTree.freeListWord).map {
      Self.number(rest, $0, EngineTree.freeListWord)
    }
    #expect(words[0] == UInt64(words.count - 1))
    #expect(numbers == [Self.number(key, 0, 8)] + words.dropFirst())
    #expect(zip(words.dropFirst(), words.dropFirst(2)).allSatisfy { $0 > $1 })
  }
}
