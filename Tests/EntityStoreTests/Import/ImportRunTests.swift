import Foundation
import Synchronization
import Testing

@testable import EntityStore

/// Strategies, merge policies, limits and resumption of imports.
@Suite struct ImportRunTests {
  private func pages(_ pages: [[(Int, String)]]) -> AsyncStream<Data> {
    AsyncStream { continuation in
      for page in pages { continuation.yield(Self.page(page)) }
      continuation.finish()
    }
  }

  private static func page(_ films: [(Int, String)]) -> Data {
    let records = films.map { #"{"episode_id":\#($0.0),"title":"\#($0.1)"}"# }
    return Data("[\(records.joined(separator: ","))]".utf8)
  }

  private func run(
    _ films: [[(Int, String)]], into store: Store, _ strategy: ImportStrategy = .upsert,
    onConflict policy: MergePolicy<Film> = .replace, options: ImportOptions = ImportOptions(),
    onEvent: (@Sendable (ImportEvent) -> Void)? = nil
  ) async throws -> ImportReport {
    try await Importer(
      into: store, Film.self, matching: .unique(\.episode), strategy: strategy, onConflict: policy,
      options: options
    ).run(pages(films), as: FilmRecord.self, onEvent: onEvent) { record in
      if record.title == "bad" { throw Bad() }
      return Film(title: record.title, episode: record.episode_id, code: record.code)
    }
  }

  private struct Bad: Error, CustomStringConvertible { let description = "bad" }

  private func titles(_ store: Store) throws -> [Int: String] {
    try store.read { snapshot in
      Dictionary(
        uniqueKeysWithValues: try snapshot.fetch(Film.all).map { ($0.episode, $0.title) })
    }
  }

  // MARK: Strategies

  @Test func `a mirror deletes the records that the source no longer has, at the end`() async throws
  {
    try await withTemporaryStore([Film.self]) { store in
      _ = try await run([[(1, "a"), (2, "b")], [(3, "c")]], into: store)
      let report = try await run([[(2, "b")], [(3, "x"), (4, "d")]], into: store, .mirror)
      #expect(report.deleted == 1 && report.unchanged == 1 && report.updated == 1)
      #expect(report.inserted == 1 && !report.keptUnseen)
      #expect(try titles(store) == [2: "b", 3: "x", 4: "d"])
      #expect(report.description.contains("1 deleted"))
      let again = try await run([[(2, "b")], [(3, "x"), (4, "d")]], into: store, .mirror)
      #expect(again.deleted == 0 && again.unchanged == 3)
    }
  }

  @Test func `a mirror keeps everything when a record was rejected, or a page did not arrive`()
    async throws
  {
    try await withTemporaryStore([Film.self]) { store in
      _ = try await run([[(1, "a"), (2, "b"), (3, "c")]], into: store)
      let report = try await run([[(2, "b"), (3, "bad")]], into: store, .mirror)
      #expect(report.deleted == 0 && report.keptUnseen && report.rejected == 1)
      await #expect(throws: StoreError.self) {
        let broken = AsyncStream<Data> { continuation in
          continuation.yield(Self.page([(2, "b")]))
          continuation.yield(Data("nothing".utf8))
          continuation.finish()
        }
        _ = try await Importer(
          into: store, Film.self, matching: .unique(\.episode), strategy: .mirror
        ).run(broken, as: FilmRecord.self) { Film(title: $0.title, episode: $0.episode_id) }
      }
      #expect(try titles(store) == [1: "a", 2: "b", 3: "c"])
      var options = ImportOptions()
      options.deletesDespiteRejects = true
      _ = try await run([[(2, "b"), (3, "bad")]], into: store, .mirror, options: options)
      #expect(try titles(store) == [2: "b"])
    }
  }

  @Test func `replacing deletes and inserts the records whose keys come, except equal ones`()
    async throws
  {
    try await withTemporaryStore([Film.self]) { store in
      _ = try await run([[(1, "a"), (2, "b"), (3, "c")]], into: store)
      let before = try await store.read { try $0.fetch(Film.all) }
      let report = try await run([[(1, "a"), (2, "x"), (4, "d")]], into: store, .replaceMatching)
      #expect(report.unchanged == 1 && report.updated == 1 && report.inserted == 1)
      let after = try await store.read { try $0.fetch(Film.all) }
      #expect(try titles(store) == [1: "a", 2: "x", 3: "c", 4: "d"])
      #expect(after.first { $0.episode == 1 }?.id == before[0].id)
      #expect(after.first { $0.episode == 3 }?.id == before[2].id)
      #expect((after.first { $0.episode == 2 }?.id.rawValue ?? 0) > before[2].id.rawValue)
    }
  }

