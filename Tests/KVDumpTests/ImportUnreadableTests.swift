import EntityStore
import Foundation
import Testing

@testable import KVDumpCommands

@Suite struct `Import of unreadable records` {
  private static let options = ["--entity", "E", "--unique", "k", "--infer", "--type", "k=int"]

  private static func jsonLines(_ wrong: String) -> String {
    (0..<3000).map { $0 == 1499 ? wrong : #"{"k":\#($0)}"# }.joined(separator: "\n") + "\n"
  }

  @Test(arguments: [
    #"{"k":1499,"v":"\ud83d"}"#, #"{"k":1499,"k":2}"#, #"{"k":NaN}"#, #"{"k":1499"#, #"{"k" 1}"#,
  ])
  func `import rejects an unreadable line with its place and bytes, and continues`(wrong: String)
    async throws
  {
    let folder = try StoreFolder()
    let file = try folder.file("p.jsonl", Self.jsonLines(wrong))
    let rejects = folder.path + "/rejects"
    let outcome = await folder.importing([file, "--rejects", rejects] + Self.options)
    #expect(outcome.status == .success, "\(outcome.messages)")
    #expect(try folder.report(outcome) == ImportCounts(records: 3000, inserted: 2999, rejected: 1))
    let line = try JSONValue(parsing: try String(contentsOfFile: rejects, encoding: .utf8))
    #expect(line["file"]?.stringValue == file && line["page"]?.intValue == 2)
    #expect(line["record"]?.intValue == 500 && line["line"]?.intValue == 1500, "\(line)")
    #expect(line["content"]?.stringValue == wrong)
    let start = (0..<1499).reduce(0) { $0 + #"{"k":\#($1)}"#.utf8.count + 1 }
    let offset = try #require(line["byteOffset"]?.intValue)
    #expect((start...(start + wrong.utf8.count)).contains(Int(offset)))
    #expect(await folder.isSound())
  }

  @Test func `import ends at the limit of rejects, and continues after it`() async throws {
    let folder = try StoreFolder()
    let file = try folder.file("p.jsonl", Self.jsonLines("{"))
    let strict = await folder.importing([file, "--strict"] + Self.options)
    #expect(strict.status == .negative, "\(strict.messages)")
    #expect(try folder.report(strict).inserted == 1000)
    let rest = await folder.importing([file, "--resume"] + Self.options)
    #expect(rest.status == .success, "\(rest.messages)")
    #expect(try folder.report(rest) == ImportCounts(records: 3000, inserted: 2999, rejected: 1))
    #expect(await folder.isSound())
  }

  @Test func `import takes numbers of any size if the attribute does`() async throws {
    let folder = try StoreFolder()
    let digits = "123456789012345678901234567890"
    let file = try folder.file(
      "p.jsonl",
      """
      {"k":1,"m":\(digits),"d":\(digits)}
      {"k":2,"m":5,"d":1e400}
      {"k":3,"m":-0.5,"d":"\(digits)"}
      """)
    let outcome = await folder.importing(
      [file, "--type", "m=decimal", "--type", "d=double"] + Self.options)
    #expect(try folder.report(outcome) == ImportCounts(records: 3, inserted: 2, rejected: 1))
    let found = await folder.run("query", "E", "--fields", "k,m,d", "--format", "csv").data
    #expect(
      found.split(whereSeparator: \.isNewline)
        == ["k,m,d", "1,\(digits),1.2345678901234568e+29", "3,-0.5,1.2345678901234568e+29"])
    let unknown = try folder.file("u.jsonl", "{\"k\":9,\"m\":1,\"d\":1,\"other\":\(digits)}\n")
    let other = await folder.importing([unknown, "--entity", "E"])
    #expect(try folder.report(other).inserted == 1, "\(other.messages)")
    #expect(await folder.isSound())
  }

  @Test func `import takes no number that would become zero or infinite`() async throws {
    let folder = try StoreFolder()
    let file = try folder.file(
      "p.jsonl",
      """
      {"k":1,"f":1e-46,"d":1}
      {"k":2,"f":1e39,"d":1}
      {"k":3,"f":1e-40,"d":1e-400}
      {"k":4,"f":1e-45,"d":5e-324}
      {"k":5,"f":0e-46,"d":-0.0}
      """)
    let outcome = await folder.importing(
      [file, "--type", "f=float", "--type", "d=double"] + Self.options)
    #expect(try folder.report(outcome) == ImportCounts(records: 5, inserted: 2, rejected: 3))
    for value in ["d=1e-400", "f=1e-46", "d=-1e400", "f=1e39", "d=0.0001e-9999"] {
      let update = await folder.run("update", "E", "k == 4", value, "--yes")
      #expect(update.status == .usage, "\(value): \(update.messages)")
    }
    let update = await folder.run("update", "E", "k == 4", "d=0e9", "f=-Infinity", "--yes")
    #expect(update.status == .success, "\(update.messages)")
    #expect(await folder.isSound())
  }

  @Test(arguments: [
    "{\"k\":1}{\"k\":2}{\"k\":3}", "{\n  \"k\": 1\n}\n{\n  \"k\": 2\n}\n{\"k\":3}\n",
    "[{\"k\":1},{\"k\":2}]\n[{\"k\":3}]", "\u{FEFF}[{\"k\":1},{\"k\":2},{\"k\":3}]",
    "\u{FEFF}{\"k\":1}\n{\"k\":2}\n{\"k\":3}", "[\n{\"k\":1}]\n[{\"k\":2},{\"k\":3}]",
  ])
  func `import reads values that follow each other, and a byte order mark`(text: String)
    async throws
  {
    let folder = try StoreFolder()
    let file = try folder.file("p.json", text)
    let outcome = await folder.importing([file] + Self.options)
    #expect(outcome.status == .success, "\(outcome.messages)")
    #expect(try folder.report(outcome) == ImportCounts(records: 3, inserted: 3))
    #expect(await folder.isSound())
  }

  @Test func `import of unreadable records reads CSV with its options`() async throws {
    let folder = try StoreFolder()
    let file = try folder.file(
      "p.tsv", "a title\n#\nk\tv\n1\t\"starts\n2\tNA\n3\tends\"\n4\t\\N\n5\ta\\\tb\n6\t-999\n")
    let outcome = await folder.importing(
      [
        file, "--quote", "none", "--escape", "\\", "--null-value", "NA", "--null-value", "-",
        "--null-value", "-999", "--skip", "1", "--comment", "#",
      ] + Self.options)
    #expect(outcome.status == .success, "\(outcome.messages)")
    let found = await folder.run("query", "E", "--format", "jsonl", "--fields", "k,v").data
    #expect(
      found.split(separator: "\n") == [
        #"{"k":1,"v":"\"starts"}"#, #"{"k":2,"v":null}"#, #"{"k":3,"v":"ends\""}"#,
        #"{"k":4,"v":null}"#, #"{"k":5,"v":"a\tb"}"#, #"{"k":6,"v":null}"#,
      ])
    let quoted = try folder.file("q.tsv", "k\tv\n8\t\"x\n7\ty\"\n")
    let warned = await folder.importing([quoted, "--entity", "E", "--format", "json"])
    #expect(warned.messages.contains("q.tsv: line 2: a quoted field"), "\(warned.messages)")
    #expect(try JSONValue(parsing: warned.data)["warnings"]?.arrayValue?.count == 1)
    #expect(await folder.isSound())
  }

