@testable import EntityStore
import Foundation
import Synchronization
import Testing

@Suite struct `Importing pages` {
  private func stream<Page: Sendable>(_ pages: [Page]) -> AsyncStream<Page> {
    AsyncStream { continuation in
      for page in pages { continuation.yield(page) }
      continuation.finish()
    }
  }

  private func importPods(
    _ pages: [String], into store: Store, onConflict policy: MergePolicy<Pod> = .replace
  ) async throws -> ImportReport {
    let importer = Importer(
      into: store, Pod.self, matching: .unique(\.name, \.version), onConflict: policy)
    return try await importer.run(
      stream(pages.map { Data($0.utf8) }), records: "result", as: PodRecord.self
    ) { $0.pod }
  }

  private func importFilms(
    _ pages: [String], into store: Store
  ) async throws -> ImportReport {
    let importer = Importer(into: store, Film.self, matching: .unique(\.episode))
    return try await importer.run(stream(pages.map { Data($0.utf8) }), as: FilmRecord.self) {
      Film(title: $0.title, episode: $0.episode_id, code: $0.code)
    }
  }

  private func page(_ names: [String], summary: String = "s") -> String {
    let records = names.map { #"{"name":"\#($0)","version":"1","summary":"\#(summary)"}"# }
    return #"{"result":[\#(records.joined(separator: ","))]}"#
  }

  @Test func `a second run of the same pages changes nothing and reports that`() async throws {
    try await withTemporaryStore([Pod.self]) { store in
      let pages = [page(["a", "b", "c"]), page(["d"]), page([])]
      let first = try await importPods(pages, into: store)
      #expect(first.pages == 3 && first.inserted == 4 && first.rejected == 0)
      let pods = try await store.read { try $0.fetch(Pod.all) }
      let second = try await importPods(pages, into: store)
      #expect(second.pages == 3 && second.unchanged == 4)
      #expect(second.inserted == 0 && second.updated == 0 && second.rejected == 0)
      #expect(second.description.contains("4 unchanged"))
      #expect(try await store.read { try $0.count(Pod.all) } == 4)
      #expect(try await store.read { try $0.fetch(Pod.all) } == pods)
    }
  }

  @Test func `renaming to an unknown attribute is refused before a page is requested`() async throws
  {
    try await withTemporaryStore([Pod.self]) { store in
      _ = try await importPods([page(["a"])], into: store)
      let importer = Importer(into: store, Pod.self, matching: .unique(\.name, \.version))
      let error = await #expect(throws: StoreError.self) {
        try await importer.run(
          stream([Data(page(["a"]).utf8)]), records: "result",
          renaming: ["text": "summary", "summary": "sumary"])
      }
      #expect(error?.code == .importStopped)
      #expect(
        error?.message.contains("'sumary', for the member 'summary', is no attribute of it") == true
      )
      #expect(error?.message.contains("did you mean 'summary'?") == true)
      #expect(try await store.read { try $0.fetch(Pod.all).map(\.summary) } == ["s"])
    }
  }

  @Test(arguments: [Int.min, 0, 1_000, Int.max])
  func `any number of pages may be decoded at once`(count: Int) async throws {
    try await withTemporaryStore([Pod.self]) { store in
      var options = ImportOptions()
      options.pagesDecodedAtOnce = count
      let importer = Importer(
        into: store, Pod.self, matching: .unique(\.name, \.version), options: options)
      let pages = (0..<5).map { Data(page(["a\($0)"]).utf8) }
      let report = try await importer.run(stream(pages), records: "result", as: PodRecord.self) {
        $0.pod
      }
      #expect(report.inserted == 5 && report.pages == 5)
    }
  }

  @Test func `changed records are updated in place, or stay unchanged on request`() async throws {
    try await withTemporaryStore([Pod.self]) { store in
      _ = try await importPods([page(["a", "b"])], into: store)
      let ignored = try await importPods(
        [page(["a", "c"], summary: "new")], into: store, onConflict: .ignore)
      #expect(ignored.ignored == 1 && ignored.inserted == 1 && ignored.updated == 0)
      let updated = try await importPods([page(["b", "c"], summary: "new")], into: store)
      #expect(updated.updated == 1 && updated.unchanged == 1)
      let pods = try await store.read { try $0.fetch(Pod.all) }
      #expect(pods.map(\.name) == ["a", "b", "c"] && pods.map(\.id.rawValue) == [1, 2, 3])
      #expect(pods.map(\.summary) == ["s", "new", "new"])
    }
  }

  @Test func `the last of several records with one key in a page is stored`()
    async throws
  {
    try await withTemporaryStore([Pod.self]) { store in
      let text = #"""
        {"result":[{"name":"a","version":"1","stars":1},{"name":"b"},
        {"name":"a","version":"1","stars":2},{"name":"a","version":"1","stars":3}]}
        """#
      let report = try await importPods([text], into: store)
      #expect(report.inserted == 1 && report.rejected == 3)
      #expect(report.rejects.map(\.record) == [1, 2, 3])
      #expect(report.rejects[0].reason.contains("Pod.name+version"))
      #expect(try await store.read { try $0.fetch(Pod.all).map(\.stars) } == [3])
      let again = try await importPods([text], into: store)
      #expect(again.unchanged == 1 && again.rejected == 3)
    }
  }

  @Test func `a record that does not decode is rejected alone, with its position and reason`()
    async throws
  {
    try await withTemporaryStore([Pod.self]) { store in
      let text = #"{"result":[{"name":"a","version":"1"},{"name":"b","version":7},{"name":"c"}]}"#
      let report = try await importPods([page(["x"]), text], into: store)
      #expect(report.inserted == 2 && report.rejected == 2)
      let wrong = report.rejects[0]
      #expect(wrong.page == 2 && wrong.record == 2)
      let offset = try #require(wrong.byteOffset)
      #expect(Array(text.utf8)[offset] == UInt8(ascii: "7"))
      let absent = report.rejects[1]
      #expect(absent.record == 3 && absent.reason.contains("version"))
      #expect(absent.byteOffset == text.utf8.count - #"{"name":"c"}]}"#.utf8.count)
    }
  }

  @Test func `a violation of another unique index rejects only its record`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      let report = try await importFilms(
        [
          #"[{"title":"a","episode_id":1,"code":"x"},{"title":"b","episode_id":2,"code":"x"}]"#,
          #"[{"title":"c","episode_id":3,"code":"x"},{"title":"d","episode_id":4}]"#,
        ], into: store)
      #expect(report.inserted == 2 && report.rejected == 2 && report.pages == 2)
      #expect(report.rejects.map(\.page) == [1, 2] && report.rejects.map(\.record) == [2, 1])
      #expect(report.rejects.allSatisfy { $0.reason.contains("Film.code") })
      #expect(
        try await store.read { try $0.fetch(Film.all).map(\.title).sorted() } == ["a", "d"])
    }
  }

  @Test func `a malformed page stops the import, and keeps the pages before it whole`() async throws
  {
    try await withTemporaryStore([Pod.self]) { store in
      let broken = "{\"result\":[{\"name\":\"c\",\"version\":\"1\"},\n  {\"name\" \"d\"}]}"
      let error = await #expect(throws: StoreError.self) {
        try await importPods([page(["a"]), page(["b"]), broken, page(["e"])], into: store)
      }
      #expect(error?.code == .importStopped)
      let message = try #require(error?.message)
      #expect(message.contains("page 3") && message.contains("line 2"))
      #expect(message.contains("column"), "\(message)")
      #expect(try await store.read { try $0.fetch(Pod.all).map(\.name) } == ["a", "b"])
    }
  }

  @Test(arguments: [#"{"results":[]}"#, #"{"result":{}}"#, "[]", "7"])
  func `a page without the array stops the import, naming its members`(_ text: String) async throws
  {
    try await withTemporaryStore([Pod.self]) { store in
      let error = await #expect(throws: StoreError.self) {
        try await importPods([text], into: store)
      }
      #expect(error?.code == .importStopped && error?.message.contains("'result'") == true)
    }
  }

  @Test func `a record with two spellings of one member is rejected alone`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      let page = Data(
        #"[{"episode_id":1,"title":"a","caf\u00e9":1,"cafe\u0301":2},{"episode_id":2,"title":"b"}]"#
          .utf8)
      let pages = AsyncStream<Data> { continuation in
        continuation.yield(page)
        continuation.finish()
      }
      let importer = Importer(into: store, Film.self, matching: .unique(\.episode))
      let report = try await importer.run(pages, as: FilmRecord.self) { record in
        Film(title: record.title, episode: record.episode_id, code: nil, released: nil)
      }
      #expect(report.inserted == 1 && report.rejects.map(\.record) == [1])
      #expect(report.rejects.first?.reason.contains("another spelling of Unicode") == true)
    }
  }

  @Test func `an importer without a unique index to match by is refused`() async throws {
    try await withTemporaryStore([Pod.self]) { store in
      let importer = Importer(into: store, Pod.self, matching: .unique(\.name))
      let error = await #expect(throws: StoreError.self) {
        try await importer.run(stream([Data("[]".utf8)]), as: PodRecord.self) { $0.pod }
      }
      #expect(error?.code == .unknownIndex && error?.message.contains("Pod.name+version") == true)
    }
  }

  @Test func `decoded pages are imported, omitted by nil and rejected by an error`() async throws {
    struct Unwanted: Error, CustomStringConvertible { let description = "unwanted" }
    try await withTemporaryStore([Film.self]) { store in
      let importer = Importer(into: store, Film.self, matching: .unique(\.episode))
      let report = try await importer.run(decoded: stream([[1, 2, 3], [4, 5]])) { episode in
        if episode == 2 { return nil }
        if episode == 4 { throw Unwanted() }
        return Film(title: "film", episode: episode)
      }
      #expect(report.inserted == 3 && report.pages == 2)
      #expect(
        report.rejects
          == [ImportReport.Reject(page: 2, record: 1, byteOffset: nil, reason: "unwanted")])
      #expect(try await store.read { try $0.fetch(Film.all).map(\.episode) } == [1, 3, 5])
    }
  }

  @Test func `a store that is closed during an import ends the import with an error`() async throws
  {
    try await withTemporaryStore([Film.self]) { store in
      let pages = (0..<50).map { Array($0 * 10..<$0 * 10 + 10) }
      let error = await #expect(throws: StoreError.self) {
        try await Importer(into: store, Film.self, matching: .unique(\.episode))
          .run(decoded: stream(pages)) { episode -> Film? in
            if episode == 255 { store.close() }
            return Film(title: "", episode: episode)
          }
      }
      #expect(error?.code == .closed, "\(String(describing: error))")
      #expect(error?.message.contains("the store is closed") == true)
    }
  }

  @Test(arguments: [Duration.seconds(-1), .seconds(Int64.max), Duration(attoseconds: .max)])
  func `a group may wait for any time`(duration: Duration) async throws {
    try await withTemporaryStore([Pod.self]) { store in
      var options = ImportOptions()
      options.groupDuration = duration
      let importer = Importer(
        into: store, Pod.self, matching: .unique(\.name, \.version), options: options)
      let pages = (0..<5).map { Data(page(["a\($0)"]).utf8) }
      let report = try await importer.run(stream(pages), records: "result", as: PodRecord.self) {
        $0.pod
      }
      #expect(report.inserted == 5 && report.pages == 5)
    }
  }

  @Test func `a cancelled import leaves whole pages`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      let (pages, continuation) = AsyncStream.makeStream(of: [Int].self)
      for page in 0..<50 { continuation.yield(Array(page * 10..<page * 10 + 10)) }
      continuation.finish()
      // The decoding task is not the cancelled one.
      let started = Mutex<Task<ImportReport, any Error>?>(nil)
      let importing = Task {
        try await Importer(into: store, Film.self, matching: .unique(\.episode))
          .run(decoded: pages) { episode -> Film? in
            while episode == 255, !started.withLock({ $0?.isCancelled ?? false }) {
              started.withLock { $0?.cancel() }
            }
            return Film(title: "", episode: episode)
          }
      }
      started.withLock { $0 = importing }
      await #expect(throws: CancellationError.self) { try await importing.value }
      let count = try await store.read { try $0.count(Film.all) }
      #expect(count % 10 == 0 && count <= 260, "\(count)")
      let report = try await store.read { try $0.importReports(of: "Film").last }
      #expect(report?.ending == .cancelled && report?.inserted == count)
    }
  }

  @Test func `an error of the pages is passed on, and the pages before it stay`() async throws {
    struct Broken: Error {}
    try await withTemporaryStore([Film.self]) { store async throws in
      let pages = AsyncThrowingStream<[Int], any Error> { continuation in
        continuation.yield([1])
        continuation.yield([2, 3])
        continuation.finish(throwing: Broken())
      }
      let importer = Importer(into: store, Film.self, matching: .unique(\.episode))
      await #expect(throws: Broken.self) {
        try await importer.run(decoded: pages) { Film(title: "", episode: $0) }
      }
      #expect(try await store.read { try $0.count(Film.all) } == 3)
    }
  }
}
