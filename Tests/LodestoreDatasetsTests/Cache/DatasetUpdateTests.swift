import EntityStore
import Foundation
import Testing

@testable import LodestoreDatasets

/// Live results of a dataset, whose generations replace each other.
struct DatasetUpdateTests {
  @Test func `Live results continue with each generation, and report its differences`() async throws
  {
    let folder = try ScratchFolder()
    let files = SpecGenerations(folder)
    let dataset = try CachedDataset(
      SpecGenerations.name, in: folder.file("cache"), entities: [Spec.self], seed: files.seal(3),
      origin: .none, options: .init())
    let counts = AsyncStream<(items: Int, updated: Int, others: Int)>.makeStream()
    let list = Task {
      for try await update in dataset.updates(of: Spec.all.sorted(by: \.name)) {
        let difference = update.difference
        let others = difference.map { $0.inserted.count + $0.deleted.count + $0.moved.count }
        counts.continuation.yield(
          (update.items.count, difference?.updated.count ?? -1, others ?? 0))
      }
    }
    var told = counts.stream.makeAsyncIterator()
    let first = await told.next()
    #expect(first?.items == 500 && first?.updated == -1)
    for generation in 4...6 {
      try await dataset.install(fileAt: files.seal(generation))
      let next = await told.next()
      let old = SpecGenerations.specs(of: generation - 1, count: 500)
      let new = SpecGenerations.specs(of: generation, count: 500)
      #expect(next?.items == 500 && next?.others == 0)
      #expect(next?.updated == zip(old, new).count { $0.version != $1.version })
    }
    // The reported differences must equal those of a direct comparison of the two generations.
    let stores = try (5...6).map {
      try Store(at: folder.file("\($0).lodestore"), entities: [Spec.self])
    }
    var updated = 0
    for try await spec in try stores[1].differences(from: stores[0], of: Spec.self) {
      #expect(spec.kind == .updated && spec.attributes == ["version"])
      updated += 1
    }
    #expect(updated == 50)
    list.cancel()
    _ = await list.result
  }
}
