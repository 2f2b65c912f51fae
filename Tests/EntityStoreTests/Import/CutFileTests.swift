import EntityStore
import Foundation
import Testing

@testable import KVDumpCommands

/// Files that lack their end, as after a transfer that was cut.
@Suite struct `An import of a file that was cut` {
  private static let records = [
    #"{"k":0,"v":"a,b]}"}"#, #"{"k":1,"v":"\"[{"}"#, #"{"k":2,"d":12.5}"#, #"{"v":"é","k":3}"#,
  ]

  private struct Outcome: Equatable {
    var inserted: Int
    var rejected: Int
    /// The position of the last reject in its page.
    var record: Int?
    var offset: Int?
    var content: Data?
    var isCut: Bool
  }

  private func importing(
    _ bytes: Data, _ name: String, records: String? = nil, strategy: ImportStrategy = .upsert
  ) async throws -> Outcome {
    let folder = try TemporaryFolder()
    let path = folder.path + "/" + name
    try bytes.write(to: URL(fileURLWithPath: path))
    return try await withTemporaryStore([Measured.self]) { store in
      var stale = Measured(k: 100)
      stale.v = "stale"
      try await store.insert(stale)
      let importer = Importer(
        into: store, Measured.self, matching: .unique(\.k), strategy: strategy)
      let report: ImportReport
      if name.contains(".csv") {
        var options = CSVOptions()
        options.types = ["k": .integer]
        report = try await importer.run(FilePages.csv(path, options), renaming: [:])
      } else if name.contains(".jsonl") {
        report = try await importer.run(FilePages.jsonLines(path), renaming: [:])
      } else {
        report = try await importer.run(FilePages.json(path), records: records ?? "", renaming: [:])
      }
      #expect(report.deleted == 0 && report.keptUnseen == (strategy == .mirror), "\(report)")
      let count = try await store.count(Measured.all)
      #expect(count == report.inserted + 1)
      let last = report.rejects.last
      return Outcome(
        inserted: report.inserted, rejected: report.rejected, record: last?.record,
        offset: last?.byteOffset, content: last?.content, isCut: report.isCut)
    }
  }

  /// The number of records that end before `end`, and the offset of the next record.
  private func whole(_ text: String, before end: Int) -> (count: Int, next: Int?) {
    var from = text.startIndex
    var count = 0
    for record in Self.records {
      guard let range = text.range(of: record, range: from..<text.endIndex) else { break }
      let start = text.utf8.distance(from: text.startIndex, to: range.lowerBound)
      if start + record.utf8.count > end { return (count, start < end ? start : nil) }
      count += 1
      from = range.upperBound
    }
    return (count, nil)
  }

