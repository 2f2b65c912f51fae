import EntityStore
import Foundation
import Testing

@Suite struct `Importing under constraints` {
  private struct Record: Decodable, Sendable {
    var slug: String
    var stars: Int
  }

  private func importPages(
    _ pages: [String], into store: Store, _ strategy: ImportStrategy,
    onConflict policy: MergePolicy<Review> = .replace
  ) async throws -> ImportReport {
    let importer = Importer(
      into: store, Review.self, matching: .unique(\.slug), strategy: strategy, onConflict: policy)
    let stream = AsyncStream { continuation in
      for page in pages { continuation.yield(Data(page.utf8)) }
      continuation.finish()
    }
    return try await importer.run(stream, as: Record.self) {
      Review(slug: $0.slug, stars: $0.stars)
    }
  }

  private func stars(_ store: Store) async throws -> [String: Int] {
    let reviews = try await store.read { try $0.fetch(Review.all) }
    return Dictionary(uniqueKeysWithValues: reviews.map { ($0.slug, $0.stars) })
  }

  @Test(arguments: ImportStrategy.allCases)
  func `a record that breaks a constraint is rejected alone, with its index, attribute and reason`(
    strategy: ImportStrategy
  ) async throws {
    try await withTemporaryStore([Review.self]) { store in
      let first = try await importPages(
        [
          #"[{"slug":"a","stars":1},{"slug":"b","stars":6},{"slug":"c","stars":5}]"#,
          #"[{"slug":"LOUD","stars":0},{"slug":"d","stars":2}]"#,
        ], into: store, strategy)
      #expect(first.inserted == 3 && first.rejected == 2)
      #expect(first.rejects.map(\.page) == [1, 2] && first.rejects.map(\.record) == [2, 1])
      #expect(first.rejects.map(\.attribute) == ["stars", "slug"])
      #expect(first.rejects[0].reason == "cannot store Review: 'stars' must be at most 5")
      #expect(first.rejects[1].reason.hasSuffix("'slug' must match '[a-zé0-9-]+'"))
      #expect(first.rejects.allSatisfy { $0.byteOffset != nil })
      // Rejected records change no stored review. A mirror deletes only reviews that no incoming
      // record names.
      let second = try await importPages(
        [#"[{"slug":"a","stars":-1},{"slug":"c","stars":4},{"slug":"c","stars":9}]"#], into: store,
        strategy)
      #expect(second.inserted == 0 && second.updated == 0 && second.rejected == 3)
      #expect(second.rejects[0].attribute == "stars" && second.rejects[2].attribute == "stars")
      #expect(second.rejects[0].reason.contains("must be at least 0"))
      let isMirror = strategy == .mirror
      #expect(second.deleted == (isMirror ? 1 : 0))
      #expect(try await stars(store) == (isMirror ? ["a": 1, "c": 5] : ["a": 1, "c": 5, "d": 2]))
      let third = try await importPages(
        [#"[{"slug":"a","stars":0},{"slug":"c","stars":5},{"slug":"d","stars":2}]"#], into: store,
        strategy)
      #expect(third.updated == 1 && third.rejected == 0)
      #expect(third.unchanged == (isMirror ? 1 : 2) && third.inserted == (isMirror ? 1 : 0))
      #expect(try await stars(store) == ["a": 0, "c": 5, "d": 2])
    }
  }

  @Test func `a record that breaks a constraint does not replace a stored record`() async throws {
    try await withTemporaryStore([Review.self]) { store in
      _ = try await importPages([#"[{"slug":"a","stars":1}]"#], into: store, .replaceMatching)
      // One key is on two pages, so these records are written one after the other, not as a batch.
      let report = try await importPages(
        [#"[{"slug":"a","stars":2}]"#, #"[{"slug":"a","stars":9}]"#], into: store,
        .replaceMatching)
      #expect(report.updated == 1 && report.rejected == 1)
      #expect(report.rejects.map(\.page) == [2] && report.rejects.map(\.attribute) == ["stars"])
      #expect(try await stars(store) == ["a": 2])
    }
  }

  @Test func `records with one key are each checked in their order`() async throws {
    try await withTemporaryStore([Review.self]) { store in
      let add = MergePolicy<Review>.merge { stored, incoming in
        var merged = stored
        merged.stars += incoming.stars
        return merged
      }
      let report = try await importPages(
        [#"[{"slug":"a","stars":4},{"slug":"a","stars":3},{"slug":"a","stars":1}]"#], into: store,
        .upsert, onConflict: add)
      #expect(report.inserted == 1 && report.updated == 1 && report.rejected == 1)
      #expect(report.rejects.map(\.record) == [2])
      #expect(try await stars(store) == ["a": 5])
    }
  }
}
