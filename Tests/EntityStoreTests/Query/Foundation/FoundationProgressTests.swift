import EntityStore
import Foundation
import LodestoreFoundation
import Synchronization
import Testing

private let isCancelled = Atomic(false)

extension Film {
  /// The episode, when there is nothing more to wait for.
  fileprivate var episodeOnceCancelled: Int {
    while !isCancelled.load(ordering: .relaxed) { usleep(1_000) }
    return episode
  }
}

@Suite("Asynchronous fetch with Foundation's Progress") struct FoundationProgressTests {
  /// Films in another order than that of their titles.
  private func fill(_ store: Store, _ count: Int) async throws {
    try await store.write { tx in
      try tx.insert(
        contentsOf: (0..<count).map { place in
          Film(
            title: "Film \(place)", episode: (place * 7_919) % count, code: nil, released: nil)
        })
    }
  }

  @Test func `counts records, ends complete, and gives them in order`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      try await fill(store, 20_000)
      let fetch = store.asynchronousFetch(Film.query.sorted(by: .ascending(\.title)))
      let films = try await fetch.value
      #expect(films.count == 20_000 && films.first?.title == "Film 0")
      #expect(fetch.progress.isFinished && fetch.progress.fractionCompleted == 1)
      #expect(fetch.progress.totalUnitCount >= 20_000)
    }
  }

  @Test func `ends when its progress is cancelled`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      try await fill(store, 20_000)
      // What is no attribute is asked of Swift, and waits until the progress is cancelled.
      let fetch = store.asynchronousFetch(Film.query.where(\.episodeOnceCancelled >= 0))
      fetch.progress.cancel()
      isCancelled.store(true, ordering: .relaxed)
      await #expect(throws: CancellationError.self) { _ = try await fetch.value }
      // The store goes on.
      #expect(try await store.count(Film.query) == 20_000)
    }
  }

  @Test func `takes the sort descriptors that mean one order everywhere`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      try await fill(store, 50)
      let query = Film.query.sorted(by: [SortDescriptor(\Film.episode, order: .reverse)])
      #expect(try await store.fetch(query).map(\.episode) == Array((0..<50).reversed()))
      let byTitle = Film.query.sorted(by: [SortDescriptor(\Film.title, comparator: .lexical)])
      #expect(try await store.fetch(byTitle).first?.title == "Film 0")
    }
  }
}