  @Test(arguments: [nil, "results", "page.results"])
  func `a cut JSON text keeps its whole records, and rejects the incomplete one`(
    path: String?
  ) async throws {
    let array = "[\n" + Self.records.joined(separator: ",\n") + "\n]"
    let text =
      switch path {
      case "results": #"{"count":4,"results":\#(array),"next":null}"#
      case "page.results": #"{"page":{"results":\#(array)},"next":[1]}"#
      default: array
      }
    let bytes = Data(text.utf8)
    for end in 1..<bytes.count {
      let (count, next) = whole(text, before: end)
      let cut = bytes.prefix(end)
      guard count > 0 else {
        await #expect(throws: StoreError.self) {
          try await importing(cut, "p.json", records: path)
        }
        continue
      }
      let outcome = try await importing(
        cut, "p.json", records: path, strategy: end % 5 == 0 ? .mirror : .upsert)
      #expect(outcome.inserted == count && outcome.rejected == 1 && outcome.isCut, "\(end)")
      #expect(outcome.record == count + 1)
      if let next {
        #expect(outcome.offset == next && outcome.content == cut[next...], "\(end): \(outcome)")
      }
    }
    let all = try await importing(bytes, "p.json", records: path)
    #expect(all.inserted == 4 && all.rejected == 0 && !all.isCut)
  }

  @Test func `other faults are not treated as a cut`() async throws {
    for text in [#"[{"k":1},{"k":2]"#, #"[{"k":1},{"k" 2},{"k":3"#, #"[{"k":1}}"#, #"[{"k":1"#] {
      await #expect(throws: StoreError.self, "\(text)") {
        try await importing(Data(text.utf8), "p.json")
      }
    }
  }

  @Test func `cut separated values keep the rows before an unclosed quote`() async throws {
    let text = "k,v\n1,a\n2,\"b\n\"\n3,\"c\nd"
    let outcome = try await importing(Data(text.utf8), "p.csv")
    #expect(outcome.inserted == 2 && outcome.rejected == 1 && outcome.isCut, "\(outcome)")
    #expect(outcome.offset == 15 && outcome.content == Data("3,\"c\nd".utf8), "\(outcome)")
  }

  /// A row with too few fields counts as cut only if no line end follows it.
  @Test(arguments: ["lines", "values", "pages", "rows"])
  func `a cut file is recognized by its last part, and no option lets a mirror delete then`(
    form: String
  ) async throws {
    let text =
      switch form {
      case "lines": Self.records.joined(separator: "\n")
      case "values": Self.records.joined(separator: " ")
      case "pages": Self.records.map { "[\($0)]" }.joined(separator: "\n")
      default: "k,d,v\n0,,a\n1,,b\n2,12.5,\n3,,c"
      }
    let bytes = Data(text.utf8)
    let start = text.lastIndex { $0 == "\n" || $0 == " " } ?? text.startIndex
    let first = text.utf8.distance(from: text.startIndex, to: start) + 2
    let folder = try TemporaryFolder()
    for end in first...bytes.count {
      for isClosed in [false, true] where form != "values" || !isClosed {
        let path = folder.path + "/page"
        let cut = bytes.prefix(end) + (isClosed ? Data("\n".utf8) : Data())
        try cut.write(to: URL(fileURLWithPath: path))
        let pages =
          switch form {
          case "lines": FilePages.jsonLines(path)
          case "values": FilePages.jsonValues(path)
          case "pages": FilePages.pagePerLine(path)
          default: FilePages.csv(path)
          }
        try await withTemporaryStore([Measured.self]) { store in
          try await store.insert(Measured(k: 100))
          var importer = Importer(
            into: store, Measured.self, matching: .unique(\.k), strategy: .mirror)
          importer.options.deletesDespiteRejects = true
          let report = try await importer.run(pages, renaming: [:])
          let isWhole = end >= bytes.count - (form == "rows" ? 1 : 0)
          #expect(report.isCut == (!isWhole && !isClosed), "\(end): \(report)")
          #expect(report.rejected == (isWhole ? 0 : 1), "\(end): \(report)")
          #expect(report.inserted == (isWhole ? 4 : 3), "\(end): \(report)")
          #expect(report.deleted == (report.isCut ? 0 : 1), "\(end): \(report)")
          #expect(report.keptUnseen == report.isCut)
        }
      }
    }
  }

  /// The last row of a cut compressed file may look whole, but the import does not take it.
  @Test func `a cut gzip file keeps whole rows and lines, and no part of a row`() async throws {
    let csv = "k,v\n1,a\n23,\"b\n\"\n345,cde\n"
    let lines = Self.records.joined(separator: "\n") + "\n"
    for (name, text, ends) in [
      ("p.csv.gz", csv, [8, 16, 24]),
      (
        "p.jsonl.gz", lines,
        Self.records.indices.map { Self.records[...$0].joined(separator: "\n").utf8.count }
      ),
    ] {
      let compressed = Self.gzip(Array(text.utf8))
      for end in 1...text.utf8.count {
        // The first 15 bytes are the header and the length of the block. Even the longest of these
        // files lacks its checksum.
        let outcome = try? await importing(compressed.prefix(15 + end), name)
        let count = ends.count { $0 <= end }
        if name == "p.csv.gz", end < 4 {
          #expect(outcome == nil, "there are no names of columns")
          continue
        }
        #expect(outcome?.inserted == count, "\(name) \(end): \(String(describing: outcome))")
        #expect(outcome?.rejected == 1 && outcome?.isCut == true, "\(name) \(end)")
      }
      let whole = try await importing(compressed, name)
      #expect(whole.inserted == ends.count && whole.rejected == 0 && !whole.isCut)
    }
  }

  @Test func `a cut gzip file of one JSON text keeps its whole records`() async throws {
    let text = "[" + Self.records.joined(separator: ",") + "]"
    let compressed = Self.gzip(Array(text.utf8))
    for end in 1...text.utf8.count {
      let (count, _) = whole(text, before: end)
      let outcome = try? await importing(compressed.prefix(15 + end), "p.json.gz")
      #expect(outcome?.inserted == (count > 0 ? count : nil), "\(end)")
      #expect(outcome.map { $0.rejected == 1 && $0.isCut } ?? (count == 0), "\(end)")
    }
  }

  @Test(arguments: ["p.json", "p.jsonl", "p.csv", "p.json.gz", "p.csv.gz", "p.jsonl.gz"])
  func `kvdump imports whole records of a cut file, has status 1, and then starts over`(
    name: String
  ) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/" + name
    let rejects = folder.path + "/rejects"
    let rows = (0..<1500).map { name.contains(".csv") ? "\($0),\"v\($0)\"" : #"{"k":\#($0)}"# }
    let text =
      switch name.split(separator: ".")[1] {
      case "json": "[" + rows.joined(separator: ",\n") + "]"
      case "csv": "k,v\n" + rows.joined(separator: "\n") + "\n"
      default: rows.joined(separator: "\n") + "\n"
      }
    let isCompressed = name.hasSuffix(".gz")
    let whole = isCompressed ? Self.gzip(Array(text.utf8)) : Data(text.utf8)
    let last = try #require(text.range(of: rows[1499])?.lowerBound)
    let end = text.utf8.distance(from: text.startIndex, to: last) + 6 + (isCompressed ? 15 : 0)
    func run(_ bytes: Data, _ options: String...) async throws -> (
      KVDumpCommands.ExitStatus, String
    ) {
      try bytes.write(to: URL(fileURLWithPath: path))
      let (data, messages) = (MemorySink(), MemorySink())
      let status = await KVDump.execute(
        [
          "import", folder.storePath, path, "--entity", "E", "--unique", "k", "--infer", "--type",
          "k=int",
        ] + options, on: Console(output: data, errors: messages))
      return (status, data.text + messages.text)
    }
    let (status, output) = try await run(whole.prefix(end), "--rejects", rejects)
    #expect(status == .negative, "\(output)")
    #expect(output.contains(#""inserted":1499,"#) && output.contains(#""rejected":1"#), "\(output)")
    #expect(output.contains("the text ends within its records"), "\(output)")
    let reject = try JSONValue(parsing: try String(contentsOfFile: rejects, encoding: .utf8))
    let start = text.utf8.distance(from: text.startIndex, to: last)
    #expect(reject["byteOffset"]?.intValue == start, "\(reject)")
    #expect(reject["content"]?.stringValue == String(rows[1499].prefix(6)), "\(reject)")
    #expect(reject["line"]?.intValue != nil && reject["file"]?.stringValue == path, "\(reject)")
    let (again, more) = try await run(whole, "--resume")
    #expect(again == .success, "\(more)")
    #expect(more.contains(#""inserted":1,"updated":0,"unchanged":1499"#), "\(more)")
    #expect(more.contains("began from the start"), "\(more)")
    try expectSound(folder.storePath)
  }

  /// The bytes as a gzip file with one stored block, without compression.
  private static func gzip(_ bytes: [UInt8]) -> Data {
    func number(_ value: UInt32, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
    }
    var checksum = UInt32.max
    for byte in bytes {
      checksum ^= UInt32(byte)
      for _ in 0..<8 { checksum = checksum >> 1 ^ (checksum & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
    let length = UInt32(bytes.count)
    return Data(
      [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255, 1] + number(length, 2) + number(~length, 2) + bytes
        + number(~checksum, 4) + number(length, 4))
  }
}
