import EntityStore
import Foundation
import Testing

@testable import LodestoreWeb

/// A release of a library.
private struct Pod: Hashable {
  var id = RecordID<Pod>()
  var name: String
  var version: String
}

extension Pod: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Pod, RecordID<Pod>> { .recordID }
    var name: Attribute<Pod, String> { .init(0) }
    var version: Attribute<Pod, String> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Pod>(
    "Pod", attributes: [.init("name", \.name), .init("version", \.version)],
    unique: [[\.name, \.version]])

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(version)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    version = try reader.read()
  }
}

/// A release, of whose entity at most twenty records are kept.
private struct KeptPod: Entity {
  var id = RecordID<KeptPod>()
  var name: String
  var version: String

  static let schema = EntitySchema<KeptPod>(
    "Pod", attributes: [.init("name", \.name), .init("version", \.version)],
    unique: [[\.name, \.version]], limit: EntityLimit(count: 20))

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(version)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    version = try reader.read()
  }
}

private struct PodRecord: Decodable {
  var name: String
  var version: String
}

@Suite struct `Importing the pages of a web source` {
  /// Runs `body` on a new store in a fresh folder.
  private func withStore<R: Sendable>(
    _ entities: [any Entity.Type] = [Pod.self], isolation: isolated (any Actor)? = #isolation,
    _ body: (Store) async throws -> R
  ) async throws -> R {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("lodestore-web-tests-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var options = StoreOptions()
    options.evictionInterval = nil
    let store = try Store(
      at: folder.path + "/test.lodestore", entities: entities, options: options)
    defer { store.close() }
    return try await body(store)
  }

  private func run(_ pages: WebPages, into store: Store) async throws -> ImportReport {
    try await Importer(into: store, Pod.self, matching: .unique(\.name, \.version))
      .run(
        pages.pages().compactMap(\.content), records: "result", as: PodRecord.self
      ) { Pod(name: $0.name, version: $0.version) }
  }

  private static func page(_ number: Int) -> Answer {
    let records = (0..<10).map { #"{"name":"pod \#(number)","version":"\#($0)"}"# }
    return .json(#"{"result":[\#(number <= 5 ? records.joined(separator: ",") : "")]}"#)
  }

  /// Runs the example of the article on imports.
  private func run(_ url: URL, into store: Store) async throws -> ImportReport {
    let importer = Importer(into: store, Pod.self, matching: .unique(\.name, \.version))
    var options = WebPages.Options()
    options.pagesInFlight = 4
    let pages = WebPages(
      url, paging: .pageNumber(size: .init("per_page", 100), endsAt: .emptyPage(records: "result")),
      options: options)
    let report = try await importer.run(pages, records: "result", renaming: [:])
    return report
  }

  @Test func `the article's program imports all pages, and reads none of them again`() async throws
  {
    try await withServer { request in
      Self.page(Int(request.value(of: "page") ?? "") ?? 0)
    } _: { server in
      let url = try server.url("/")
      try await withStore { store in
        let first = try await run(url, into: store)
        let second = try await run(url, into: store)
        #expect(first.inserted == 50 && second.inserted == 0)
      }
    }
  }

  @Test func `an import into an entity with a limit keeps the newest records`()
    async throws
  {
    try await withServer { request in
      // Pages that have not changed are not sent again.
      let page = Int(request.value(of: "page") ?? "") ?? 0
      let tag = "\"\(page)\""
      if request.fields["if-none-match"] == tag { return Answer(304, ["ETag: \(tag)"]) }
      let records = (0..<10).map { #"{"name":"pod \#(page)","version":"\#($0)"}"# }
      return .json(
        #"{"result":[\#(page <= 5 ? records.joined(separator: ",") : "")]}"#, "ETag: \(tag)")
    } _: { server in
      let pages = WebPages(
        try server.url("/"), paging: .pageNumber(endsAt: .emptyPage(records: "result")))
      // All pages are one group, and no keeper runs, so nothing is evicted during the import.
      var options = ImportOptions()
      options.groupDuration = .seconds(600)
      try await withStore([KeptPod.self]) { store in
        // The second run inserts 30 missing records. The records that it finds stored are then the
        // oldest.
        for (inserted, kept) in [(50, ["pod 4", "pod 5"]), (30, ["pod 2", "pod 3"])] {
          let importer = Importer(
            into: store, KeptPod.self, matching: .unique(\.name, \.version), options: options)
          let report = try await importer.run(pages, records: "result", renaming: [:])
          #expect(report.pages == 6 && report.rejected == 0 && report.inserted == inserted)
          let evicted: EvictionReport = try await store.evict()
          #expect(evicted.heldCount == 0)
          let names = try await store.read { try $0.fetch(KeptPod.all).map(\.name) }
          #expect(Set(names) == Set(kept) && names.count == 20)
        }
      }
    }
  }

  @Test func `an import through an unreliable server inserts every record once`() async throws {
    try await withServer { request in
      // Each third request is answered badly, in another way each time.
      let page = Self.page(Int(request.value(of: "page") ?? "") ?? 0)
      guard request.number.isMultiple(of: 3) else { return page }
      return [
        Answer(503, ["Retry-After: 1"]), .reset, Answer(429),
        .head(200, ["Content-Length: 999"], then: .bytes(Array("{".utf8)), .close),
      ][request.number / 3 % 4]
    } _: { server in
      let pages = WebPages(
        try server.url("/"), paging: .pageNumber(endsAt: .emptyPage(records: "result")),
        options: .with { $0.pagesInFlight = 3 }
      ).timed(by: RecordingClock())
      try await withStore { store in
        let report = try await run(pages, into: store)
        #expect(report.pages == 6 && report.inserted == 50 && report.rejected == 0)
        let again = try await run(pages, into: store)
        #expect(again.unchanged == 50 && again.inserted == 0)
        let count = try await store.read { try $0.count(Pod.all) }
        #expect(count == 50)
      }
    }
  }

  @Test func `an import keeps the pages before an unavailable one`() async throws {
    try await withServer { request in
      request.value(of: "page") == "4"
        ? Answer(403) : Self.page(Int(request.value(of: "page") ?? "") ?? 0)
    } _: { server in
      let pages = WebPages(
        try server.url("/"), paging: .pageNumber(endsAt: .emptyPage(records: "result")))
      try await withStore { store in
        await #expect(throws: WebSourceError.self) {
          _ = try await run(pages, into: store)
        }
        let count = try await store.read { try $0.count(Pod.all) }
        #expect(count == 30)
      }
    }
  }
}
