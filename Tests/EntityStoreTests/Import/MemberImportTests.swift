import Foundation
import Testing

@testable import EntityStore

/// Imports whose records have the attributes as members, without a closure.
@Suite struct `Importing by members` {
  private func importPages<E: Entity>(
    _ pages: [String], with importer: Importer<E>
  ) async throws -> ImportReport {
    let stream = AsyncStream { continuation in
      for page in pages { continuation.yield(Data(page.utf8)) }
      continuation.finish()
    }
    return try await importer.run(stream, renaming: [:])
  }

  // MARK: Enumerations

  @Test func `a raw value without a case rejects only its record, and the others are readable`()
    async throws
  {
    try await withTemporaryStore([Machine.self]) { store in
      let importer = Importer(into: store, Machine.self, matching: .unique(\.name))
      let text = #"""
        [{"name":"a","system":"linux","level":0},{"name":"b","system":"windows","level":0},
        {"name":"c","system":"plan 9","spare":"linux","level":127},
        {"name":"d","system":"linux","spare":"","level":0},{"name":"e","system":"linux","level":3},
        {"name":"f","system":"linux","spare":null,"level":-128},{"name":"g","system":7,"level":0}]
        """#
      let report = try await importPages([text], with: importer)
      #expect(report.inserted == 3 && report.rejected == 4)
      #expect(report.rejects.map(\.record) == [2, 4, 5, 7])
      #expect(report.rejects.map(\.attribute) == ["system", "spare", "level", "system"])
      #expect(
        report.rejects.map(\.reason) == [
          #"'system' must be a raw value of System, found the string "windows""#,
          #"'spare' must be a raw value of System, found the string """#,
          "'level' must be a raw value of Grade, found an integer 3",
          "'system' must be a string, found an integer 7",
        ])
      let offset = try #require(report.rejects[0].byteOffset)
      #expect(Array(text.utf8)[offset...].starts(with: Array("\"windows\"".utf8)))
      let machines = try await store.read { try $0.fetch(Machine.all) }
      #expect(machines.map(\.name) == ["a", "c", "f"])
      #expect(machines.map(\.system) == [.linux, .plan9, .linux])
      #expect(machines.map(\.spare) == [nil, .linux, nil])
      #expect(machines.map(\.level) == [.middle, .high, .low])
    }
  }

  @Test func `a record beyond the size limit is rejected by the name of the option`() async throws {
    var options = StoreOptions()
    options.recordSizeLimitInBytes = 200
    try await withTemporaryStore([Machine.self], options: options) { store in
      let importer = Importer(into: store, Machine.self, matching: .unique(\.name))
      let name = String(repeating: "n", count: 300)
      let text =
        #"[{"name":"\#(name)","system":"linux","level":0},{"name":"b","system":"linux","level":0}]"#
      let report = try await importPages([text], with: importer)
      #expect(report.inserted == 1 && report.rejects.map(\.record) == [1])
      #expect(
        report.rejects.allSatisfy {
          $0.reason.hasSuffix("bytes, the limit is 200; raise recordSizeLimitInBytes")
        }, "\(report.rejects)")
    }
  }

  // MARK: Patches

  private func patch(
    _ pages: [String], into store: Store, _ policy: MergePolicy<Pod> = .patch()
  ) async throws -> ImportReport {
    try await importPages(
      pages,
      with: Importer(
        into: store, Pod.self, matching: .unique(\.name, \.version), onConflict: policy))
  }

  /// The date is before the beginning of 2001, which stands for a missing date in a draft.
  private let day = Date(timeIntervalSinceReferenceDate: -86_400)

  private func storePods(_ store: Store) async throws {
    try await store.write { [day] transaction in
      for name in ["a", "b"] {
        try transaction.insert(
          Pod(
            name: name, version: "1", summary: "old", authors: ["x"], stars: 5, updatedAt: day))
      }
    }
  }

  private func pods(_ store: Store) async throws -> [Pod] {
    try await store.read { snapshot in
      try snapshot.fetch(Pod.all).map { pod in
        var pod = pod
        pod.id = .unassigned
        return pod
      }
    }
  }

  @Test func `a patch keeps the values that a record lacks, and takes an explicit null`()
    async throws
  {
    try await withTemporaryStore([Pod.self]) { store in
      try await storePods(store)
      let page = #"""
        [{"name":"a","version":"1","summary":"new"},{"name":"b","version":"1","summary":null},
        {"name":"c","version":"1","stars":1,"updatedAt":"2001-01-01T00:00:00Z"},
        {"name":"d","version":"1"},{"name":"e"}]
        """#
      let report = try await patch([page], into: store)
      #expect(report.updated == 2 && report.inserted == 1 && report.rejected == 2)
      #expect(
        report.rejects.map(\.reason) == [
          "cannot insert a Pod: 'stars' was not given, and is required",
          "a part of its key, 'version', is absent",
        ])
      #expect(
        try await pods(store) == [
          Pod(name: "a", version: "1", summary: "new", authors: ["x"], stars: 5, updatedAt: day),
          Pod(name: "b", version: "1", summary: nil, authors: ["x"], stars: 5, updatedAt: day),
          Pod(name: "c", version: "1", stars: 1),
        ])
      let again = try await patch([page], into: store)
      #expect(again.unchanged == 3 && again.updated == 0)
    }
  }

  @Test(arguments: [MergePolicy<Pod>.patch(), .patch().attribute(\.authors, .fillNulls)])
  func `records of a page with one key are patched one after the other`(
    policy: MergePolicy<Pod>
  ) async throws {
    try await withTemporaryStore([Pod.self]) { store in
      try await storePods(store)
      let page = #"""
        [{"name":"a","version":"1","summary":"new"},{"name":"a","version":"1","stars":9}]
        """#
      let report = try await patch([page], into: store, policy)
      #expect(report.updated == 2 && report.rejected == 0)
      let pod = try #require(try await pods(store).first)
      #expect(pod.summary == "new" && pod.stars == 9 && pod.authors == ["x"])
    }
  }

  @Test func `policies of attributes apply to the given attributes of a patch`() async throws {
    try await withTemporaryStore([Pod.self]) { store in
      try await storePods(store)
      let policy = MergePolicy<Pod>.patch()
        .attribute(\.stars, .merge { $0 + $1 })
        .attribute(\.summary, .newest(by: \.updatedAt)).attribute(\.authors, .fillNulls)
      // A record without a date counts as older than every record with one.
      _ = try await patch(
        [#"[{"name":"a","version":"1","summary":"new","authors":["y"],"stars":2}]"#], into: store,
        policy)
      _ = try await patch(
        [#"[{"name":"b","version":"1","summary":"new","updatedAt":"2020-01-01T00:00:00Z"}]"#],
        into: store, policy)
      let pods = try await pods(store)
      #expect(pods.map(\.stars) == [7, 5] && pods.map(\.summary) == ["old", "new"])
      #expect(pods.map(\.authors) == [["x"], ["x"]] && pods[0].updatedAt == day)
    }
  }

  @Test func `a patch of values from a closure is refused before a page is requested`() async throws
  {
    try await withTemporaryStore([Pod.self]) { store in
      for policy in [MergePolicy<Pod>.patch(), .patch().attribute(\.stars, .fillNulls)] {
        let importer = Importer(
          into: store, Pod.self, matching: .unique(\.name, \.version), onConflict: policy)
        let pages = AsyncStream<Data>(unfolding: {
          Issue.record("a page was asked for")
          return nil
        })
        let error = await #expect(throws: StoreError.self) {
          try await importer.run(pages, as: PodRecord.self) { $0.pod }
        }
        #expect(error?.code == .importStopped)
        #expect(error?.message.contains("a closure does not report") == true)
        let records = AsyncStream<[Pod]>(unfolding: {
          Issue.record("a page was asked for")
          return nil
        })
        let other = await #expect(throws: StoreError.self) {
          try await importer.run(decoded: records) { $0 }
        }
        #expect(other?.code == .importStopped)
      }
      let reports = try await store.read { try $0.importReports(of: "Pod") }
      #expect(reports.isEmpty)
    }
  }
}

/// A machine with enumerations that are not attribute values themselves.
private struct Machine: Hashable {
  enum System: String, Sendable {
    case linux
    case plan9 = "plan 9"
  }

  var id = RecordID<Machine>()
  var name: String
  var system: System
  var spare: System?
  var level: Grade
}

extension Machine: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Machine, RecordID<Machine>> { .recordID }
    var name: Attribute<Machine, String> { .init(0) }
    var system: Attribute<Machine, System> { .init(1) }
    var spare: Attribute<Machine, System?> { .init(2) }
    var level: Attribute<Machine, Grade> { .init(3) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Machine>(
    "Machine",
    attributes: [
      .init("name", \.name), .init("system", \.system), .init("spare", \.spare),
      .init("level", \.level),
    ],
    unique: [[\.name]])

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(system)
    writer.write(spare)
    writer.write(level)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    system = try reader.read()
    spare = try reader.read()
    level = try reader.read()
  }
}
