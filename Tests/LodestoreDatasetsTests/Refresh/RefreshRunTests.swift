#if Datasets
  import EntityStore
  import Foundation
  import LoopbackWeb
  import Synchronization
  import Testing

  @testable import LodestoreDatasets

  /// Several callers of one refresh.
  @Suite(.timeLimit(.minutes(30))) struct RefreshRunTests {
    /// A dataset of a service that answers only when the test sets `go`.
    private func waiting(
      _ folder: ScratchFolder
    ) throws -> (dataset: CachedDataset, begun: Counter, go: Flag) {
      let begun = Counter()
      let go = Flag()
      let dataset = try specDataset(
        folder,
        .service { refresh in
          begun.count.withLock { $0 += 1 }
          while !go.isSet.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(2)) }
          try await refresh.store.write { tx in
            try tx.insert(SpecGenerations.specs(of: 1, count: 10))
          }
        })
      return (dataset, begun, go)
    }

    @Test func `A cancelled caller stops waiting, and the others get the result`()
      async throws
    {
      let (dataset, begun, go) = try waiting(ScratchFolder())
      let one = Task { try await dataset.refresh() }
      let other = Task { try await dataset.refresh() }
      let run = dataset.run { RefreshRun() }
      while run.callerCount < 2 { try await Task.sleep(for: .milliseconds(2)) }
      one.cancel()
      // The refresh still waits for its service.
      await #expect(throws: CancellationError.self) { try await one.value }
      go.isSet.withLock { $0 = true }
      #expect(try await other.value.outcome == .replaced)
      #expect(begun.count.withLock { $0 } == 1)
    }

    @Test func `A caller that arrives after the last one has left begins a new refresh`()
      async throws
    {
      let (dataset, begun, go) = try waiting(ScratchFolder())
      let one = Task { try await dataset.refresh() }
      while begun.count.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(2)) }
      let run = dataset.run { RefreshRun() }
      one.cancel()
      // The result for a caller that asked for the run just before.
      while !run.hasEnded { try await Task.sleep(for: .milliseconds(1)) }
      let late = try await run.value(nil) { _ in throw CancellationError() }
      #expect(late == nil)
      go.isSet.withLock { $0 = true }
      #expect(try await dataset.refresh().outcome == .replaced)
      await #expect(throws: CancellationError.self) { try await one.value }
    }

    @Test func `A file is installed at once even while a refresh of this process runs`()
      async throws
    {
      let folder = try ScratchFolder()
      let (dataset, begun, _) = try waiting(folder)
      let refresh = Task { try await dataset.refresh() }
      while begun.count.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(2)) }
      let file = try SpecGenerations(folder).seal(5)
      let generation = try await dataset.install(fileAt: file)
      #expect(generation.number == 5)
      let error = await #expect(throws: DatasetError.self) { try await refresh.value }
      #expect(error?.code == .busy)
      #expect(try dataset.status.failureCount == 0)
    }
  }

  private final class Counter: Sendable { let count = Mutex(0) }

  private final class Flag: Sendable { let isSet = Mutex(false) }
#endif