  @Test(arguments: [
    (["--quote", ","], "--quote: the same character as --delimiter"),
    (["--comment", "\""], "--comment: the same character as --quote"),
    (["--skip=-1"], "--skip: -1 is below 0"), (["--encoding", "klingon"], "encoding"),
    (["--null-value", "NA"], "no file is CSV"),
  ])
  func `import refuses options that contradict the form of the file`(
    options: [String], message: String
  ) async throws {
    let folder = try StoreFolder()
    let file = try folder.file("p.json", "[]")
    let outcome = await folder.importing([file] + options + Self.options)
    #expect(outcome.status == .usage && outcome.messages.contains(message), "\(outcome.messages)")
  }

  @Test func `import recognizes compressed files by their first bytes, also in a pipe`()
    async throws
  {
    guard let tool = ToolProcess.path else { return }
    let folder = try StoreFolder()
    let csv = try folder.file("p.csv", "k,v\n1,a\n2,b\n")
    let lines = try folder.file("p.jsonl", "{\"k\":3}\n{\"k\":4}\n")
    let compress = try ToolProcess.start(
      #"command -v gzip >/dev/null && gzip '\#(csv)' '\#(lines)' # "$0" "$1""#, tool, folder.store)
    compress.waitUntilExit()
    guard compress.terminationStatus == 0 else {
      print("SKIPPED: compressed files, because there is no gzip")
      return
    }
    let outcome = await folder.importing([csv + ".gz", lines + ".gz"] + Self.options)
    #expect(try folder.report(outcome).inserted == 4, "\(outcome.messages)")
    let piped = try ToolProcess.start(
      #""$0" import "$1" - --entity E --infer < '\#(lines).gz'"#, tool, folder.store)
    piped.waitUntilExit()
    #expect(piped.terminationStatus == 0)
    let cut = try Data(contentsOf: URL(fileURLWithPath: lines + ".gz")).dropLast(4)
    try cut.write(to: URL(fileURLWithPath: folder.path + "/cut.gz"))
    let ended = await folder.importing([folder.path + "/cut.gz", "--entity", "E"])
    #expect(ended.status == .negative)
    #expect(try folder.report(ended) == ImportCounts(records: 3, unchanged: 2, rejected: 1))
    #expect(ended.messages.contains("cannot read gzip at byte"), "\(ended.messages)")
    #expect(ended.messages.contains("the text ends within its records"), "\(ended.messages)")
    #expect(await folder.isSound())
  }

  @Test(arguments: [
    ("zip", [0x50, 0x4B, 0x03, 0x04, 0x14, 0, 6, 0]), ("Zstandard", [0x28, 0xB5, 0x2F, 0xFD, 4]),
    ("xz", [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0, 0, 4]),
    ("bzip2", [0x42, 0x5A, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 1]),
  ])
  func `import names a compression that it does not read, also of separated values`(
    name: String, bytes: [UInt8]
  ) async throws {
    let folder = try StoreFolder()
    let path = folder.path + "/book"
    try Data(bytes + Array("\nmore".utf8)).write(to: URL(fileURLWithPath: path))
    for form in [[], ["--csv", "--encoding", "latin-1"]] {
      let outcome = await folder.importing([path] + Self.options + form)
      #expect(outcome.status == .damagedData)
      #expect(
        outcome.messages.contains("found a file compressed by \(name), expected text or gzip"),
        "\(outcome.messages)")
    }
    // A text file may begin with the letters by which a compressed file begins.
    let file = try folder.file("t.csv", "BZh9,PK\n1,2\n")
    let taken = await folder.importing(
      [file, "--entity", "E", "--insert-only", "--infer"])
    #expect(taken.status == .success, "\(taken.messages)")
    #expect(await folder.isSound())
  }
}
