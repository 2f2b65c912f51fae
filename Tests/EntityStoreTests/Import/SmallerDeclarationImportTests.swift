import Foundation
import Testing

@testable import EntityStore

/// Imports by programs that declare only a part of the file's schema.
@Suite struct `Importing with a smaller declaration` {
  private struct Row: Decodable {
    var name: String
    var note: String?
  }

  private static let page = #"""
    [{"name":"Ada","note":"new","score":1},{"name":"Cyd","note":"third"},{"name":"Dan","score":2}]
    """#

  /// Imports one page in the given way into a file of three players, of which the importer declares
  /// only a part.
  private func importPage(
    _ strategy: ImportStrategy, byMembers: Bool,
    onConflict policy: MergePolicy<PlayerCard> = .replace
  ) async throws -> (report: ImportReport, players: [Player]) {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    let whole = try Store(at: path, entities: [Player.self])
    try await whole.write { transaction in
      try transaction.insert(Player(name: "Ada", score: 42, note: "old", level: nil))
      try transaction.insert(Player(name: "Bob", score: 7))
      try transaction.insert(Player(name: "Cyd", score: -1, note: "third", level: 9))
    }
    whole.close()
    let part = try Store(at: path, entities: [PlayerCard.self])
    let importer = Importer(
      into: part, PlayerCard.self, matching: .unique(\.name), strategy: strategy, onConflict: policy
    )
    let pages = AsyncStream { continuation in
      continuation.yield(Data(Self.page.utf8))
      continuation.finish()
    }
    let report =
      byMembers
      ? try await importer.run(pages, renaming: [:])
      : try await importer.run(pages, as: Row.self) { PlayerCard(note: $0.note, name: $0.name) }
    part.close()
    let again = try Store(at: path, entities: [Player.self])
    let players = try await again.read { try $0.fetch(Player.all.sorted(by: \.name.ascending)) }
    again.close()
    try expectSound(path)
    return (report, players)
  }

  @Test(arguments: [false, true])
  func `stored values of other attributes stay, and new records have initial ones`(
    byMembers: Bool
  ) async throws {
    for policy in [
      MergePolicy<PlayerCard>.replace, .fillNulls.attribute(\.note, .replace),
    ] {
      let (report, players) = try await importPage(
        .upsert, byMembers: byMembers, onConflict: policy)
      #expect(report.inserted == 1 && report.updated == 1 && report.unchanged == 1)
      #expect(players.map(\.name) == ["Ada", "Bob", "Cyd", "Dan"])
      #expect(players.map(\.score) == [42, 7, -1, 0])
      #expect(players.map(\.note) == ["new", nil, "third", nil])
      #expect(players.map(\.level) == [nil, 3, 9, nil])
      if byMembers { #expect(report.unknownMembers == ["score": 2]) }
    }
  }

  @Test(arguments: [false, true])
  func `a mirror and a replacement keep undeclared attributes too`(byMembers: Bool) async throws {
    let mirror = try await importPage(.mirror, byMembers: byMembers)
    #expect(mirror.report.deleted == 1)
    #expect(mirror.players.map(\.name) == ["Ada", "Cyd", "Dan"])
    #expect(mirror.players.map(\.score) == [42, -1, 0])
    let renewed = try await importPage(.replaceMatching, byMembers: byMembers)
    #expect(renewed.report.updated == 1 && renewed.report.unchanged == 1)
    #expect(renewed.players.map(\.id.rawValue) == [4, 2, 3, 5])
    #expect(renewed.players.map(\.score) == [42, 7, -1, 0])
    #expect(renewed.players.map(\.level) == [nil, 3, 9, nil])
  }

  @Test(arguments: [false, true])
  func `a patch sets the values of the page, and no others`(byMembers: Bool) async throws {
    guard byMembers else { return }
    let (report, players) = try await importPage(.upsert, byMembers: true, onConflict: .patch())
    #expect(report.inserted == 1 && report.updated == 1)
    #expect(players.map(\.score) == [42, 7, -1, 0])
  }

  @Test func `a new record is rejected, naming an undeclared attribute that is required`()
    async throws
  {
    let folder = try TemporaryFolder()
    let ranked = try Store(at: folder.storePath, entities: [RankedPlayer.self])
    try await ranked.write { _ = try $0.insert(RankedPlayer(name: "Ada", rank: 1)) }
    ranked.close()
    let part = try Store(at: folder.storePath, entities: [PlayerPoints.self])
    let importer = Importer(into: part, PlayerPoints.self, matching: .unique(\.name))
    let pages = AsyncStream { continuation in
      continuation.yield(Data(#"[{"name":"Ada","points":3},{"name":"Bob","points":4}]"#.utf8))
      continuation.finish()
    }
    let report = try await importer.run(pages, renaming: [:])
    #expect(report.updated == 1 && report.rejected == 1)
    #expect(report.rejects.first?.attribute == "rank" && report.rejects.first?.record == 2)
    part.close()
    let again = try Store(at: folder.storePath, entities: [RankedPlayer.self])
    #expect(try await again.read { try $0.fetch(RankedPlayer.all) }.map(\.rank) == [1])
    again.close()
    try expectSound(folder.storePath)
  }
}
