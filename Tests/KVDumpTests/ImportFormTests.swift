import EntityStore
import Testing

@testable import KVDumpCommands

@Suite("Import of CSV and columns")
struct ImportFormTests {
  @Test func `import reads an export in CSV with the types that are stored`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"k":1,"s":"a,\"b\"\r\n","d":0.5,"f":true,"j":{"x":[1]}},{"k":2,"s":"","d":null,"f":false,"j":null}]"#,
      "--entity", "E", "--unique", "k", "--infer")
    let file = folder.path + "/e.csv"
    #expect(await folder.run("export", "E", file).status == .success)
    let again = await folder.importing([file, "--entity", "E", "--mirror"])
    #expect(try folder.report(again) == ImportCounts(records: 2, unchanged: 2))
    #expect(await folder.isSound())
  }

  /// The member "café" is spelled with one scalar and with two scalars for its last letter.
  @Test(arguments: ["m.jsonl", "m.json"])
  func `a record with two spellings of one member is rejected alone, and ends a strict import`(
    name: String
  ) async throws {
    let folder = try StoreFolder()
    let lines = [
      #"{"k":1}"#, #"{"k":2,"caf\u00e9":1,"cafe\u0301":2}"#,
      #"{"k":3,"j":[{"caf\u00e9":1,"a":0,"cafe\u0301":2}]}"#, #"{"k":4,"j":[]}"#,
    ]
    let isLines = name.hasSuffix("l")
    let file = try folder.file(
      name, isLines ? lines.joined(separator: "\n") : "[\(lines.joined(separator: ","))]")
    let options = ["--entity", "E", "--unique", "k", "--infer"]
    let strict = await folder.importing([file, "--strict"] + options)
    #expect(strict.status == .negative, "\(strict.messages)")
    let outcome = await folder.importing([file] + options)
    #expect(outcome.status == .success, "\(outcome.messages)")
    #expect(try folder.report(outcome) == ImportCounts(records: 4, inserted: 2, rejected: 2))
    #expect(outcome.messages.contains("in another spelling of Unicode"), "\(outcome.messages)")
    let keys = await folder.run("query", "E", "--fields", "k", "--format", "csv").data
    #expect(keys.split(whereSeparator: \.isNewline) == ["k", "1", "4"])
    // One key in two spellings is refused, because JSON parsers treat it differently.
    let twice = try folder.file("twice.jsonl", #"{"k":9,"caf\u00e9":1,"café":2}"#)
    #expect(await folder.importing([twice] + options).status != .success)
    #expect(await folder.isSound())
  }

  @Test func `two spellings of a member around the records are refused with their page`()
    async throws
  {
    let folder = try StoreFolder()
    let file = try folder.file("m.json", #"{"caf\u00e9":[{"k":1}],"cafe\u0301":[{"k":2}]}"#)
    let outcome = await folder.importing(
      [file, "--entity", "E", "--unique", "k", "--infer", "--records", "café"])
    #expect(outcome.status == .damagedData, "\(outcome.messages)")
    #expect(outcome.messages.contains("a second time"))
  }

  @Test func `blanks without an end are refused`() async throws {
    let folder = try StoreFolder()
    let file = try folder.file("b.json", String(repeating: "\n", count: 18 << 20))
    let outcome = await folder.importing([file, "--entity", "E", "--infer", "--insert-only"])
    #expect(outcome.status == .damagedData, "\(outcome.messages)")
    #expect(outcome.messages.contains("its first 16 MiB are blank"), "\(outcome.messages)")
    let few = try folder.file("few.json", String(repeating: "\n", count: 1 << 20) + #"{"k":1}"#)
    let options = ["--entity", "E", "--infer", "--insert-only"]
    #expect(await folder.importing([few] + options).status == .success)
  }

  @Test func `import reads CSV of other kinds and reports the byte of a reject`() async throws {
    let folder = try StoreFolder()
    let file = try folder.file(
      "p.txt", "name;at;n\r\n\"x;y\";01.02.2024;1\r\n\r\nz;31.02.2024;2\r\nw;;3")
    let options = [
      "--entity", "E", "--unique", "name", "--delimiter", ";", "--skip-blank-lines", "--type",
      "at=date:dd.MM.yyyy", "--type", "n=int",
    ]
    let outcome = await folder.importing([file, "--infer", "--format", "json"] + options)
    let report = try JSONValue(parsing: outcome.data)
    #expect(report[path: "rejects.0.byteOffset"]?.intValue == 33)
    #expect(report[path: "rejects.0.record"]?.intValue == 2)
    #expect(
      report[path: "rejects.0.reason"]?.stringValue
        == "'at' must be a date as 'dd.MM.yyyy', found the string \"31.02.2024\"")
    #expect(
      await folder.run("records", "E", "--format", "csv").data
        == "_id,name,at,n\r\n1,x;y,2024-02-01T00:00:00Z,1\r\n2,w,,3\r\n")
    #expect(await folder.isSound())
  }

  @Test(arguments: [
    (["--header", "a,b"], "a,b\r\n1,2\r\n3,4\r\n", "1\t2\n3\t4\n"),
    (["--no-header"], "column1,column2\r\n1,2\r\n3,4\r\n", "1\t2\n3\t4\n"),
    (["--csv", "--ragged", "fill"], "a,b\r\n1,\r\n3,4\r\n", "a\tb\n1\n3\t4\n"),
    (["--csv", "--ragged", "fit"], "a,b\r\n1,2\r\n3,4\r\n", "a\tb\n1\t2\t9\n3\t4\n"),
  ])
  func `import reads CSV with its options`(options: [String], rows: String, text: String)
    async throws
  {
    let folder = try StoreFolder()
    let file = try folder.file("p.tsv", text)
    let outcome = await folder.importing(
      [file, "--entity", "E", "--insert-only", "--infer", "--delimiter", "tab"] + options)
    #expect(outcome.status == .success, "\(outcome.messages)")
    let fields = rows.prefix { $0 != "\r\n" }
    #expect(
      await folder.run("records", "E", "--fields", String(fields), "--format", "csv").data == rows)
  }

  @Test func `import rejects a row that is not CSV, and continues`() async throws {
    let folder = try StoreFolder()
    let rows = (0..<1500).map { "\($0),x" }
    let text = "k,v\n" + rows.joined(separator: "\n") + "\nlast\n9999,y\n"
    let file = try folder.file("p.csv", text)
    let outcome = await folder.importing([file, "--entity", "E", "--unique", "k", "--infer"])
    #expect(outcome.status == .success, "\(outcome.messages)")
    #expect(
      outcome.messages.contains("p.csv: page 2 record 501 (line 1502, byte"), "\(outcome.messages)")
    #expect(try folder.report(outcome) == ImportCounts(records: 1502, inserted: 1501, rejected: 1))
    #expect(await folder.isSound())
  }

  @Test(arguments: [
    (#"[{"a":1}]"#, "expected an object with 'fields' and 'data'"),
    (#"{"fields":["a"],"data":[[1],[1,2]]}"#, "found 2 values in row 2, expected 1"),
    (#"{"fields":["a","a"],"data":[]}"#, "the field \"a\" a second time"),
    (#"{"count":"2","fields":["a"],"data":[[1]]}"#, "1 rows, expected 2 as 'count' says"),
  ])
  func `import requires columns if an option demands them`(text: String, message: String)
    async throws
  {
    let folder = try StoreFolder()
    let file = try folder.file("p.json", text)
    let outcome = await folder.importing([
      file, "--entity", "E", "--columns", "--infer", "--insert-only",
    ])
    #expect(outcome.status == .damagedData)
    #expect(outcome.messages.contains(message), "\(outcome.messages)")
    #expect(!FileFacts.exists(folder.store))
  }

  @Test(arguments: [
    ("{\"a\":1}\n{\"a\":2}\n", [String]()), ("[{\"a\":1},{\"a\":2}]", []),
    ("{\"r\":[{\"a\":1}]}\n{\"r\":[{\"a\":2}]}\n", ["--records", "r"]),
    ("{\"fields\":[\"a\"],\"data\":[[1],[2]]}", ["--columns"]),
    ("a\n1\n2\n", ["--csv", "--type", "a=int"]),
  ])
  func `import reads every form through a pipe, also to infer a schema`(
    text: String, options: [String]
  ) async throws {
    guard let tool = ToolProcess.path else { return }
    let folder = try StoreFolder()
    let run = try PipedImport(
      tool, folder.store, ["--entity", "E", "--unique", "a", "--infer"] + options)
    try run.write(text)
    let report = try JSONValue(parsing: try run.finish())
    #expect(report["inserted"]?.intValue == 2)
    #expect(await folder.run("records", "E", "--fields", "a").data == "{\"a\":1}\n{\"a\":2}\n")
    #expect(await folder.isSound())
  }

  @Test(arguments: [
    ("\0\0\0", "found byte 0x00"), ("[{\"a\":NaN}]", "a number that is not finite"),
    ("[{\"a\":1", "found the end of the text"), ("[{\"a\":1,\"a\":2}]", "a second time"),
    (String(repeating: "[", count: 100_000), "levels of nesting"), ("\u{FEFF}[", "end of the text"),
    ("k\n1\n", "found 'k', expected a value; --csv reads separated values"),
  ])
  func `a text that is no JSON is refused with a message before a store is made`(
    text: String, message: String
  ) async throws {
    let folder = try StoreFolder()
    let file = try folder.file("p.json", text)
    let outcome = await folder.importing([file, "--entity", "E", "--unique", "a", "--infer"])
    #expect(outcome.status == .damagedData)
    #expect(outcome.messages.contains(message), "\(outcome.messages)")
    #expect(!FileFacts.exists(folder.store))
  }

  @Test func `a stream without an end and without JSON is refused at its beginning`() async throws {
    let folder = try StoreFolder()
    let outcome = await folder.importing([
      "/dev/zero", "--entity", "E", "--unique", "a", "--infer",
    ])
    #expect(outcome.status == .damagedData)
    #expect(outcome.messages.contains("/dev/zero: page 1: cannot read JSON at line 1, column 1"))
  }

  @Test func `import and inference read standard input from its current position`() async throws {
    guard let tool = ToolProcess.path else { return }
    let folder = try StoreFolder()
    let file = try folder.file("p.txt", "a line of another\n{\"a\":1}\n{\"a\":2}\n")
    let process = try ToolProcess.start(
      #"{ read line; "$0" import "$1" - --entity E --unique a --infer; } < '\#(file)'"#, tool,
      folder.store)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(await folder.run("records", "E", "--fields", "a").data == "{\"a\":1}\n{\"a\":2}\n")
  }

  @Test func `import takes more files than a process may have open`() async throws {
    guard let tool = ToolProcess.path else { return }
    let folder = try StoreFolder()
    for number in 0..<60 { _ = try folder.file("p\(number).json", #"[{"k":\#(number)}]"#) }
    let process = try ToolProcess.start(
      #"ulimit -n 40; exec "$0" import "$1" "${1%/*}"/p*.json --entity E --unique k --infer"#,
      tool, folder.store)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(await folder.run("count", "E").data == "{\"count\":60}\n")
    #expect(await folder.isSound())
  }
}
