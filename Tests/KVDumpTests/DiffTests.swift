import EntityStore
import Foundation
import Testing

@testable import KVDumpCommands

/// `kvdump diff`, on stores that a program has written.
@Suite("Differences")
struct DiffCommandTests {
  private struct Work: Entity {
    var id = RecordID<Work>()
    var title: String
    var pages: Int

    static let sequels = ToMany<Work, Work>()

    struct Attributes: Sendable {
      var title: Attribute<Work, String> { .init(0) }
      var pages: Attribute<Work, Int> { .init(1) }
      var sequels: ToMany<Work, Work> { Work.sequels }
    }

    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<Work>(
      "Work", attributes: [.init("title", \.title), .init("pages", \.pages)],
      unique: [[\.title]], relationships: [.init("sequels", sequels)],
      history: .kept(images: true))

    init(_ title: String, _ pages: Int) {
      self.title = title
      self.pages = pages
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      title = try reader.read()
      pages = try reader.read()
    }

    func encode(into writer: inout RecordWriter) {
      writer.write(title)
      writer.write(pages)
    }
  }

  /// Makes two stores, the newer one with changes, and the history token before these changes.
  private static func make(
    in folder: String
  ) throws -> (older: String, newer: String, token: HistoryToken) {
    let paths = [folder + "/older.lodestore", folder + "/newer.lodestore"]
    let stores = try paths.map { try Store(at: $0, entities: [Work.self]) }
    for store in stores {
      try store.write { tx in
        try tx.insert((1...5).map { Work("Work \($0)", $0 * 100) })
        try tx.add([Work.ID(rawValue: 2)], to: Work.sequels, of: Work.ID(rawValue: 1))
      }
    }
    let token = try stores[1].read { try $0.historyToken() }
    try stores[1].write { tx in
      try tx.modify(Work.ID(rawValue: 3)) { $0.pages = 333 }
      try tx.delete(Work.ID(rawValue: 5))
      try tx.insert(Work("Work 6", 600))
      try tx.add([Work.ID(rawValue: 3)], to: Work.sequels, of: Work.ID(rawValue: 1))
      try tx.put(Data([7]), for: "page", in: "marks")
    }
    for store in stores { store.close() }
    return (paths[0], paths[1], token)
  }

  private static func withStores(
    _ body: (_ older: String, _ newer: String, HistoryToken) async throws -> Void
  ) async throws {
    let folder = NSTemporaryDirectory() + "kvdump-diff-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (older, newer, token) = try make(in: folder)
    try await body(older, newer, token)
  }

  private func run(
    _ arguments: [String]
  ) async -> (status: KVDumpCommands.ExitStatus, data: String, messages: String) {
    let console = MemoryConsole()
    let status = await KVDump.execute(["diff"] + arguments, on: console.console)
    return (status, console.data.text, console.messages.text)
  }

  @Test func `diff writes an object for each difference, and ends with status 1`() async throws {
    try await Self.withStores { older, newer, _ in
      let told = await run([older, newer, "--format", "jsonl"])
      #expect(told.status == .negative)
      #expect(
        told.data == """
          {"change":"updated","of":"record","entity":"Work","record":3,"name":["pages"],\
          "old":{"pages":300},"new":{"pages":333}}
          {"change":"deleted","of":"record","entity":"Work","record":5,\
          "old":{"title":"Work 5","pages":500}}
          {"change":"inserted","of":"record","entity":"Work","record":6,\
          "new":{"title":"Work 6","pages":600}}
          {"change":"added","of":"link","entity":"Work","record":1,"name":"sequels","target":3}
          {"change":"inserted","of":"bucket","subject":"marks","name":"page","new":"Bw=="}

          """)
    }
  }

  @Test func `diff writes a row for each changed attribute for people`() async throws {
    try await Self.withStores { older, newer, _ in
      let told = await run([older, newer, "--format", "table", "--entity", "Work"])
      let lines = told.data.split(separator: "\n").map {
        $0.split(whereSeparator: { $0 == " " }).joined(separator: " ")
      }
      #expect(
        lines == [
          "change of entity record name old new", "updated record Work 3 pages 300 333",
          #"deleted record Work 5 {"title":"Work 5","pages":500}"#,
          #"inserted record Work 6 {"title":"Work 6","pages":600}"#,
          "added link Work 1 sequels 3",
        ])
    }
  }

  @Test func `diff counts differences with --stat`() async throws {
    try await Self.withStores { older, newer, _ in
      let told = await run([older, newer, "--stat", "--format", "csv"])
      #expect(told.status == .negative)
      #expect(
        told.data.replacing("\r\n", with: "\n") == """
          entity,inserted,updated,deleted,links,schema
          Work,1,1,1,1,0
          (buckets),1,0,0,0,0

          """)
    }
  }

  @Test func `diff of equal stores prints nothing, with status 0`() async throws {
    try await Self.withStores { older, newer, _ in
      for arguments in [[older, older], [newer, newer, "--by-key"], [newer, newer, "--stat"]] {
        let told = await run(arguments + ["--format", "jsonl"])
        #expect(told.status == .success && told.data.isEmpty)
        #expect(told.messages.contains("no differences"))
      }
    }
  }

  @Test func `diff matches records by keys, and reports the uncompared links`() async throws {
    try await Self.withStores { older, newer, _ in
      for arguments in [["--by-key"], ["--key", "title"]] {
        let told = await run([older, newer, "--format", "jsonl", "--entity", "Work"] + arguments)
        #expect(told.status == .negative)
        #expect(told.data.split(separator: "\n").count == 3)
        #expect(told.messages.contains("not compared: Work.sequels"))
      }
      let wrong = await run([older, newer, "--key", "pages"])
      #expect(wrong.status == .usage && wrong.messages.contains("pages"))
    }
  }

  @Test func `diff lists the differences since a write, given by its number or token`() async throws
  {
    try await Self.withStores { older, newer, token in
      for since in ["1", token.description] {
        let told = await run([newer, "--since", since, "--format", "jsonl"])
        #expect(told.status == .negative)
        #expect(
          told.data.split(separator: "\n").map { $0.prefix(20) } == [
            #"{"change":"updated","#, #"{"change":"deleted","#, #"{"change":"inserted""#,
            #"{"change":"added","o"#,
          ])
      }
      #expect(await run([newer, "--since", "2"]).status == .success)
      #expect(await run([newer, "--since", "9"]).status == .usage)
      #expect(await run([newer, "--since", "soon"]).status == .usage)
      // The token belongs to the newer store, so the older store refuses it.
      #expect(await run([older, "--since", token.description]).status == .usage)
    }
  }

  @Test func `diff reports trouble by the status of other commands, and names the store`()
    async throws
  {
    try await Self.withStores { older, newer, _ in
      let missing = await run([older, newer + "x"])
      #expect(missing.status == .noInput && missing.messages.contains(newer + "x"))
      #expect(await run([older]).status == .usage)
      #expect(await run([older, newer, "--since", "1"]).status == .usage)
      #expect(await run([older, newer, "--entity", "Wrok"]).status == .usage)
      let limited = await run([older, newer, "--limit", "2", "--format", "jsonl"])
      #expect(limited.status == .negative && limited.data.split(separator: "\n").count == 2)
    }
  }
}
