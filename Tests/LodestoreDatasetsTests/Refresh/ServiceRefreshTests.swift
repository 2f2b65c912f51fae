#if Web && Datasets
  import EntityStore
  import Foundation
  import LodestoreWeb
  import LoopbackWeb
  import Synchronization
  import Testing

  @testable import LodestoreDatasets

  /// Refreshing from a web service by an importer.
  @Suite(.timeLimit(.minutes(30))) struct ServiceRefreshTests {
    private struct SpecRecord: Decodable {
      var name: String
      var version: Int
      var summary: String
    }

    /// Pages of JSON, by generation.
    private static func pages(_ generation: Int, count: Int = 300) -> [String: [UInt8]] {
      var pages: [String: [UInt8]] = [:]
      let specs = SpecGenerations.specs(of: generation, count: count)
      for page in 0..<3 {
        let records = specs[(page * count / 3)..<((page + 1) * count / 3)].map {
          #"{"name": "\#($0.name)", "version": \#($0.version), "summary": "\#($0.summary)"}"#
        }
        let next = page < 2 ? "/specs/\(page + 2)" : ""
        let list = records.joined(separator: ",")
        let text = #"{"pages": 3, "next": "\#(next)", "result": [\#(list)]}"#
        pages["/specs/\(page + 1)"] = Array(text.utf8)
      }
      return pages
    }

    private func dataset(
      _ folder: ScratchFolder, _ server: LoopbackServer, clock: @escaping @Sendable () -> Date
    ) throws -> CachedDataset {
      let url = try server.url("/specs/1")
      let origin = DatasetOrigin.service { refresh in
        var importer = Importer(into: refresh.store, Spec.self, matching: .unique(\.name))
        importer.options.resumes = true
        var options = WebPages.Options()
        options.retries = 0
        _ = try await importer.run(
          WebPages(url, paging: .nextLink(at: "next"), options: options), records: "result",
          onEvent: { event in
            if case .committed(let progress) = event {
              refresh.report(completed: progress.committed, of: nil)
            }
          }
        ) { (record: SpecRecord) in
          Spec(name: record.name, version: record.version, summary: record.summary)
        }
      }
      return try specDataset(folder, origin) { $0.clock = clock }
    }

    @Test func `An import makes the next generation, whole, and requests no unchanged page again`()
      async throws
    {
      let folder = try ScratchFolder()
      let files = ServedFiles(Self.pages(1), type: "application/json")
      let server = try LoopbackServer { files.answer(to: $0) }
      defer { server.stop() }
      let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
      let dataset = try dataset(folder, server) { time.withLock { $0 } }
      let first = try await dataset.refresh()
      #expect(first.outcome == .replaced && first.generation == 1_800_000_000)
      try SpecGenerations.check(dataset.currentStore, is: 1, count: 300)
      #expect(try dataset.current().age.dataAsOf == Date(timeIntervalSince1970: 1_800_000_000))
      let old = try dataset.currentStore
      let served = files.bytesServed

      // Nothing has changed, so the service sends pages without content, and no generation is made.
      time.withLock { $0 += 100 }
      #expect(try await dataset.refresh().outcome == .current)
      #expect(files.bytesServed == served)
      #expect(try dataset.current().age.lastChecked == Date(timeIntervalSince1970: 1_800_000_100))

      for (path, page) in Self.pages(2) { files[path] = page }
      time.withLock { $0 += 100 }
      #expect(try await dataset.refresh().generation == 1_800_000_200)
      try SpecGenerations.check(dataset.currentStore, is: 2, count: 300)
      try SpecGenerations.check(old, is: 1, count: 300)
    }

    @Test func `An import that fails leaves the generation, and continues the next time`()
      async throws
    {
      let folder = try ScratchFolder()
      let files = ServedFiles(Self.pages(1), type: "application/json")
      let fails = Mutex(true)
      let server = try LoopbackServer { request in
        request.path == "/specs/3" && fails.withLock { $0 }
          ? Answer(500, []) : files.answer(to: request)
      }
      defer { server.stop() }
      let dataset = try dataset(folder, server) { Date(timeIntervalSince1970: 1_800_000_000) }
      let error = try await dataset.refreshError()
      #expect(error.code == .network && error.message.contains("/specs/3"))
      #expect(try dataset.status.generation == nil && dataset.status.failureCount == 1)
      fails.withLock { $0 = false }
      try await dataset.refresh(now: true)
      try SpecGenerations.check(dataset.currentStore, is: 1, count: 300)
      // The import continued after the last committed page, or asked for that page by its entity
      // tag.
      #expect(server.targets.filter { $0 == "/specs/1" }.count <= 2)
    }

    @Test func `A service without news confirms its data as current`() async throws {
      let folder = try ScratchFolder()
      let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
      let dataset = try specDataset(
        folder,
        .service { refresh in
          try await refresh.store.write { tx in
            if try tx.count(Spec.all) == 0 {
              try tx.insert(SpecGenerations.specs(of: 1, count: 10))
            }
          }
        }
      ) {
        $0 = $0.refusesOlder(than: .seconds(86_400))
        $0.clock = { time.withLock { $0 } }
      }
      try await dataset.refresh()
      time.withLock { $0 += 2 * 86_400 }
      #expect(throws: DatasetError.self) { try dataset.current() }
      #expect(try await dataset.refresh().outcome == .current)
      #expect(try dataset.current().age.dataAsOf == Date(timeIntervalSince1970: 1_800_172_800))
      #expect(try dataset.status.age?.dataAsOf == Date(timeIntervalSince1970: 1_800_172_800))
    }

    @Test func `An importer's store with damaged pages is made again, with a report`()
      async throws
    {
      let folder = try ScratchFolder()
      let dataset = try specDataset(
        folder,
        .service { refresh in
          try await refresh.store.write { tx in
            if try tx.count(Spec.all) == 0 {
              try tx.insert(SpecGenerations.specs(of: 1, count: 2_000))
            }
          }
        })
      try await dataset.refresh()
      // A page in the middle of the importer's store is damaged. Only the sealing reads it.
      let path = "\(dataset.content.folder.service)/specs.lodestore"
      var bytes = try ScratchFolder.bytes(of: path)
      let page = bytes.count / 2 / 4_096 * 4_096
      for index in page..<page + 4_096 { bytes[index] = 0xA5 }
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      let report = try await dataset.refresh(now: true)
      #expect(report.detours.count == 1, "\(report)")
      try SpecGenerations.check(dataset.currentStore, is: 1, count: 2_000)
      #expect(try await dataset.refresh(now: true).detours.isEmpty)
    }

    @Test func `The importer's store begins with the seed, whose records keep their ids`()
      async throws
    {
      let folder = try ScratchFolder()
      let seed = try SpecGenerations(folder, count: 300).seal(1)
      let files = ServedFiles(Self.pages(2), type: "application/json")
      let server = try LoopbackServer { files.answer(to: $0) }
      defer { server.stop() }
      let url = try server.url("/specs/1")
      let known = Mutex<[Int]>([])
      let changed = Mutex<[Int]>([])
      func dataset() throws -> CachedDataset {
        let origin = DatasetOrigin.service { refresh in
          let count = try await refresh.store.count(Spec.all)
          known.withLock { $0.append(count) }
          let report = try await Importer(
            into: refresh.store, Spec.self, matching: .unique(\.name)
          ).run(WebPages(url, paging: .nextLink(at: "next")), records: "result") {
            (record: SpecRecord) in
            Spec(name: record.name, version: record.version, summary: record.summary)
          }
          changed.withLock { $0.append(report.inserted + report.updated) }
        }
        return try specDataset(folder, origin, seed: seed) {
          $0.clock = { Date(timeIntervalSince1970: 1_800_000_000) }
        }
      }
      let first = try dataset()
      let ids = try await first.currentStore.fetch(Spec.all).map(\.id)
      let report = try await first.refresh()
      #expect(report.outcome == .replaced && report.detours.isEmpty, "\(report)")
      try SpecGenerations.check(first.currentStore, is: 2, count: 300)
      #expect(try await first.currentStore.fetch(Spec.all).map(\.id) == ids)
      let expected = zip(
        SpecGenerations.specs(of: 1, count: 300), SpecGenerations.specs(of: 2, count: 300)
      ).count { $0.version != $1.version }
      #expect(known.withLock { $0 } == [300] && changed.withLock { $0 } == [expected])
      // If the importer's store is lost, a new one begins with the current generation.
      let path = first.content.folder.service
      for name in SystemFile.names(in: path) { SystemFile.remove("\(path)/\(name)") }
      #expect(try await dataset().refresh(now: true).outcome == .current)
      #expect(changed.withLock { $0 } == [expected, 0])
    }

    /// A dataset of a service that has one more record at each refresh, and sends only that record.
    private func growing(
      _ folder: ScratchFolder, seed: String? = nil, clock: @escaping @Sendable () -> Date
    ) throws -> CachedDataset {
      try specDataset(
        folder,
        .service { refresh in
          try await refresh.store.write { tx in
            let count = try tx.count(Spec.all)
            try tx.insert(Spec(name: "New \(count)", version: 0, summary: ""))
          }
        }, seed: seed
      ) { $0.clock = clock }
    }

    @Test func `An importer's store that cannot be opened is made from the current generation`()
      async throws
    {
      let folder = try ScratchFolder()
      let seed = try SpecGenerations(folder, count: 300).seal(1)
      let dataset = try growing(folder, seed: seed) { Date(timeIntervalSince1970: 1_800_000_000) }
      try await dataset.refresh()
      let ids = try await dataset.currentStore.fetch(Spec.all).map(\.id)
      try Data(repeating: 0xA5, count: 40_000)
        .write(to: URL(fileURLWithPath: "\(dataset.content.folder.service)/specs.lodestore"))
      let report = try await dataset.refresh(now: true)
      #expect(report.detours.count == 1, "\(report)")
      let after = try await dataset.currentStore.fetch(Spec.all)
      #expect(Array(after.map(\.id).prefix(301)) == ids && after.count == 302)
    }

    @Test func `The next import begins with a newer seed or an installed file`()
      async throws
    {
      let folder = try ScratchFolder()
      let files = SpecGenerations(folder, count: 50)
      let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
      let clock: @Sendable () -> Date = { time.withLock { $0 } }
      let first = try growing(folder, seed: files.seal(1), clock: clock)
      try await first.refresh()
      time.withLock { $0 += 1_000 }
      let seed = try files.seal(3, as: 1_800_000_500)
      let second = try growing(folder, seed: seed, clock: clock)
      try SpecGenerations.check(second.currentStore, is: 3, count: 50)
      try await second.refresh(now: true)
      let names = try await second.currentStore.fetch(Spec.where { $0.version == 3 })
      #expect(names.count == SpecGenerations.specs(of: 3, count: 50).count { $0.version == 3 })
      #expect(try await second.currentStore.count(Spec.all) == 51)
      try await second.install(fileAt: files.seal(4, as: 1_800_001_500))
      time.withLock { $0 += 1_000 }
      try await second.refresh(now: true)
      #expect(try await second.currentStore.count(Spec.where { $0.version == 4 }) > 0)
      #expect(try await second.currentStore.count(Spec.all) == 51)
      // If nothing else has happened, the importer's store is used again.
      try await second.refresh(now: true)
      #expect(try await second.currentStore.count(Spec.all) == 52)
    }

    @Test func `An importer's own cancellation is a failure, and a full disk is not its fault`()
      async throws
    {
      let dataset = try specDataset(
        try ScratchFolder(), .service { _ in throw CancellationError() })
      #expect(try await dataset.refreshError().code == .importFailed)
      #expect(try dataset.status.failureCount == 1 && dataset.status.nextAttempt != nil)
    }

    @Test func `A refresh under a clock that is ahead hides no later seed`() async throws {
      let folder = try ScratchFolder()
      let now = Date(timeIntervalSince1970: 1_800_000_000)
      let time = Mutex(now)
      let generation = Mutex(2)
      func dataset(seed: Int) throws -> CachedDataset {
        let number = Int(now.timeIntervalSince1970) + seed * 1_000
        let file = folder.file("\(number).lodestore")
        if !FileManager.default.fileExists(atPath: file) {
          try SpecGenerations(folder, count: 50).seal(seed, as: number)
        }
        return try specDataset(
          folder,
          .service { refresh in
            let specs = SpecGenerations.specs(of: generation.withLock { $0 }, count: 50)
            try await refresh.store.write { tx in
              for spec in try tx.fetch(Spec.all) { try tx.delete(spec) }
              try tx.insert(specs)
            }
          }, seed: file
        ) { $0.clock = { time.withLock { $0 } } }
      }
      let first = try dataset(seed: 1)
      time.withLock { $0 += 10 * 365 * 86_400 }
      try await first.refresh()
      time.withLock { $0 = now + 20_000 }
      // The seed of this version is older than the current generation. The seed of the next version
      // is newer.
      try SpecGenerations.check(dataset(seed: 1).currentStore, is: 2, count: 50)
      let updated = try dataset(seed: 3)
      try SpecGenerations.check(updated.currentStore, is: 3, count: 50)
      generation.withLock { $0 = 4 }
      let report = try await updated.refresh(now: true)
      #expect(report.generation == UInt64(now.timeIntervalSince1970) + 20_000)
      try SpecGenerations.check(dataset(seed: 3).currentStore, is: 4, count: 50)
    }

    @Test func `The number of a generation rises, whatever the clock shows`() {
      #expect(ServiceImport.number(at: Date(timeIntervalSince1970: 50), after: 7) == 50)
      #expect(ServiceImport.number(at: Date(timeIntervalSince1970: -50), after: 7) == 8)
      #expect(ServiceImport.number(at: Date(timeIntervalSince1970: 50), after: 50) == 51)
      #expect(ServiceImport.number(at: .distantFuture, after: .max) == .max)
    }
  }
#endif
