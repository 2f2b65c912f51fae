#if Datasets
  import EntityStore
  import Foundation
  import LoopbackWeb
  import Synchronization
  import Testing

  @testable import LodestoreDatasets

  /// Refreshing from a publisher's files on sound servers.
  @Suite(.timeLimit(.minutes(30))) struct PublishedRefreshTests {
    @Test func `The first refresh brings the newest generation, the next asks for one small file`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let (server, files) = try published.serving()
      defer { server.stop() }
      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys))
      let report = try await dataset.refresh()
      #expect(report.outcome == .replaced && report.generation == 1 && !report.usedPatch)
      try SpecGenerations.check(dataset.currentStore, is: 1)
      #expect(try dataset.current().age.lastChecked != nil)
      #expect(try dataset.current().age.dataAsOf == SpecGenerations.date(of: 1))
      let served = files.bytesServed
      #expect(report.bytesFetched == served)
      #expect(try await dataset.refresh().outcome == .current)
      // The manifest's entity tag shows that nothing has changed.
      #expect(files.bytesServed == served && server.targets.last == "/manifest.json")
      #expect(try dataset.status.place == server.url("/").absoluteString)
    }

    @Test func `A patch brings the next generation in fewer bytes`() async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder, count: 4_000)
      try published.publish(1, in: folder)
      let (server, files) = try published.serving()
      defer { server.stop() }
      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys))
      try await dataset.refresh()
      let whole = files.bytesServed
      try published.publish(2, in: folder)
      let report = try await dataset.refresh()
      #expect(report.usedPatch && report.generation == 2 && report.detours.isEmpty)
      #expect(files.bytesServed - whole < whole / 2)
      try SpecGenerations.check(dataset.currentStore, is: 2, count: 4_000)
    }

    @Test func `The first patch starts from the seed`() async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder, count: 4_000)
      try published.publish(1, in: folder)
      try published.publish(2, in: folder)
      let (server, _) = try published.serving()
      defer { server.stop() }
      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys),
        seed: folder.file("sealed-1"))
      let old = try dataset.currentStore
      #expect(try await dataset.refresh().usedPatch)
      try SpecGenerations.check(dataset.currentStore, is: 2, count: 4_000)
      try SpecGenerations.check(old, is: 1, count: 4_000)
    }

    @Test
    func `A patch with wrong bytes is replaced by the whole file, and tried at another mirror`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder, count: 2_000)
      try published.publish(1, in: folder)
      try published.publish(2, in: folder)
      let fails = Mutex(true)
      let (server, _) = try published.serving { request, answer in
        if request.path.hasPrefix("/d/") { return Answer(200, [], body: [1, 2, 3]) }
        return request.path.hasPrefix("/g/") && fails.withLock { $0 } ? Answer(500, []) : answer
      }
      defer { server.stop() }
      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys),
        seed: folder.file("sealed-1"))
      let error = try await dataset.refreshError()
      #expect(error.code == .network && error.side == .network)
      #expect(try dataset.content.state().failedPatch == nil)
      fails.withLock { $0 = false }
      let (sound, _) = try published.serving()
      defer { sound.stop() }
      let other = try specDataset(
        folder, .published(at: try sound.url("/"), trusting: published.keys),
        seed: folder.file("sealed-1"))
      let report = try await other.refresh(now: true)
      #expect(report.generation == 2 && report.usedPatch)
      try SpecGenerations.check(dataset.currentStore, is: 2, count: 2_000)
    }

    @Test func `Mirrors are asked in order, and the next one continues after a failure`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let (bad, _) = try published.serving { _, _ in Answer(503, []) }
      let (good, _) = try published.serving()
      defer {
        bad.stop()
        good.stop()
      }
      let dataset = try specDataset(
        folder,
        .published(
          at: [try bad.url("/a"), try good.url("/"), try bad.url("/c")], trusting: published.keys))
      let report = try await dataset.refresh()
      #expect(report.place == (try good.url("/").absoluteString))
      #expect(report.detours.count == 1 && bad.targets == ["/a/manifest.json"])
    }

    @Test func `A manifest names mirrors, which are asked when the program's mirrors fail`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      let isDown = Mutex(false)
      let (second, _) = try published.serving()
      let (first, _) = try published.serving { isDown.withLock { $0 } ? Answer(500, []) : $1 }
      defer {
        first.stop()
        second.stop()
      }
      try published.publish(1, in: folder, mirrors: [try second.url("/").absoluteString])
      let dataset = try specDataset(
        folder, .published(at: try first.url("/"), trusting: published.keys))
      try await dataset.refresh()
      #expect(second.log.isEmpty)
      try published.publish(2, in: folder)
      isDown.withLock { $0 = true }
      #expect(try await dataset.refresh().place == second.url("/").absoluteString)
      try SpecGenerations.check(dataset.currentStore, is: 2)
    }

    @Test func `A server's time to wait stays for it when a later mirror succeeds`() async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let (busy, _) = try published.serving { _, _ in Answer(503, ["Retry-After: 7200"]) }
      let (good, _) = try published.serving()
      defer {
        busy.stop()
        good.stop()
      }
      let dataset = try specDataset(
        folder,
        .published(at: [try busy.url("/"), try good.url("/")], trusting: published.keys))
      try await dataset.refresh()
      let report = try await dataset.refresh()
      #expect(busy.log.count == 1 && report.detours.count == 1)
      try await dataset.refresh(now: true)
      #expect(busy.log.count == 2)
    }

    @Test func `A folder that cannot be read does not stop a refresh from asking the next mirror`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      // A folder is in the place of the manifest, which therefore exists but cannot be read.
      try FileManager.default.createDirectory(
        atPath: folder.file("medium/manifest.json"), withIntermediateDirectories: true)
      let (server, _) = try published.serving()
      defer { server.stop() }
      let dataset = try specDataset(
        folder,
        .published(
          at: [URL(fileURLWithPath: folder.file("medium")), try server.url("/")],
          trusting: published.keys))
      #expect(try await dataset.refresh().generation == 1)
    }

    @Test func `The wait without a connection stays short`() async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      let (server, _) = try published.serving()
      let url = try server.url("/")
      server.stop()
      let now = Date(timeIntervalSince1970: 1_800_000_000)
      let dataset = try specDataset(folder, .published(at: url, trusting: published.keys)) {
        $0.clock = { now }
      }
      for _ in 0..<8 { _ = try await dataset.refreshError() }
      #expect(try dataset.status.nextAttempt == now + 300)
    }

    @Test func `A refresh leaves a mirror that sends single bytes slowly`() throws {
      let start = ContinuousClock.now
      let passed = Mutex(Duration.zero)
      let small = Pace("small", isSmall: true) { start + passed.withLock { $0 } }
      let large = Pace("large") { start + passed.withLock { $0 } }
      passed.withLock { $0 = .seconds(59) }
      try small.take(1)
      try large.take(1)
      passed.withLock { $0 = .seconds(100) }
      #expect(throws: DatasetError.self) { try small.take(1 << 20) }
      try large.take(1 << 20)
      passed.withLock { $0 = .seconds(1000) }
      #expect(throws: DatasetError.self) { try large.take(1) }
    }

    @Test func `Data that is too old waits for the refresh`() async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      try published.publish(9, in: folder)
      let (server, _) = try published.serving()
      defer { server.stop() }
      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys),
        seed: folder.file("sealed-1")
      ) {
        $0 = $0.refusesOlder(than: .seconds(5 * 86_400))
        $0.clock = { SpecGenerations.date(of: 10) }
      }
      #expect(try await dataset.read(.cacheThenRefresh).number == 9)
    }

    @Test func `A refresh that takes too long continues, and the current data is read meanwhile`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      try published.publish(2, in: folder)
      let isRead = Mutex(false)
      let (server, _) = try published.serving { request, answer in
        while request.path == "/manifest.json", !isRead.withLock({ $0 }) { usleep(1_000) }
        return answer
      }
      defer { server.stop() }
      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys),
        seed: folder.file("sealed-1")
      ) { $0.freshWait = .milliseconds(50) }
      let read = try await dataset.read(.freshElseCache)
      #expect(read.number == 1 && read.refreshError?.code == .network)
      isRead.withLock { $0 = true }
      #expect(try await dataset.refresh().generation == 2)
      #expect(server.targets.filter { $0 == "/manifest.json" }.count == 1)
    }

    @Test func `A login page of a network is no fault of the publisher`() async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      let (server, _) = try published.serving { _, _ in
        Answer(200, [], body: Array("<!DOCTYPE html><title>Login</title>".utf8))
      }
      defer { server.stop() }
      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys))
      let error = try await dataset.refreshError()
      #expect(error.side == .network && error.message.contains("login"))
    }

    @Test func `A folder is a mirror too, for example on a carried medium`() async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let dataset = try specDataset(
        folder,
        .published(at: URL(fileURLWithPath: published.path), trusting: published.keys))
      #expect(try await dataset.refresh().generation == 1)
      try SpecGenerations.check(dataset.currentStore, is: 1)
    }

    @Test func `Keys are followed along the publisher's chain, and foreign keys are refused`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let (server, _) = try published.serving()
      defer { server.stop() }
      let stranger = try SigningKey(seed: [UInt8](repeating: 1, count: 32))
      let wrong = try specDataset(
        folder,
        .published(at: try server.url("/"), trusting: TrustedKeys("1:\(stranger.publicKey)")),
        cache: "wrong")
      let error = try await wrong.refreshError()
      #expect(error.code == .untrusted && error.side == .signature)
      #expect(try wrong.status.generation == nil)

      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys))
      try await dataset.refresh()
      let second = KeySet(
        name: SpecGenerations.name, number: 2, createdAt: Date(), keys: [stranger.publicKey])
      try folder.write(try second.signed(by: [published.key]), to: "published/keys/2.json")
      try published.publish(2, in: folder, key: stranger)
      #expect(try await dataset.refresh(now: true).generation == 2)
      #expect(server.targets.contains("/keys/2.json"))
      // The program has stored the key chain, so it does not request its files again.
      try published.publish(3, in: folder, key: stranger)
      #expect(try await dataset.refresh(now: true).generation == 3)
      #expect(server.targets.filter { $0 == "/keys/2.json" }.count == 1)
    }

    @Test func `A refresh reports its progress, and several callers share one`() async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder, count: 2_000)
      try published.publish(1, in: folder)
      let (server, _) = try published.serving()
      defer { server.stop() }
      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys))
      let steps = Mutex<[RefreshProgress]>([])
      async let one = dataset.refresh { step in steps.withLock { $0.append(step) } }
      async let other = dataset.refresh()
      _ = try await (one, other)
      #expect(server.targets.filter { $0 == "/manifest.json" }.count == 1)
      let seen = steps.withLock { $0 }
      #expect(Set(seen.map(\.step)) == [.checking, .fetching, .installing])
      #expect(seen.last { $0.step == .fetching }?.fraction == 1)
    }

    @Test func `A cancelled refresh ends, leaves no failure, and the next one continues`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let stalls = Mutex(true)
      let (server, _) = try published.serving { request, answer in
        stalls.withLock { $0 } && request.path.hasSuffix(".zst") ? .never : answer
      }
      defer { server.stop() }
      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys))
      let task = Task { try await dataset.refresh() }
      while !server.targets.contains(where: { $0.hasSuffix(".zst") }) {
        try await Task.sleep(for: .milliseconds(5))
      }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(try dataset.status.lastFailure == nil)
      stalls.withLock { $0 = false }
      #expect(try await dataset.refresh().generation == 1)
    }
  }
#endif
