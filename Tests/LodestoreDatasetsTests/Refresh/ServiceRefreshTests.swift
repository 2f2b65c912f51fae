#if Web && Datasets
  import EntityStore
  import Foundation
  import LodestoreWeb
  import LoopbackWeb
  import Synchronization
  import Testing

  @testable import LodestoreDatasets

  /// Refreshing from a web service by an importer.
  @Suite(.timeLimit(.minutes(5))) struct ServiceRefreshTests {
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

    @Test func `An import is the next generation, whole, and unchanged pages are not sent again`()
      async throws
    {
      let folder = try ScratchFolder()
      let files = ServedFiles(Self.pages(1), type: "application/json")
      let server = try LoopbackServer { files.answer(to: $0) }
      server.start()
      defer { server.stop() }
      let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
      let dataset = try dataset(folder, server) { time.withLock { $0 } }
      let first = try await dataset.refresh()
      #expect(first.outcome == .replaced && first.generation == 1_800_000_000)
      try SpecGenerations.check(dataset.currentStore, is: 1, count: 300)
      #expect(try dataset.current().age.dataAsOf == Date(timeIntervalSince1970: 1_800_000_000))
      let old = try dataset.currentStore
      let served = files.bytesServed

      // Nothing has changed: the pages come without content, and no generation is made.
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

    @Test func `An import that fails leaves the generation, and goes on the next time`()
      async throws
    {
      let folder = try ScratchFolder()
      let files = ServedFiles(Self.pages(1), type: "application/json")
      let fails = Mutex(true)
      let server = try LoopbackServer { request in
        request.path == "/specs/3" && fails.withLock { $0 }
          ? Answer(500, []) : files.answer(to: request)
      }
      server.start()
      defer { server.stop() }
      let dataset = try dataset(folder, server) { Date(timeIntervalSince1970: 1_800_000_000) }
      let error = try await dataset.refreshError()
      #expect(error.code == .network && error.message.contains("/specs/3"))
      #expect(try dataset.status.generation == nil && dataset.status.failureCount == 1)
      fails.withLock { $0 = false }
      try await dataset.refresh(now: true)
      try SpecGenerations.check(dataset.currentStore, is: 1, count: 300)
      // It went on behind the last page that was committed, or asked for it by its entity tag.
      #expect(server.targets.filter { $0 == "/specs/1" }.count <= 2)
    }

    @Test func `The number of a generation rises whatever the clock says`() {
      #expect(ServiceImport.number(at: Date(timeIntervalSince1970: 50), after: 7) == 50)
      #expect(ServiceImport.number(at: Date(timeIntervalSince1970: -50), after: 7) == 8)
      #expect(ServiceImport.number(at: Date(timeIntervalSince1970: 50), after: 50) == 51)
      #expect(ServiceImport.number(at: .distantFuture, after: .max) == .max)
    }
  }
#endif
