import Foundation
import LodestoreFormat
import Synchronization
import Testing

@testable import EntityStore

/// The deletions of a mirror when records were rejected.
@Suite struct MirrorImportTests {
  private struct Bad: Error {}

  private func page(_ films: [(Int, String)]) -> Data {
    let records = films.map { #"{"episode_id":\#($0.0),"title":"\#($0.1)"}"# }
    return Data("[\(records.joined(separator: ","))]".utf8)
  }

  private func importer(
    _ store: Store, onConflict policy: MergePolicy<Film> = .replace, resumes: Bool = false
  ) -> Importer<Film> {
    var options = ImportOptions()
    options.resumes = resumes
    options.groupRecordLimit = 1
    return Importer(
      into: store, Film.self, matching: .unique(\.episode), strategy: .mirror, onConflict: policy,
      options: options)
  }

  private func film(_ record: FilmRecord) throws -> Film {
    if record.title == "bad" { throw Bad() }
    return Film(title: record.title, episode: record.episode_id, code: record.code)
  }

  /// Mirrors the pages; a page that is `nil` is not JSON.
  private func mirror(
    _ pages: [[(Int, String)]?], with importer: Importer<Film>
  ) async throws -> ImportReport {
    let stream = AsyncStream { continuation in
      for films in pages { continuation.yield(films.map(page) ?? Data("{".utf8)) }
      continuation.finish()
    }
    return try await importer.run(stream, as: FilmRecord.self) { try film($0) }
  }

  private func episodes(_ store: Store) async throws -> [Int] {
    try await store.read { try $0.fetch(Film.all).map(\.episode).sorted() }
  }

  private func withFilms(_ body: (Store) async throws -> Void) async throws {
    try await withTemporaryStore([Film.self]) { store in
      try await store.write { transaction in
        for episode in 1...4 { try transaction.insert(Film(title: "old", episode: episode)) }
      }
      try await body(store)
    }
  }

  @Test func `a mirror deletes records although a page has duplicates`() async throws {
    try await withFilms { store in
      let report = try await mirror([[(1, "a"), (1, "b"), (2, "c")]], with: importer(store))
      #expect(report.rejected == 1 && report.deleted == 2 && !report.keptUnseen)
      #expect(try await episodes(store) == [1, 2])
    }
  }

  @Test func `a rejected record with a key keeps the stored record, and no other`()
    async throws
  {
    try await withFilms { store in
      let report = try await mirror(
        [[(1, "new"), (2, "old")]], with: importer(store, onConflict: .failIfDifferent))
      #expect(report.rejected == 1 && report.unchanged == 1 && report.deleted == 2)
      #expect(try await episodes(store) == [1, 2])
    }
  }

  @Test func `rejects of earlier runs count when a mirror resumes`() async throws {
    for (title, left) in [("bad", [1, 2, 3, 4]), ("b", [1, 2])] {
      try await withFilms { store in
        // Two records have one key. The first record is rejected: "bad" before its key is known,
        // "b" when its key is known.
        let first = [(1, title), (1, "c")]
        await #expect(throws: StoreError.self) {
          _ = try await mirror([first, nil], with: importer(store))
        }
        let report = try await mirror([first, [(2, "d")]], with: importer(store, resumes: true))
        #expect(report.resumptions == 1 && report.rejected == 1)
        #expect(report.keptUnseen == (title == "bad") && report.deleted == 4 - left.count)
        #expect(try await episodes(store) == left)
      }
    }
  }

  @Test func `a mirror that an older version began counts all its rejects`() async throws {
    try await withFilms { store in
      let first = [(1, "b"), (1, "c")]
      await #expect(throws: StoreError.self) {
        _ = try await mirror([first, nil], with: importer(store))
      }
      try await store.write { transaction in
        let log = try WritableImportLog("Film", transaction.core)
        var state = try #require(try log.reads.state())
        #expect(state.unkeyedRejects == 0)
        state.unkeyedRejects = nil
        try log.put(state)
      }
      let report = try await mirror([first, [(2, "d")]], with: importer(store, resumes: true))
      #expect(report.resumptions == 1 && report.keptUnseen && report.deleted == 0)
      #expect(try await episodes(store) == [1, 2, 3, 4])
    }
  }

  @Test func `a resumed run may have had more rejects than the current limit`() async throws {
    try await withFilms { store in
      let first = [(1, "bad"), (2, "bad"), (3, "bad"), (4, "a")]
      await #expect(throws: StoreError.self) {
        _ = try await mirror([first, nil], with: importer(store))
      }
      var options = ImportOptions()
      options.resumes = true
      options.rejectLimit = 1
      let next = Importer(
        into: store, Film.self, matching: .unique(\.episode), strategy: .mirror, options: options)
      do {
        let report = try await mirror([first, [(4, "b")]], with: next)
        #expect(report.rejected == 3 && report.keptUnseen)
      } catch let error as StoreError {
        #expect(error.code == .importStopped)
      }
      #expect(try await episodes(store) == [1, 2, 3, 4])
    }
  }

  /// A repaired file can be in this state: some of its import pairs are lost, and the others are
  /// salvaged.
  @Test func `a mirror that lost the keys of its earlier pages deletes nothing`() async throws {
    try await withFilms { store in
      let pages = [[(1, "a")], [(2, "b")]]
      await #expect(throws: StoreError.self) {
        _ = try await mirror(pages + [nil], with: importer(store))
      }
      try await store.write { transaction in
        let key = ImportKey.seen(page: 1).bytes(name: "Film")
        let isGone = try transaction.core.writing.delete(
          key, in: store.core.trees.imports)
        #expect(isGone)
      }
      let whole = pages + [[(3, "c")]]
      let error = await #expect(throws: StoreError.self) {
        _ = try await mirror(whole, with: importer(store, resumes: true))
      }
      #expect(error?.message.contains("lost the list of records of 1 of its 3 pages") == true)
      #expect(try await episodes(store) == [1, 2, 3, 4])
      // The mirror starts from the first page again.
      let report = try await mirror(whole, with: importer(store))
      #expect(report.deleted == 1 && report.unchanged == 3)
      #expect(try await episodes(store) == [1, 2, 3])
    }
  }

  @Test func `a page with an unreadable record is requested again, even if it is unchanged`()
    async throws
  {
    try await withFilms { store in
      let service = TaggedPage(content: page([(1, "bad"), (2, "old"), (3, "old"), (4, "old")]))
      for _ in 0..<2 {
        let report = try await importer(store).run(service, as: FilmRecord.self) {
          try film($0)
        }
        #expect(report.rejected == 1 && report.keptUnseen && report.unchangedPages == 0)
        #expect(try await episodes(store) == [1, 2, 3, 4])
      }
    }
  }

  /// A service of one page, which never changes.
  private struct TaggedPage: PageSource {
    let content: Data

    func pages(
      from position: String?, remembered: @escaping @Sendable (String) -> PageMemory?
    ) -> AsyncStream<ImportPage> {
      AsyncStream { continuation in
        let isUnchanged = remembered("page")?.entityTag == "tag"
        continuation.yield(
          ImportPage(
            content: isUnchanged ? nil : content,
            memory: PageMemory(name: "page", entityTag: "tag", next: nil), next: nil))
        continuation.finish()
      }
    }
  }
}
