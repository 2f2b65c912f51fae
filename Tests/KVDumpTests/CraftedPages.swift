// Whole Foundation: `FileHandle` is not in FoundationEssentials.
import Foundation
import LodestoreFormat

/// A file made without an engine: one tree of one branch page, and as many leaf pages as its nodes
/// need.
///
/// Runs of overflow pages are holes in the file. A run has a header only if ``runs`` requests it.
struct CraftedPages {
  /// A pair whose value is in a run of overflow pages.
  struct LargeNode {
    var run: Int
    var byteCount: Int
  }

  var pageSize = 4_096
  var tree = "buckets"
  /// The nodes in the order of their keys.
  ///
  /// A node's key is its index as a big-endian UInt32.
  var nodes: [LargeNode]
  /// The first pages of runs, each with the page count that its header states.
  var runs: [Int: Int]
  var lastPage: Int
  /// Pairs of the free list, by the numbers of their commits.
  var freeLists: [UInt64: [UInt64]] = [:]

  /// The first page that nodes may name.
  static func firstRun(nodeCount: Int, pageSize: Int = 4_096) -> Int {
    5 + (nodeCount + nodesOfLeaf(pageSize) - 1) / nodesOfLeaf(pageSize)
  }

  private static func nodesOfLeaf(_ pageSize: Int) -> Int { (pageSize - 16) / 22 }

  func write(to path: String) throws {
    try Data().write(to: URL(filePath: path))
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    defer { try? file.close() }
    func put(_ page: Int, _ bytes: [UInt8]) throws {
      try file.seek(toOffset: UInt64(page * pageSize))
      try file.write(contentsOf: Data(bytes))
    }
    let perLeaf = Self.nodesOfLeaf(pageSize)
    var branch: [[UInt8]] = []
    for start in stride(from: 0, to: nodes.count, by: perLeaf) {
      let page = 5 + branch.count
      let some = nodes[start..<min(start + perLeaf, nodes.count)]
      try put(
        page,
        bytes(
          of: page, flags: 2,
          some.enumerated().map { index, node in
            Self.node(
              size: UInt32(node.byteCount), flags: 1, key: Self.key(start + index),
              littleEndianBytes(UInt64(node.run)))
          }))
      branch.append(
        Self.node(size: UInt32(page), flags: 0, key: start == 0 ? [] : Self.key(start), []))
    }
    try put(4, bytes(of: 4, flags: 1, branch))
    for (page, count) in runs {
      try put(
        page, littleEndianBytes(UInt64(page)) + [0, 0, 4, 0] + littleEndianBytes(UInt32(count)))
    }
    let tree = record(
      root: 4, depth: 2, branches: 1, leaves: branch.count, runPages: runs.values.reduce(0, +),
      entries: nodes.count)
    try put(
      2,
      bytes(of: 2, flags: 2, [Self.node(size: 48, flags: 2, key: Array(self.tree.utf8), tree)]))
    try put(
      3,
      bytes(
        of: 3, flags: 2,
        freeLists.sorted { $0.key < $1.key }.map { commit, pages in
          let list = ([UInt64(pages.count)] + pages).flatMap { littleEndianBytes($0) }
          return Self.node(size: UInt32(list.count), flags: 0, key: littleEndianBytes(commit), list)
        }))
    for page in 0...1 { try put(page, meta(page)) }
    try file.truncate(atOffset: UInt64((lastPage + 1) * pageSize))
  }

  private func meta(_ page: Int) -> [UInt8] {
    let free =
      freeLists.isEmpty
      ? record(root: nil, depth: 0, flags: 8, pad: pageSize)
      : record(root: 3, depth: 1, leaves: 1, entries: freeLists.count, flags: 8, pad: pageSize)
    var bytes = littleEndianBytes(UInt64(page)) + [0, 0, 8, 0, 0, 0, 0, 0]
    bytes += littleEndianBytes(UInt32(0xBEEF_C0DE)) + littleEndianBytes(UInt32(1))
    bytes += littleEndianBytes(UInt64(0)) + littleEndianBytes(UInt64(1 << 40))
    bytes += free + record(root: 2, depth: 1, leaves: 1, entries: 1)
    bytes += littleEndianBytes(UInt64(lastPage))
    return bytes + littleEndianBytes(UInt64(page == 0 ? 1_000 : 999))
  }

  private func record(
    root: Int?, depth: Int, branches: Int = 0, leaves: Int = 0, runPages: Int = 0,
    entries: Int = 0, flags: Int = 0, pad: Int = 0
  ) -> [UInt8] {
    littleEndianBytes(UInt32(pad)) + littleEndianBytes(UInt16(flags))
      + littleEndianBytes(UInt16(depth))
      + [branches, leaves, runPages, entries].flatMap { littleEndianBytes(UInt64($0)) }
      + littleEndianBytes(root.map { UInt64($0) } ?? .max)
  }

  private static func key(_ place: Int) -> [UInt8] { bigEndianBytes(UInt32(place)) }

  private static func node(
    size: UInt32, flags: UInt16, key: [UInt8], _ value: [UInt8]
  ) -> [UInt8] {
    let bytes =
      littleEndianBytes(size) + littleEndianBytes(flags) + littleEndianBytes(UInt16(key.count))
      + key + value
    return bytes.count & 1 == 0 ? bytes : bytes + [0]
  }

  private func bytes(of page: Int, flags: UInt16, _ nodes: [[UInt8]]) -> [UInt8] {
    var offset = pageSize
    let slots = nodes.flatMap { node in
      offset -= node.count
      return littleEndianBytes(UInt16(offset))
    }
    let lower = 16 + slots.count
    precondition(lower <= offset, "page \(page) has room for fewer nodes")
    let header =
      littleEndianBytes(UInt64(page)) + [0, 0] + littleEndianBytes(flags)
      + littleEndianBytes(UInt16(lower)) + littleEndianBytes(UInt16(offset))
    return header + slots + [UInt8](repeating: 0, count: offset - lower)
      + nodes.reversed().joined()
  }
}
