import EntityStore
import Testing

/// An import writes several pages in one group.
@Suite struct ImportGroupTests {
  private func stream(_ pages: [[Player]]) -> AsyncStream<[Player]> {
    AsyncStream { continuation in
      for page in pages { continuation.yield(page) }
      continuation.finish()
    }
  }

  /// Each commit writes every index page that a changed record touches, so a single commit costs
  /// the least.
  @Test func `a hundred thousand changes are written at once if memory has room`() async throws {
    var numbers = SeededNumbers(salt: 412)
    try await withTemporaryStore([Player.self]) { store in
      var options = ImportOptions()
      options.groupDuration = .seconds(600)
      #expect((32 << 20...256 << 20).contains(options.groupByteLimit))
      for pageCount in [100, 20] {
        let pages = (0..<pageCount).map { page in
          (0..<1_000).map { row in
            Player(name: "player \(page * 1_000 + row)", score: numbers.below(1_000_000))
          }
        }
        let report = try await Importer(
          into: store, Player.self, matching: .unique(\.name), options: options
        ).run(decoded: stream(pages)) { (player: Player) in player }
        #expect(report.inserted + report.updated > 990 * pageCount)
        #expect(report.pages == pageCount)
        #expect(report.commits <= 2, "\(report.commits) commits")
      }
      let count = try await store.read { try $0.fetch(Player.all).count }
      #expect(count == 100_000)
    }
  }

  @Test func `a group has no more records than its limit and the last page`() async throws {
    try await withTemporaryStore([Player.self]) { store in
      var options = ImportOptions()
      options.groupRecordLimit = 1_000
      options.groupDuration = .seconds(600)
      let pages = (0..<40).map { page in
        (0..<100).map { Player(name: "player \(page * 100 + $0)") }
      }
      let report = try await Importer(
        into: store, Player.self, matching: .unique(\.name), options: options
      ).run(decoded: stream(pages)) { (player: Player) in player }
      #expect(report.inserted == 4_000)
      #expect(report.commits == 4, "\(report.commits) commits")
    }
  }
}
