#if Datasets
  import EntityStore
  import Foundation
  import LoopbackWeb
  import Synchronization
  import Testing

  @testable import LodestoreDatasets

  /// Waits after failures, policies of reading, and clocks that are set.
  @Suite(.timeLimit(.minutes(30))) struct BackoffTests {
    /// A time of day that a test sets.
    private final class TestClock: Sendable {
      private let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))

      var now: Date { time.withLock { $0 } }

      func advance(by seconds: Double) { time.withLock { $0 += seconds } }
    }

    @Test func `Waits double up to the longest, and are randomized`() {
      let backoff = Backoff(first: .seconds(30), longest: .seconds(3600), fraction: { 1 })
      #expect(backoff.wait(afterFailures: 1, serverWait: nil) == .seconds(30))
      #expect(backoff.wait(afterFailures: 3, serverWait: nil) == .seconds(120))
      #expect(backoff.wait(afterFailures: 1_000_000, serverWait: nil) == .seconds(3600))
      #expect(backoff.wait(afterFailures: 1, serverWait: .seconds(500)) == .seconds(500))
      #expect(
        backoff.wait(afterFailures: 1, serverWait: .seconds(1e12)) == Backoff.longestServerWait)
      var low = backoff
      low.fraction = { 0 }
      #expect(low.wait(afterFailures: 2, serverWait: nil) == .seconds(30))
      let now = Date(timeIntervalSince1970: 0)
      #expect(
        backoff.isWaiting(for: now + 10, at: now) && !backoff.isWaiting(for: now - 1, at: now))
      // No failure can lead to a time so far ahead, so the clock was set back, and the program does
      // not wait.
      #expect(!backoff.isWaiting(for: now + 30 * 86_400, at: now))
    }

    @Test func `A back-off survives a restart, and the policy 'now' does not wait for it`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let fails = Mutex(true)
      let (server, _) = try published.serving { fails.withLock { $0 } ? Answer(500, []) : $1 }
      defer { server.stop() }
      let clock = TestClock()
      func dataset() throws -> CachedDataset {
        try specDataset(
          folder, .published(at: try server.url("/"), trusting: published.keys)
        ) { $0.clock = { clock.now } }
      }
      let first = try dataset()
      #expect(try await first.refreshError(now: false).code == .network)
      #expect(try first.status.nextAttempt == clock.now + 30)
      let restarted = try dataset()
      let error = try await restarted.refreshError(now: false)
      #expect(error.code == .waiting && server.log.count == 1)
      #expect(try await restarted.refreshError(now: true).code == .network)
      #expect(try restarted.status.failureCount == 2)
      #expect(try restarted.status.nextAttempt == clock.now + 60)
      clock.advance(by: 61)
      fails.withLock { $0 = false }
      try await dataset().refresh()
      #expect(try first.status.failureCount == 0 && first.status.lastFailure == nil)
      #expect(try first.status.nextAttempt == nil)
    }

    @Test func `A server's time to wait is stored`() async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      let (server, _) = try published.serving { _, _ in Answer(429, ["Retry-After: 7200"]) }
      defer { server.stop() }
      let clock = TestClock()
      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys)
      ) { $0.clock = { clock.now } }
      _ = try await dataset.refreshError()
      #expect(try dataset.status.nextAttempt == clock.now + 7200)
    }

    @Test func `Each refresh policy requests a refresh at its own times`() async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let fails = Mutex(false)
      let (server, _) = try published.serving { fails.withLock { $0 } ? Answer(500, []) : $1 }
      defer { server.stop() }
      let clock = TestClock()
      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys)
      ) { $0.clock = { clock.now } }
      await #expect(throws: DatasetError.self) { try await dataset.read(.cacheOnly) }
      #expect(server.log.isEmpty)
      // The folder has no generation, so the read waits.
      #expect(try await dataset.read(.cacheThenRefresh).number == 1)
      let asked = server.log.count
      #expect(try await dataset.read(.freshOnly).number == 1)
      #expect(try await dataset.read(.cacheThenRefresh).number == 1)
      #expect(server.log.count == asked)
      clock.advance(by: 61)
      try published.publish(2, in: folder)
      #expect(try await dataset.read(.freshOnly).number == 2)
      fails.withLock { $0 = true }
      clock.advance(by: 61)
      let kept = try await dataset.read(.freshElseCache)
      #expect(kept.number == 2 && kept.refreshError?.code == .network)
      #expect(kept.age.lastChecked == clock.now - 61)
      let error = await #expect(throws: DatasetError.self) { try await dataset.read(.freshOnly) }
      #expect(error?.code == .waiting)
      #expect(try await dataset.read(.cacheOnly).refreshError == nil)
    }

    @Test func `A clock that was set back or far ahead stops no refresh`() async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let (server, _) = try published.serving()
      defer { server.stop() }
      let clock = TestClock()
      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys)
      ) { $0.clock = { clock.now } }
      clock.advance(by: 10 * 365 * 86_400)
      try await dataset.refresh()
      clock.advance(by: -20 * 365 * 86_400)
      #expect(try dataset.status.isClockBehind)
      #expect(try dataset.current().age.timeSinceCheck(at: clock.now) == nil)
      try published.publish(2, in: folder)
      #expect(try await dataset.read(.freshOnly).number == 2)
    }

    @Test func `A failure under a clock that is ahead blocks no later refresh`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let fails = Mutex(false)
      let (server, _) = try published.serving { fails.withLock { $0 } ? Answer(500, []) : $1 }
      defer { server.stop() }
      let clock = TestClock()
      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys)
      ) { $0.clock = { clock.now } }
      try await dataset.refresh()
      // Ten years and three days ahead are tried. A wait of three days would be possible if the
      // failure were recent.
      for ahead: Double in [315_360_000, 259_200] {
        clock.advance(by: ahead)
        fails.withLock { $0 = true }
        _ = try await dataset.refreshError()
        fails.withLock { $0 = false }
        clock.advance(by: -ahead + 7200)
        let generation = Int(try dataset.current().number) + 1
        try published.publish(generation, in: folder)
        _ = try await dataset.read(.cacheThenRefresh)
        for _ in 0..<12_000 where try dataset.current().number != UInt64(generation) {
          try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try dataset.current().number == UInt64(generation))
      }
    }

    @Test func `A failure that cannot be written still makes this process wait`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let (server, _) = try published.serving { _, _ in Answer(500, []) }
      defer { server.stop() }
      let clock = TestClock()
      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys)
      ) { $0.clock = { clock.now } }
      // A folder in the way of the new state: it can be read and not replaced.
      try FileManager.default.createDirectory(
        atPath: dataset.content.folder.state + ".new", withIntermediateDirectories: true)
      #expect(try await dataset.refreshError(now: false).code == .network)
      #expect(try await dataset.refreshError(now: false).code == .waiting)
      #expect(server.log.count == 1)
      #expect(try dataset.status.failureCount == 1)
      #expect(try await dataset.refreshError(now: true).code == .network)
      #expect(try dataset.status.nextAttempt == clock.now + 60)
    }

    @Test func `A dataset stays fresh in the background, and reports each new generation`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let (server, _) = try published.serving()
      defer { server.stop() }
      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys))
      let other = try specDataset(folder, .none)
      var generations = dataset.generations.makeAsyncIterator()
      var others = other.generations.makeAsyncIterator()
      dataset.keepFresh(every: .milliseconds(1))
      #expect(try await generations.next()?.number == 1)
      #expect(try await others.next()?.number == 1)
      try published.publish(2, in: folder)
      #expect(try await generations.next()?.number == 2)
      #expect(try await others.next()?.number == 2)
      dataset.stopKeepingFresh()
    }
  }
#endif
