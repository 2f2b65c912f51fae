import EntityStore
import Foundation
import Testing

struct Measured {
  var id = RecordID<Measured>()
  var k: Int
  var v: String?
  var d: Double?

  init(k: Int) { self.k = k }
}

extension Measured: Entity {
  static let schema = EntitySchema<Measured>(
    "Measured", attributes: [.init("k", \.k), .init("v", \.v), .init("d", \.d)], unique: [[\.k]])

  func encode(into writer: inout RecordWriter) {
    writer.write(k)
    writer.write(v)
    writer.write(d)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    k = try reader.read()
    v = try reader.read()
    d = try reader.read()
  }
}

@Suite struct `Unreadable records of files` {
  private static let wrong = [
    #"{"k":1499,"v":"\ud83d"}"#, #"{"k":1499,"k":1}"#, #"{"k":1499,"d":NaN}"#, #"{"k":1499,"v":"x"#,
    #"{"k":1499 "v":"x"}"#, "{'k':1499}", "{\"k\":1499,\"v\":\"\u{1}\"}", #"{"k":1} {"k":2}"#, "}",
  ]

  private func withFile(
    _ bytes: some Sequence<UInt8>, _ name: String,
    _ body: (Store, String) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/" + name
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    try await withTemporaryStore([Measured.self]) { try await body($0, path) }
  }

  private static func options(rejectLimit: Int) -> ImportOptions {
    var options = ImportOptions()
    options.rejectLimit = rejectLimit
    options.resumes = true
    return options
  }

  private func importer(_ store: Store, _ options: ImportOptions = .init()) -> Importer<Measured> {
    Importer(into: store, Measured.self, matching: .unique(\.k), options: options)
  }

