import Foundation
import Testing

@testable import EntityStore

/// Programs of version 0.1.0 compile, and do the same as with today's spellings.
///
/// The tests are deprecated themselves, so that they compile without warnings.
@Suite struct `Spellings of version 0.1.0` {
  /// The stored pod after an insert that has no authors, or the error's code.
  private func outcome(_ policy: MergePolicy<Pod>) throws -> String {
    let row: [String: any AttributeValue] = [
      "name": "p", "version": "1", "summary": "new", "stars": 9,
      "updatedAt": Date(timeIntervalSinceReferenceDate: 9),
    ]
    return try withTemporaryStore([Pod.self]) { store in
      try store.insert(Pod(name: "p", version: "1", authors: "x", stars: 2))
      do {
        try store.insert(Pod.self, dictionaries: [row], onConflict: policy)
      } catch let error as StoreError {
        return error.code.description
      }
      let pod = try #require(try store.fetch(Pod.all).first)
      return "\(pod.stars) \(pod.summary ?? "-") \(pod.authors?.description ?? "-")"
    }
  }

  @available(*, deprecated)
  @Test func `earlier spellings name the policies of inserts`() throws {
    let earlier: [InsertConflict<Pod>] = [
      .fail, .ignore, .replace, .patch(), .patch([\.stars]),
      .merge { stored, incoming in
        var pod = stored
        pod.stars += incoming.stars
        return pod
      },
    ]
    #expect(
      try earlier.map(outcome) == [
        "uniqueViolation", "2 - \"x\"", "9 new -", "9 new \"x\"", "9 - \"x\"", "11 - \"x\"",
      ])
  }

  @available(*, deprecated)
  @Test func `earlier spellings name the policies of imports`() throws {
    let pairs: [(MergePolicy<Pod>, MergePolicy<Pod>)] = [
      (.incomingWins, .replace), (.patches, .patch()), (.storedWins, .fillNulls),
      (.keepsStored, .ignore), (.fails, .failIfDifferent),
      (.merging { stored, _ in stored }, .merge { stored, _ in stored }),
      (.replace.attribute(\.stars, .storedWins), .replace.attribute(\.stars, .fillNulls)),
      (.ignore.attribute(\.stars, .incomingWins), .ignore.attribute(\.stars, .replace)),
      (.replace.attribute(\.stars, .fails), .replace.attribute(\.stars, .failIfDifferent)),
      (
        .replace.attribute(\.stars, .combining { $0 + $1 }),
        .replace.attribute(\.stars, .merge { $0 + $1 })
      ),
    ]
    for (earlier, now) in pairs { #expect(try outcome(earlier) == outcome(now)) }
    #expect(Set(try pairs.map { try outcome($0.0) }).count >= 6)
  }

  @available(*, deprecated)
  @Test func `earlier spellings make an importer, which keeps a stored record`() async throws {
    try await withTemporaryStore([Pod.self]) { store in
      try await store.insert(Pod(name: "p", version: "1", stars: 2))
      let matching = Importer<Pod>.Matching.unique(\.name, \.version)
      let importer = Importer(into: store, matching: matching, merging: .keepsStored)
      let pages = AsyncStream<[Pod]> { continuation in
        continuation.yield([Pod(name: "p", version: "1", stars: 9)])
        continuation.finish()
      }
      #expect(try await importer.run(decoded: pages) { $0 }.ignored == 1)
      #expect(try await store.fetch(Pod.all).map(\.stars) == [2])
    }
  }

  @available(*, deprecated)
  @Test func `earlier spellings follow values`() async throws {
    try await withTemporaryStore([Pod.self]) { store in
      try await store.insert(Pod(name: "p", version: "1"))
      let counts = Turner(store.values { try $0.count(Pod.all) })
      #expect(try await within { try await counts.next() } == 1)
      let pods = Turner(store.values { try $0.fetch(Pod.all).map { $0 as any Sendable } })
      #expect(try await within { try await pods.next()?.count } == 1)
    }
  }

  @available(*, deprecated)
  @Test func `earlier spellings list the changes of a schema`() throws {
    try withTemporaryPath { path throws in
      try Store(at: path, entities: []).close()
      let changes = try Store.changes(at: path, opening: [Film.self])
      #expect(changes.map(\.description) == ["Film: new entity (free)"])
    }
  }

  @available(*, deprecated)
  @Test func `earlier spellings purge the history`() async throws {
    var options = StoreOptions()
    options.history = .changes
    func purgeAtOnce(_ store: Store) throws -> Int {
      try store.purgeConsumedHistory(orBefore: .distantFuture)
    }
    try await withTemporaryStore([Pod.self], options: options) { store in
      try await store.insert(Pod(name: "a", version: "1"))
      #expect(try purgeAtOnce(store) == 1)
      try await store.insert(Pod(name: "b", version: "1"))
      #expect(try await store.purgeConsumedHistory(orBefore: .distantFuture) == 1)
      try await store.insert(Pod(name: "c", version: "1"))
      #expect(try await store.purgeConsumedHistory(orBefore: nil) == 0)
      let count = try await store.write { try $0.purgeConsumedHistory(orBefore: .distantFuture) }
      #expect(count == 1)
    }
  }

  @available(*, deprecated)
  @Test func `earlier spellings name the codes of errors, also in a switch`() throws {
    #expect(StoreError.Code.denied == .deleteDenied && StoreError.Code.identity == .invalidID)
    let store = try Store.inMemory(entities: [Pod.self])
    let error = try storeError(.identity) { try store.update(Pod(name: "a", version: "1")) }
    switch error.code {
    case .identity: break
    default: Issue.record("the code is \(error.code)")
    }
  }

  @available(*, deprecated)
  @Test func `earlier spellings join conditions`() throws {
    let store = try Store.inMemory(entities: [Pod.self])
    try store.insert((0..<5).map { Pod(name: "p\($0)", version: "1", stars: $0) })
    let stars = Pod.attributes.stars
    #expect(try store.count(Pod.where(.anyOf([stars == 1, stars == 3]))) == 2)
    #expect(try store.count(Pod.where(Condition.allOf([stars > 1, stars < 3]))) == 1)
  }
}
