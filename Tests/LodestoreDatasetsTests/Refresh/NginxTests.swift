#if Datasets
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestoreDatasets

  /// A published folder served by nginx, as Debian has it, on loopback.
  struct NginxTests {
    @Test
    func
      `A dataset comes from nginx, the next generation by a patch, and a killed server breaks nobody`()
      async throws
    {
      let folder = try ScratchFolder()
      let site = folder.file("site")
      let publisher = DatasetPublisher(site, key: try SigningKey())
      let specs = SpecGenerations(folder, count: 4_000)
      let keys = try publisher.publish(specs.seal(1)).trustedKeys
      guard let server = try NginxServer(serving: site, in: folder) else { return }
      var options = CachedDataset.Options()
      options.freshFor = .zero
      options.firstWait = .milliseconds(1)
      let dataset = try CachedDataset(
        SpecGenerations.name, in: folder.file("cache"), entities: [Spec.self],
        origin: .published(at: server.url, trusting: keys), options: options)
      var first: RefreshReport?
      // nginx needs a moment until it listens.
      for _ in 0..<2_400 where first == nil {
        first = try? await dataset.refresh()
        if first == nil { try await Task.sleep(for: .milliseconds(50)) }
      }
      #expect(try #require(first).generation == 1)
      try SpecGenerations.check(dataset.currentStore, is: 1, count: 4_000)
      try publisher.publish(specs.seal(2))
      let second = try await dataset.refresh()
      #expect(second.generation == 2 && second.usedPatch)
      #expect(second.bytesFetched < (first?.bytesFetched ?? 0))
      try SpecGenerations.check(dataset.currentStore, is: 2, count: 4_000)
      server.stop()
      await #expect(throws: DatasetError.self) { try await dataset.refresh() }
      try SpecGenerations.check(dataset.currentStore, is: 2, count: 4_000)
    }
  }
#endif