  @Test(arguments: wrong)
  func `unreadable lines are rejected with their place and bytes, and no others`(wrong: String)
    async throws
  {
    let lines = (0..<3000).map { $0 == 1499 ? wrong : #"{"k":\#($0),"v":"é"}"# }
    let text = lines.joined(separator: "\n") + "\n"
    try await withFile(text.utf8, "p.jsonl") { store, path in
      let report = try await importer(store).run(FilePages.jsonLines(path), renaming: [:])
      #expect(report.inserted == 2999 && report.rejected == 1, "\(report)")
      let reject = try #require(report.rejects.first)
      #expect(reject.page == 2 && reject.record == 500 && reject.line == 1500)
      #expect(reject.file == path && reject.content == Data(wrong.utf8), "\(reject)")
      let start = lines[..<1499].reduce(0) { $0 + $1.utf8.count + 1 }
      let offset = try #require(reject.byteOffset)
      #expect((start...(start + wrong.utf8.count)).contains(offset), "\(reject)")
      // The stored report has the place of the rejected record, but not its bytes.
      let stored = try await store.read { try $0.importReports(of: "Measured") }
      #expect(stored.first?.rejects.first?.line == 1500)
      #expect(stored.first?.rejects.first?.content == nil)
    }
  }

  @Test func `unreadable records count for the limit of rejects, and the import resumes after it`()
    async throws
  {
    let lines = (0..<3000).map { [1200, 2200].contains($0) ? "{" : #"{"k":\#($0)}"# }
    try await withFile(lines.joined(separator: "\n").utf8, "p.jsonl") { store, path in
      let limited = Self.options(rejectLimit: 1)
      await #expect(throws: StoreError.self) {
        try await importer(store, limited).run(FilePages.jsonLines(path), renaming: [:])
      }
      let count = try await store.read { try $0.count(Measured.all) }
      #expect(count == 1999)
      let resumed = Self.options(rejectLimit: 2)
      let report = try await importer(store, resumed).run(FilePages.jsonLines(path), renaming: [:])
      #expect(report.inserted == 2998 && report.rejected == 2 && report.resumptions == 1)
      #expect(report.rejects.map(\.line) == [1201, 2201], "\(report)")
    }
  }

  @Test func `unreadable records in an array are rejected if the next element is known`()
    async throws
  {
    let records = (0..<30).map { $0 == 15 ? #"{"k":15,"v":"\udc00"}"# : #"{"k":\#($0)}"# }
    let text = #"{"r":["# + records.joined(separator: ",\n") + "]}"
    try await withFile(text.utf8, "p.json") { store, path in
      let report = try await importer(store).run(FilePages.json(path), records: "r", renaming: [:])
      #expect(report.inserted == 29 && report.rejects.map(\.record) == [16], "\(report)")
      #expect(report.rejects.first?.line == 16 && report.rejects.first?.file == path)
      #expect(report.rejects.first?.content == Data(records[15].utf8))
      struct Row: Decodable { var k: Int }
      let again = try await importer(store).run(FilePages.json(path), records: "r") { (row: Row) in
        Measured(k: row.k)
      }
      #expect(again.unchanged == 29 && again.rejected == 1, "\(again)")
    }
  }

  @Test func `an unreadable record in a line that is a page rejects the page`() async throws {
    let text = #"{"r":[{"k":1}]}"# + "\n  {\"r\":[{\"k\":2}\n" + #"{"r":[{"k":3}]}"#
    try await withFile(text.utf8, "p.jsonl") { store, path in
      let report = try await importer(store)
        .run(FilePages.pagePerLine(path), records: "r", renaming: [:])
      #expect(report.inserted == 2 && report.pages == 3 && report.rejected == 1, "\(report)")
      let reject = try #require(report.rejects.first)
      #expect(reject.page == 2 && reject.record == 1 && reject.line == 2, "\(reject)")
      #expect(reject.byteOffset == 18)
    }
  }

  @Test func `a number of any size is readable in a member that no attribute takes`()
    async throws
  {
    let digits = "123456789012345678901234567890"
    let text = """
      {"k":1,"other":\(digits),"more":[{"x":-1e999}]}
      {"k":2,"d":\(digits)}
      {"k":3,"d":1e999}
      {"k":\(digits)}
      {"k":4,"d":-36893488147419103232}
      """
    try await withFile(text.utf8, "p.jsonl") { store, path in
      let report = try await importer(store).run(FilePages.jsonLines(path), renaming: [:])
      #expect(report.inserted == 3 && report.rejects.map(\.attribute) == ["d", "k"], "\(report)")
      #expect(report.rejects.last?.reason.contains(digits) == true)
      let found = try await store.read { try $0.fetch(Measured.all) }.sorted { $0.k < $1.k }
      #expect(found.map(\.d) == [nil, 1.2345678901234568e29, -36893488147419103232])
    }
  }

  @Test func `unreadable rows of separated values are rejected, and other rows are imported`()
    async throws
  {
    let wrong = ["7,a\"b,", "7,\"a\"b,", "7,\"a", "7", "7,b,,", "7,\rb,1"]
    for wrong in wrong {
      let rows = (0..<2000).map { $0 == 1234 ? wrong : "\($0),v," }
      let text = "k,v,d\r\n" + rows.joined(separator: "\r\n") + "\r\n"
      try await withFile(text.utf8, "p.csv") { store, path in
        var options = CSVOptions()
        options.types = ["k": .integer, "d": .number]
        let report = try await importer(store).run(FilePages.csv(path, options), renaming: [:])
        #expect(report.inserted == 1999 && report.rejected == 1, "\(wrong): \(report)")
        let reject = try #require(report.rejects.first)
        #expect(reject.page == 2 && reject.record == 235 && reject.line == 1236, "\(reject)")
        #expect(reject.content == Data(wrong.utf8), "\(reject)")
      }
    }
  }

  @Test func `unreadable records are named by their file if many files are one import`()
    async throws
  {
    let folder = try TemporaryFolder()
    let paths = try (0..<4).map { number in
      let path = folder.path + "/p\(number).jsonl"
      let text =
        number == 2 ? "{\"k\":20}\nx\n" : "{\"k\":\(number * 10)}\n{\"k\":\(number * 10 + 1)}"
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      return path
    }
    try await withTemporaryStore([Measured.self]) { store in
      let report = try await importer(store).run(FilePages.jsonLines(paths), renaming: [:])
      #expect(report.inserted == 7 && report.pages == 4, "\(report)")
      #expect(report.rejects.map(\.file) == [paths[2]] && report.rejects.map(\.page) == [3])
      var pages = 0
      for try await _ in FilePages.jsonLines([paths[0], paths[1], paths[3]]) { pages += 1 }
      #expect(pages == 3)
      await #expect(throws: StoreError.self) {
        try await importer(store).run(
          FilePages.jsonLines([paths[0], folder.path + "/not.jsonl"]), renaming: [:])
      }
    }
  }

  @Test func `a byte order mark before JSON, and values that follow each other, are read`()
    async throws
  {
    let marked = Array("\u{FEFF}[{\"k\":1}]".utf8)
    try await withFile(marked, "p.json") { store, path in
      let report = try await importer(store).run(FilePages.json(path), renaming: [:])
      #expect(report.inserted == 1, "\(report)")
    }
    let text = "{\"k\":1}{\"k\":2}\n{\n  \"k\": 3\n}\n{\"k\" 4}{\"k\":5}"
    try await withFile(text.utf8, "p.json") { store, path in
      let report = try await importer(store).run(FilePages.jsonValues(path), renaming: [:])
      #expect(report.inserted == 4 && report.rejects.map(\.line) == [5], "\(report)")
    }
    let wide = "\u{FEFF}{\"k\":1,\"v\":\"é😀\"}\n".utf16.flatMap {
      [UInt8($0 & 0xFF), UInt8($0 >> 8)]
    }
    try await withFile(wide, "p.jsonl") { store, path in
      let report = try await importer(store).run(FilePages.jsonLines(path), renaming: [:])
      let found = try await store.read { try $0.fetch(Measured.all) }
      #expect(report.inserted == 1 && found.first?.v == "é😀", "\(report)")
    }
  }
}
