import LMDB
import LodestorePages
import Testing

@testable import LodestoreVerifier

/// What `kvdump salvage` reads.
@Suite struct `Salvage of what is not known` {
  /// A file of 3 MB kept the command busy for minutes: each node had its run read.
  @Test func `a run that many nodes name is read no more than twice over`() throws {
    let folder = try StoreFolder()
    let run = CraftedPages.firstRun(nodeCount: 200)
    try CraftedPages(
      nodes: Array(repeating: .init(run: run, byteCount: 1_999 * 4_096), count: 200),
      runs: [run: 2_000], lastPage: run + 1_999
    ).write(to: folder.store)
    let pages = try PageSalvage(path: folder.store)
    var tree: TreeRecord?
    let meta = try #require(pages.metas.first)
    _ = try pages.walk(meta.main, isNames: true) { _, value in tree = TreeRecord(value, at: 0) }
    var byteCount = 0
    let gaps = try pages.walk(try #require(tree)) { _, value in byteCount += value.count }
    #expect(byteCount >= 1_999 * 4_096 && byteCount <= 2 * 2_010 * 4_096)
    #expect(!gaps.isEmpty)
  }
}
