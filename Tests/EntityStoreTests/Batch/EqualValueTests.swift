import Foundation
import Testing

@testable import EntityStore

/// Values that are equal in Swift but differ in their bytes, such as the two forms of an accented
/// letter.
@Suite struct `Equal values of other bytes` {
  @Test func `an update to other bytes of equal characters changes the record`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write { try $0.insert(Film(title: "e\u{301}", episode: 1)) }
      let recording = ChangeRecording([])
      recording.listen(to: store)
      let counts = try store.write { transaction in
        try (0..<2).map { _ in
          try transaction.update(Film.all) { $0.title = "\u{e9}" }
        }
      }
      #expect(counts == [1, 0] && recording.changes.count == 1)
      let title = try store.read { try $0.fetch(Film.all).first?.title }
      #expect(title.map { Array($0.utf8) } == [0xc3, 0xa9])
    }
  }

  @Test func `a policy accepts other bytes of equal characters`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      try await store.write { _ = try $0.insert(Film(title: "e\u{301}", episode: 1)) }
      let pages = AsyncStream { continuation in
        continuation.yield(Data(#"[{"title":"\u00e9","episode_id":1}]"#.utf8))
        continuation.finish()
      }
      let report = try await Importer(
        into: store, Film.self, matching: .unique(\.episode),
        onConflict: .replace.attribute(\.episode, .failIfDifferent)
      ).run(pages, as: FilmRecord.self) { Film(title: $0.title, episode: $0.episode_id) }
      #expect(report.updated == 1)
      let title = try await store.read { try $0.fetch(Film.all).first?.title }
      #expect(title.map { Array($0.utf8) } == [0xc3, 0xa9])
    }
  }
}