  @Test func `a refused record leaves the record that it would replace`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      try await store.write { transaction in
        try transaction.insert(Film(title: "a", episode: 1, code: "x"))
        try transaction.insert(Film(title: "b", episode: 2, code: "y"))
      }
      let stream = AsyncStream<[Film]> { continuation in
        continuation.yield([
          Film(title: "A", episode: 1, code: "y"), Film(title: "c", episode: 3, code: "z"),
        ])
        continuation.finish()
      }
      let report = try await Importer(
        into: store, Film.self, matching: .unique(\.episode), strategy: .replaceMatching
      ).run(decoded: stream) { $0 }
      #expect(report.rejected == 1 && report.inserted == 1)
      #expect(try titles(store) == [1: "a", 2: "b", 3: "c"])
    }
  }

  // MARK: Merging

  @Test func `each attribute is merged by its policy`() async throws {
    try await withTemporaryStore([Pod.self]) { store in
      func pod(_ stars: Int, _ day: Double, _ summary: String?, _ authors: JSONValue?) -> Pod {
        Pod(
          name: "p", version: "1", summary: summary, authors: authors, stars: stars,
          updatedAt: Date(timeIntervalSinceReferenceDate: day))
      }
      func merge(_ incoming: Pod, _ policy: MergePolicy<Pod>) async throws -> ImportReport {
        let stream = AsyncStream<[Pod]> { continuation in
          continuation.yield([incoming])
          continuation.finish()
        }
        return try await Importer(
          into: store, Pod.self, matching: .unique(\.name, \.version), onConflict: policy
        ).run(decoded: stream) { $0 }
      }
      func stored() throws -> Pod {
        var pod = try #require(try store.read { try $0.fetch(Pod.all).first })
        pod.id = .unassigned
        return pod
      }
      _ = try await merge(pod(1, 10, "old", nil), .replace)
      // The incoming record is older by its date, so only the attributes with their own policy
      // change.
      let newest = MergePolicy<Pod>.newest(by: \.updatedAt)
        .attribute(\.stars, .merge { max($0, $1) }).attribute(\.authors, .fillNulls)
      #expect(try await merge(pod(5, 9, "new", "x"), newest).updated == 1)
      #expect(try stored() == pod(5, 10, "old", "x"))
      #expect(try await merge(pod(3, 11, "new", "y"), newest).updated == 1)
      #expect(try stored() == pod(5, 11, "new", "x"))
      #expect(try await merge(pod(9, 12, "z", "z"), .ignore).ignored == 1)
      let failed = try await merge(pod(5, 11, "other", "x"), .failIfDifferent)
      #expect(failed.rejects.first?.attribute == "summary" && failed.rejected == 1)
      #expect(try await merge(pod(5, 11, "new", "x"), .failIfDifferent).unchanged == 1)
      #expect(try await merge(pod(0, 0, nil, "q"), .fillNulls).unchanged == 1)
      let refused = try await merge(pod(1, 1, "s", nil), .merge { _, _ in throw Bad() })
      #expect(refused.rejects.first?.reason.contains("bad") == true)
      _ = try await merge(
        pod(2, 1, "s", nil),
        .merge { stored, incoming in
          var pod = stored
          pod.stars += incoming.stars
          return pod
        })
      #expect(try stored() == pod(7, 11, "new", "x"))
    }
  }

  // MARK: Limits

  @Test func `too many rejects end the import, without the page in which they came`() async throws {
    let films = [
      [(1, "a")], [(2, "bad"), (3, "c")], [(4, "d")], [(5, "bad"), (6, "f")], [(7, "g")],
    ]
    for (limit, kept) in [(0, [1]), (1, [1, 3, 4]), (2, [1, 3, 4, 6, 7])] {
      for groupRecordLimit in [1, 3, 1_000] {
        try await withTemporaryStore([Film.self]) { store in
          var options = ImportOptions()
          options.rejectLimit = limit
          options.groupRecordLimit = groupRecordLimit
          do {
            let report = try await run(films, into: store, options: options)
            #expect(limit == 2 && report.rejected == 2)
          } catch let error as StoreError {
            #expect(limit < 2 && error.code == .importStopped)
            #expect(error.message.contains("page \(limit == 0 ? 2 : 4) record 1"), "\(error)")
            let report = try await store.read { try $0.importReports(of: "Film").last }
            #expect(report?.ending == .failed && report?.failure == error.message)
            #expect(report?.rejected == limit)
            #expect(report?.description.contains("; failed: \(error.message)") == true)
          }
          #expect(try titles(store).keys.sorted() == kept)
        }
      }
    }
  }

  // MARK: Going on

  @Test func `an import resumes after the last committed page, and refuses other pages`()
    async throws
  {
    try await withTemporaryStore([Film.self]) { store in
      var options = ImportOptions()
      options.resumes = true
      options.groupRecordLimit = 1
      let broken = [Self.page([(1, "a")]), Self.page([(2, "b")]), Data("{".utf8)]
      func importer() -> Importer<Film> {
        Importer(into: store, Film.self, matching: .unique(\.episode), options: options)
      }
      func run(_ pages: [Data]) async throws -> ImportReport {
        let stream = AsyncStream<Data> { continuation in
          for page in pages { continuation.yield(page) }
          continuation.finish()
        }
        return try await importer().run(stream, as: FilmRecord.self) {
          Film(title: $0.title, episode: $0.episode_id)
        }
      }
      await #expect(throws: StoreError.self) { _ = try await run(broken) }
      let open = try await store.read { try $0.importReports(of: "Film").last }
      #expect(open?.ending == .failed && open?.pages == 2 && open?.inserted == 2)
      let other = await #expect(throws: StoreError.self) {
        _ = try await run([Self.page([(1, "A")]), broken[1], Self.page([(3, "c")])])
      }
      #expect(other?.message.contains("differ from the imported ones") == true)
      let short = await #expect(throws: StoreError.self) { _ = try await run([broken[0]]) }
      #expect(short?.message.contains("end with page 1, and 2 were imported") == true)
      let report = try await run([broken[0], broken[1], Self.page([(3, "c")])])
      #expect(report.inserted == 3 && report.unchanged == 0 && report.pages == 3)
      #expect(report.resumptions == 3 && report.run == 1)
      #expect(report.ending == .finished && report.failure == nil)
      // The next import starts from the first page.
      let next = try await run([broken[0]])
      #expect(next.run == 2 && next.unchanged == 1 && next.resumptions == 0)
      #expect(try await store.read { try $0.importReports(of: "Film").map(\.run) } == [1, 2])
    }
  }

  @Test func `a resumed mirror deletes the records that no page of any of its runs had`()
    async throws
  {
    try await withTemporaryStore([Film.self]) { store in
      _ = try await run([[(1, "a"), (2, "b"), (3, "c"), (4, "d")]], into: store)
      var options = ImportOptions()
      options.resumes = true
      options.groupRecordLimit = 1
      options.rejectLimit = 0
      await #expect(throws: StoreError.self) {
        _ = try await run([[(1, "a")], [(2, "bad")]], into: store, .mirror, options: options)
      }
      let report = try await run([[(1, "a")], [(2, "x")]], into: store, .mirror, options: options)
      #expect(report.deleted == 2 && report.pages == 2)
      #expect(try titles(store) == [1: "a", 2: "x"])
      let other = await #expect(throws: StoreError.self) {
        _ = try await run([[(1, "a")], [(2, "bad")]], into: store, .mirror, options: options)
        _ = try await run([[(1, "a")]], into: store, .upsert, options: options)
      }
      #expect(other?.code == .importStopped)
    }
  }

  @Test func `the report of an abandoned import stays unchanged`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      var options = ImportOptions()
      options.rejectLimit = 0
      options.groupRecordLimit = 1
      await #expect(throws: StoreError.self) {
        _ = try await run([[(1, "a")], [(2, "bad")]], into: store, options: options)
      }
      _ = try await run([[(1, "a")], [(2, "b")]], into: store)
      let reports = try await store.read { try $0.importReports(of: "Film") }
      #expect(reports.map(\.ending) == [.failed, .finished] && reports.map(\.pages) == [1, 2])
      #expect(reports[0].failure?.contains("page 2 record 1") == true)
    }
  }

  // MARK: Sources

  @Test(arguments: [ImportStrategy.upsert, .mirror])
  func `pages that have not changed are not read, and their records stay`(
    strategy: ImportStrategy
  ) async throws {
    try await withTemporaryStore([Film.self]) { store in
      func run(
        _ pages: [(String, [(Int, String)])], _ options: ImportOptions = ImportOptions()
      ) async throws -> (ImportReport, [String]) {
        let log = LoggedService(pages)
        let report = try await Importer(
          into: store, Film.self, matching: .unique(\.episode), strategy: strategy,
          options: options
        ).run(log, as: FilmRecord.self) { Film(title: $0.title, episode: $0.episode_id) }
        return (report, log.asked)
      }
      _ = try await run([("a", [(1, "a"), (2, "b")]), ("b", [(3, "c")]), ("c", [(4, "d")])])
      let (second, asked) = try await run([
        ("a", [(1, "a"), (2, "b")]), ("B", [(3, "x")]), ("c", [(4, "d")]),
      ])
      #expect(asked == ["304 page/0", "200 page/1", "304 page/2"])
      #expect(second.unchangedPages == 2 && second.updated == 1 && second.deleted == 0)
      #expect(try titles(store) == [1: "a", 2: "b", 3: "x", 4: "d"])
      let (third, _) = try await run([("a", [(1, "a"), (2, "b")])])
      #expect(third.deleted == (strategy == .mirror ? 2 : 0))
      var options = ImportOptions()
      options.asksForChangesOnly = false
      let (_, all) = try await run([("a", [(1, "a")])], options)
      #expect(all == ["200 page/0"])
    }
  }

  /// Pages that behave as those of a web service with entity tags.
  private struct LoggedService: PageSource {
    private final class Asked: Sendable {
      let names = Mutex<[String]>([])
    }

    private let pages: [(String, [(Int, String)])]
    private let log = Asked()

    init(_ pages: [(String, [(Int, String)])]) { self.pages = pages }

    var asked: [String] { log.names.withLock { $0 } }

    func pages(
      from position: String?, remembered: @escaping @Sendable (String) -> PageMemory?
    ) -> AsyncStream<ImportPage> {
      AsyncStream { continuation in
        for index in (position.flatMap { Int($0) } ?? 0)..<pages.count {
          let name = "page/\(index)"
          let isUnchanged = remembered(name)?.entityTag == pages[index].0
          log.names.withLock { $0.append((isUnchanged ? "304 " : "200 ") + name) }
          let next = index + 1 < pages.count ? String(index + 1) : nil
          continuation.yield(
            ImportPage(
              content: isUnchanged ? nil : ImportRunTests.page(pages[index].1),
              memory: PageMemory(name: name, entityTag: pages[index].0, next: next), next: next))
        }
        continuation.finish()
      }
    }
  }

  // MARK: Watching

  @Test func `events report pages, commits, rejects and the end`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      let seen = Mutex<[ImportEvent]>([])
      let report = try await run([[(1, "a"), (2, "bad")], [(3, "c")]], into: store) { event in
        seen.withLock { $0.append(event) }
      }
      let events = seen.withLock { $0 }
      var reads: [ImportProgress] = []
      var rejects: [ImportReport.Reject] = []
      var committed = 0
      for event in events {
        switch event {
        case .read(let progress): reads.append(progress)
        case .committed(let progress): committed = progress.committed
        case .rejected(let reject): rejects.append(reject)
        case .finished(let last): #expect(last == report)
        }
      }
      #expect(reads.map(\.pages) == [1, 2] && reads.map(\.records) == [2, 3])
      #expect(rejects == report.rejects && committed == 3)
      #expect(report.bytes == reads.last?.bytes)
    }
  }

  @Test func `readers during an import see whole pages only`() async throws {
    try await withTemporaryStore([Pod.self]) { store in
      let isDone = Mutex(false)
      async let watched: Int = {
        var reads = 0
        while !isDone.withLock({ $0 }) || reads == 0 {
          let (count, newest) = try await store.read { snapshot in
            (
              try snapshot.count(Pod.all),
              try snapshot.fetch(Pod.byName.key("newest", ""))?.stars ?? 0
            )
          }
          let whole = newest == 0 ? 0 : newest * (GeneratedPages.recordCount - 1) + 1
          #expect(count == whole, "\(newest) pages")
          reads += 1
        }
        return reads
      }()
      var options = ImportOptions()
      options.groupRecordLimit = 100
      _ = try await GeneratedPages.run(GeneratedPages(last: 60), into: store, options: options)
      isDone.withLock { $0 = true }
      #expect(try await watched > 0)
    }
  }
}
