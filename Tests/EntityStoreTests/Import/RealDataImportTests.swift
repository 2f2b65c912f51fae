import EntityStore
import Foundation
import Testing

@Suite struct `Importing real pages` {
  /// The lines of a file of the shared data, or nothing and a line on the console.
  private func lines(_ name: String) -> [Data]? {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("../shared/data/\(name)").standardizedFileURL
    guard let bytes = try? Data(contentsOf: file) else {
      print("SKIPPED: importing real pages, because there is no \(file.path)")
      return nil
    }
    return name.hasSuffix("l") ? bytes.split(separator: 10).map { Data($0) } : [bytes]
  }

  private func stream(_ pages: [Data]) -> AsyncStream<Data> {
    AsyncStream { continuation in
      for page in pages { continuation.yield(page) }
      continuation.finish()
    }
  }

  @Test func `vendor podspecs are imported once, however often they come`() async throws {
    guard let pages = lines("cocoapods/specs-vendor.jsonl") else { return }
    try await withTemporaryStore([Pod.self]) { store in
      let importer = Importer(into: store, Pod.self, matching: .unique(\.name, \.version))
      let first = try await importer.run(stream(pages), records: "result", as: PodRecord.self) {
        $0.pod
      }
      #expect(first.inserted + first.rejected == 1119, "\(first)")
      #expect(first.pages == pages.count)
      let second = try await importer.run(stream(pages), records: "result", as: PodRecord.self) {
        $0.pod
      }
      #expect(second.unchanged == first.inserted && second.inserted + second.updated == 0)
      // One attribute holds a string, a list and a dictionary.
      let pods = try await store.read { try $0.fetch(Pod.all) }
      #expect(pods.count == first.inserted)
      #expect(pods.contains { if case .object? = $0.authors { true } else { false } })
    }
  }

  @Test func `films of the service are imported by episode`() async throws {
    guard let pages = lines("swapi/films.jsonl") else { return }
    try await withTemporaryStore([Film.self]) { store in
      let importer = Importer(into: store, Film.self, matching: .unique(\.episode))
      for expected in [6, 0] {
        let report = try await importer.run(
          stream(pages), records: "results", as: FilmRecord.self
        ) { Film(title: $0.title, episode: $0.episode_id) }
        #expect(report.inserted == expected && report.rejected == 0, "\(report)")
      }
      let titles = try await store.read { try $0.fetch(Film.byEpisode).map(\.title) }
      #expect(titles.first == "The Phantom Menace" && titles.count == 6)
    }
  }

  @Test func `a later snapshot of the fireballs adds and updates, and comes back unchanged`()
    async throws
  {
    guard let older = lines("fireball/fireball-2024-02.json"),
      let newer = lines("fireball/fireball-2026-05.json")
    else { return }
    try await withTemporaryStore([Fireball.self]) { store in
      let importer = Importer(into: store, Fireball.self, matching: .unique(\.date))
      func run(_ pages: [Data]) async throws -> ImportReport {
        try await importer.run(stream(pages), records: "data", as: [String?].self) {
          Fireball(row: $0)
        }
      }
      let first = try await run(older)
      #expect(first.inserted + first.rejected == 973, "\(first)")
      let second = try await run(newer)
      #expect(second.inserted > 0 && second.unchanged > 0, "\(second)")
      let third = try await run(newer)
      #expect(third.inserted == 0 && third.updated == 0, "\(third)")
      let stored = try await store.read { try $0.count(Fireball.all) }
      #expect(stored == first.inserted + second.inserted)
    }
  }
}
