import LodestoreFormat
import Testing

@testable import LodestorePages
@testable import LodestoreVerifier

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Small files that name their pages over and over.
///
/// A regression test: the checker visited a run of overflow pages once for each node that named it.
/// A file of 1.2 MB on the disk took minutes.
@Suite("The work of the page checker")
final class PageWorkTests {
  private let folder: String
  private var path: String { folder + "/pages.mdb" }

  init() throws {
    folder = scratchFolderPath()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Expects the check to take at most as many steps as the file has pages.
  ///
  /// Progress is reported every 4,096 pages.
  private func check(_ pages: CraftedPages) throws -> PageReport {
    try pages.write(to: path)
    var steps = 0
    let most = (pages.lastPage + 1) / 4_096
    return try PageChecker.check(path: path) { _, _ in
      steps += 1
      return steps <= most
    }
  }

  @Test
  func `a run that many nodes name is checked once`() throws {
    let count = 2_000
    let run = CraftedPages.firstRun(nodeCount: count)
    let report = try check(
      CraftedPages(
        nodes: Array(repeating: .init(run: run, byteCount: 5_000), count: count),
        runs: [run: 20_000], lastPage: run + 19_999))
    #expect(report.trees.map(\.overflowPages) == [20_000])
    #expect(report.findings.allSatisfy { $0.code == .pageShared }, "\(report.findings)")
    #expect(report.findingCount >= count - 1 && report.findingCount < count + 10)
  }

  @Test
  func `runs that begin within each other are checked once`() throws {
    let count = 2_000
    let first = CraftedPages.firstRun(nodeCount: count)
    let last = first + count - 1
    // The last run comes first, so that each later run begins with a new page.
    let report = try check(
      CraftedPages(
        nodes: (0..<count).map { .init(run: last - $0, byteCount: 100) },
        runs: Dictionary(uniqueKeysWithValues: (first...last).map { ($0, last - $0 + 1) }),
        lastPage: last))
    #expect(report.trees.map(\.overflowPages) == [count])
    #expect(report.findings.map(\.code).contains(.pageShared))
  }

  @Test
  func `the checker stops at the first page of a free list that does not descend`() throws {
    let run = CraftedPages.firstRun(nodeCount: 1)
    let report = try check(
      CraftedPages(
        nodes: [.init(run: run, byteCount: 100)], runs: [run: 1], lastPage: run,
        freeLists: [7: [UInt64](repeating: 0, count: 400)]))
    #expect(report.findings.filter { $0.code == .freeList }.count == 2, "\(report.findings)")
  }

  @Test
  func `a hundred thousand findings end the walk, and the report states the limit`() throws {
    let count = PageWalk.mostFindings + 5_000
    let run = CraftedPages.firstRun(nodeCount: count, pageSize: 16_384)
    // The file contains none of the runs that its nodes name.
    try CraftedPages(
      pageSize: 16_384, tree: TreeName.header.text,
      nodes: Array(repeating: .init(run: 1 << 40, byteCount: 100), count: count),
      runs: [:], lastPage: run
    ).write(to: path)
    let report = try PageChecker.check(path: path, limit: 0)
    #expect(report.findingCount == PageWalk.mostFindings && report.isGivenUp)
    #expect(report.findings.allSatisfy { $0.code == .overflow })
    let verified = try Verifier.verify(path: path)
    #expect(verified.notices.contains { $0.contains("too many faults") }, "\(verified.notices)")
  }
}
