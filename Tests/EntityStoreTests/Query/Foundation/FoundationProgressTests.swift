import EntityStore
import Foundation
import LodestoreFoundation
import Synchronization
import Testing

private let isCancelled = Atomic(false)

extension Film {
  /// The episode, returned only after the test has cancelled.
  fileprivate var episodeOnceCancelled: Int {
    while !isCancelled.load(ordering: .relaxed) { usleep(1_000) }
    return episode
  }
}

@Suite("Asynchronous work with Foundation's Progress") struct FoundationProgressTests {
  /// Inserts films whose titles are in another order than their episodes.
  private func fill(_ store: Store, _ count: Int) async throws {
    try await store.write { tx in
      try tx.insert(
        (0..<count).map { place in
          Film(
            title: "Film \(place)", episode: (place * 7_919) % count, code: nil, released: nil)
        })
    }
  }

  @Test func `Foundation's progress counts records, is complete at the end, and keeps their order`()
    async throws
  {
    try await withTemporaryStore([Film.self]) { store in
      try await fill(store, 20_000)
      let fetch = store.asynchronousFetch(Film.all.sorted(by: \.title.ascending))
      let films = try await fetch.value
      #expect(films.count == 20_000 && films.first?.title == "Film 0")
      #expect(fetch.progress.isFinished && fetch.progress.fractionCompleted == 1)
      #expect(fetch.progress.totalUnitCount >= 20_000)
    }
  }

  @Test func `a fetch ends when its progress is cancelled`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      try await fill(store, 20_000)
      // The predicate uses a property that is not an attribute. The store evaluates it in Swift,
      // and the property waits until the progress is cancelled.
      let fetch = store.asynchronousFetch(Film.where(#Predicate { $0.episodeOnceCancelled >= 0 }))
      fetch.progress.cancel()
      isCancelled.store(true, ordering: .relaxed)
      await #expect(throws: CancellationError.self) { _ = try await fetch.value }
      // The store is usable after the cancelled fetch.
      #expect(try await store.count(Film.all) == 20_000)
    }
  }

  @Test func `batches in chunks and imports report a progress`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      try await fill(store, 100)
      let deletion = AsynchronousWork { report in
        try await store.delete(
          Film.where { $0.episode < 50 }, inChunksOf: 7, onProgress: report)
      }
      #expect(try await deletion.value == 50)
      #expect(deletion.progress.isFinished && deletion.progress.totalUnitCount == 50)
      let page = Data(#"[{"episode_id":1,"title":"a"},{"episode_id":2,"title":"b"}]"#.utf8)
      let importer = Importer(into: store, Film.self, matching: .unique(\.episode))
      for byteCount in [nil, page.count] {
        let importing = AsynchronousImport(byteCount: byteCount) { onEvent in
          let pages = AsyncStream { continuation in
            continuation.yield(page)
            continuation.finish()
          }
          return try await importer.run(pages, as: FilmRecord.self, onEvent: onEvent) { record in
            Film(title: record.title, episode: record.episode_id, code: nil)
          }
        }
        #expect(try await importing.value.pages == 1)
        let progress = importing.progress
        #expect(progress.isFinished && progress.totalUnitCount == Int64(byteCount ?? 1))
      }
    }
  }

  @Test func `sort descriptors are accepted if they mean one order everywhere`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      try await fill(store, 50)
      let query = Film.all.sorted(by: [SortDescriptor(\Film.episode, order: .reverse)])
      #expect(try await store.fetch(query).map(\.episode) == Array((0..<50).reversed()))
      let byTitle = Film.all.sorted(by: [SortDescriptor(\Film.title, comparator: .lexical)])
      #expect(try await store.fetch(byTitle).first?.title == "Film 0")
    }
  }
}
