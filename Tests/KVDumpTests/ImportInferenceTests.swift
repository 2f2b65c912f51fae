import EntityStore
import Foundation
import Testing

@testable import KVDumpCommands

private struct Stamped: Entity {
  var id = RecordID<Stamped>()
  var key: String
  private(set) var sortKey = ""
  private(set) var changedAt = Date(timeIntervalSinceReferenceDate: 0)

  static let schema = EntitySchema<Stamped>(
    "Stamped",
    attributes: [
      .init("key", \.key), .derived("sortKey", \.sortKey, .canonical(\.key)),
      .derived("changedAt", \.changedAt, .changedAt),
    ], unique: [[\.sortKey]])

  init(_ key: String) { self.key = key }

  init(from reader: inout RecordReader) throws(StoreError) {
    key = try reader.read()
    sortKey = try reader.read()
    changedAt = try reader.read()
  }

  func encode(into writer: inout RecordWriter) { writer.write(key) }
}

@Suite("Inference of attributes from records")
struct ImportInferenceTests {
  private func types(_ folder: StoreFolder) async throws -> [String: String] {
    let rows = await folder.run("schema", "E", "--format", "csv").data.split(separator: "\r\n")
    var types: [String: String] = [:]
    for row in rows.dropFirst() {
      let cells = row.split(separator: ",", omittingEmptySubsequences: false)
      types[String(cells[2])] = cells[3] + (cells[4] == "true" ? "?" : "")
    }
    return types
  }

  // MARK: Columns of texts

  private static let table = """
    id,zip,price,big,exact,seen,born,note,empty,mixed,flag01
    1,01234,10,1,0.1234567890123456789,true,2024-01-05,a,,1,0
    2,99999,10.5,18446744073709551615,2,False,2024-01-05T10:00:00Z,,,x,1
    3,00000,-1e2,3,3.5,TRUE,1977-05-25 20:30:00,c,,2,0

    """

  @Test func `columns of CSV get the types that all of their texts have`() async throws {
    let folder = try StoreFolder()
    let outcome = try await folder.load(
      Self.table, "--entity", "E", "--unique", "id", "--infer", name: "t.csv")
    #expect(
      try await types(folder) == [
        "id": "int64", "zip": "string", "price": "double", "big": "uint64", "exact": "decimal",
        "seen": "bool", "born": "date", "note": "string?", "empty": "string?", "mixed": "string",
        "flag01": "int64",
      ])
    #expect(
      outcome.messages.contains(
        "E: inferred types from the texts of all 3 rows; --all-text keeps texts\n"))
    #expect(
      await folder.run("records", "E").data.split(separator: "\n").first
        == #"{"_id":1,"id":1,"zip":"01234","price":10.0,"big":1,"exact":0.1234567890123456789,"#
        + #""seen":true,"born":"2024-01-05T00:00:00Z","note":"a","empty":null,"mixed":"1","flag01":0}"#
    )
    let again = try await folder.load(Self.table, "--entity", "E", "--infer", name: "t.csv")
    #expect(again.data.contains(#""unchanged":3"#))
    #expect(await folder.isSound())
  }

  @Test func `--all-text and --type keep texts unchanged`() async throws {
    let folder = try StoreFolder()
    let outcome = try await folder.load(
      Self.table, "--entity", "E", "--unique", "id", "--infer", "--all-text", "--type",
      "price=double",
      name: "t.csv")
    let found = try await types(folder)
    #expect(found.filter { !$0.value.hasPrefix("string") } == ["price": "double"])
    #expect(!outcome.messages.contains("inferred types"))
    let other = try StoreFolder()
    try await other.load(
      Self.table, "--entity", "E", "--unique", "id", "--infer", "--type", "id=string", name: "t.csv"
    )
    #expect(try await types(other)["id"] == "string")
    let wrong = await folder.importing([folder.path + "/t.csv", "--entity", "E", "--all-text"])
    #expect(wrong.status == .usage && wrong.messages.contains("--all-text: only with --infer"))
  }

  @Test func `a later text of another type is a reject that names the remedy`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      "id,n,at\n1,5,2024-01-05\n", "--entity", "E", "--unique", "id", "--infer", name: "a.csv")
    let outcome = try await folder.load(
      "id,n,at\n2,many,2024-01-05\n3,6,5.1.2024\n4,7,2024-01-06\n", "--entity", "E", "--infer",
      name: "b.csv")
    #expect(try folder.report(outcome) == ImportCounts(records: 3, inserted: 1, rejected: 2))
    #expect(
      outcome.messages.contains(
        "'n' must be an integer that fits int64, found the string \"many\"; "
          + "--null-value TEXT reads a text as null, and --infer --map COLUMN=NAME imports the column "
          + "into another attribute"))
    #expect(outcome.messages.contains("--type at=date:FORMAT reads other forms"))
    // The second import uses the options that the first message advised.
    let mapped = try await folder.load(
      "id,n,at\n2,many,2024-01-05\n", "--entity", "E", "--infer", "--map", "n=text", name: "c.csv")
    #expect(try folder.report(mapped) == ImportCounts(records: 1, inserted: 1))
    #expect(await folder.isSound())
  }

  @Test func `inference from a sample of rows reports the sample`() async throws {
    let folder = try StoreFolder()
    let rows = (1...1_000).map { "\($0),\($0)" } + ["1001,x"]
    let outcome = try await folder.load(
      "id,n\n" + rows.joined(separator: "\n"), "--entity", "E", "--unique", "id", "--infer",
      "--sample",
      "1", name: "a.csv")
    #expect(try await types(folder) == ["id": "int64", "n": "int64"])
    #expect(
      outcome.messages.contains("others that differ are rejected; --all-text keeps the texts"))
    #expect(try folder.report(outcome).rejected == 1)
  }

  @Test(arguments: [
    ("a.csv", "id,n\n"), ("a.csv", "id,n"), ("a.json", "[]"),
    ("a.json", #"{"fields":["id"],"data":[]}"#),
  ])
  func `a page without records is no failure`(name: String, text: String) async throws {
    let folder = try StoreFolder()
    // Without records there are no types to infer, so no store is created.
    let options = ["--entity", "E", "--unique", "id", "--infer"]
    let first = await folder.importing([try folder.file(name, text)] + options)
    #expect(first.status == .success, "\(first.messages)")
    #expect(try folder.report(first) == ImportCounts())
    #expect(first.messages.contains("E: there are no records to infer attributes from"))
    #expect(!FileFacts.exists(folder.store))
    try await folder.load(#"[{"id":1,"n":2}]"#, "--entity", "E", "--unique", "id", "--infer")
    let schema = await folder.run("schema", "E").data
    let later = await folder.importing([try folder.file(name, text)] + options)
    #expect(later.status == .success, "\(later.messages)")
    #expect(try folder.report(later) == ImportCounts())
    #expect(await folder.run("schema", "E").data == schema)
    #expect(await folder.isSound())
  }

  @Test(arguments: [("a;b\n1;2\n", "';'"), ("a\tb\n1\t2\n", "tab"), ("a|b\n1|2\n", "'|'")])
  func `a delimiter in an only column's name is reported`(text: String, word: String) async throws {
    let folder = try StoreFolder()
    let file = try folder.file("a.csv", text)
    let outcome = await folder.importing([file, "--entity", "E", "--insert-only", "--infer"])
    #expect(
      outcome.messages.contains(
        "E: the records have one member; where \(word) stands between columns of CSV, "
          + "--delimiter \(word) reads them\n"), "\(outcome.messages)")
    let other = try StoreFolder()
    let delimiter = word == "tab" ? word : String(word.dropFirst().dropLast())
    let read = await other.importing([
      try other.file("a.csv", text), "--entity", "E", "--insert-only", "--infer", "--delimiter",
      delimiter,
    ])
    #expect(!read.messages.contains("one member"), "\(read.messages)")
    #expect(await other.run("records", "E").data == "{\"_id\":1,\"a\":1,\"b\":2}\n")
    #expect(await other.isSound())
  }

  @Test func `a number may lack the zero before its point`() async throws {
    let folder = try StoreFolder()
    let options = ["--entity", "E", "--unique", "id", "--infer"]
    let file = try folder.file("a.csv", "id,n,s\n1,.5,1.\n2,-.25,.5\n3,4,.\n")
    let outcome = await folder.importing([file] + options)
    #expect(outcome.status == .success, "\(outcome.messages)")
    #expect(try await types(folder) == ["id": "int64", "n": "double", "s": "string"])
    let rows = await folder.run("records", "E", "--fields", "n,s").data
    #expect(
      rows == """
        {"n":0.5,"s":"1."}
        {"n":-0.25,"s":".5"}
        {"n":4.0,"s":"."}

        """)
    #expect(await folder.isSound())
  }

  /// An inferred type accepts all values from which it was inferred.
  @Test(arguments: [
    ("[1e400,2]", "decimal", 2), ("[1e-400,2.5]", "decimal", 2), ("[2.5,-1E400]", "decimal", 2),
    ("[123456789012345678901234567890,2.5]", "decimal", 2),
    ("[2.5,123456789012345678901234567890,-7]", "decimal", 3),
    ("[2.5,9007199254740992]", "double", 2),
    // No number type accepts all of these values, so the attribute is JSON.
    ("[2.5,1e99999]", "json", 1), ("[2.5,1\(String(repeating: "2", count: 40))]", "json", 1),
  ])
  func `numbers outside of the range of a double make a decimal`(
    numbers: String, type: String, count: Int
  ) async throws {
    let folder = try StoreFolder()
    let values = numbers.dropFirst().dropLast().split(separator: ",")
    let records = values.enumerated().map { #"{"id":\#($0),"n":\#($1)}"# }
    let outcome = try await folder.load(
      "[" + records.joined(separator: ",") + "]", "--entity", "E", "--unique", "id", "--infer")
    #expect(try await types(folder) == ["id": "int64", "n": type])
    #expect(
      try folder.report(outcome)
        == ImportCounts(records: values.count, inserted: count, rejected: values.count - count))
    #expect(await folder.isSound())
  }

  @Test func `a negative zero stays negative among doubles`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      "id,n\n1,-0\n2,0\n3,1.5\n", "--entity", "E", "--unique", "id", "--infer", name: "a.csv")
    let rows = await folder.run("records", "E", "--fields", "n").data
    #expect(rows == "{\"n\":-0.0}\n{\"n\":0.0}\n{\"n\":1.5}\n")
    #expect(await folder.isSound())
  }

  @Test(arguments: [
    ("5", "the record is an integer, must be an object"),
    ("[1,2]", "the record is an integer, must be an object"),
    (#""x""#, "the record is a string, must be an object"), ("null", "the record is null"),
    (#"[["id","id"],[1,2]]"#, "the record is an array, must be an object"),
  ])
  func `values that are no records are a failure, not an empty page`(
    text: String, reason: String
  ) async throws {
    let folder = try StoreFolder()
    let file = try folder.file("a.json", text)
    let outcome = await folder.importing([file, "--entity", "E", "--unique", "id", "--infer"])
    #expect(outcome.status == .damagedData, "\(outcome.messages)")
    #expect(outcome.messages.contains("a.json: page 1: \(reason)"), "\(outcome.messages)")
    #expect(!FileFacts.exists(folder.store))
  }

  // MARK: Required attributes

  @Test func `a new member beside required derived attributes is added`() async throws {
    let folder = try StoreFolder()
    let store = try Store(at: folder.store, entities: [Stamped.self])
    _ = try await store.write { try $0.insert(Stamped("Émile")) }
    store.close()
    let outcome = try await folder.load(
      #"[{"key":"Émile","more":1},{"key":"Zoë","more":2}]"#, "--entity", "Stamped", "--infer",
      "--unique", "sortKey")
    #expect(outcome.messages.contains("Stamped: added attribute 'more', int64, optional\n"))
    #expect(!outcome.messages.contains("made '"), "\(outcome.messages)")
    #expect(try folder.report(outcome) == ImportCounts(records: 2, inserted: 1, updated: 1))
    #expect(await folder.isSound())
  }

  @Test func `a patch with some of the attributes leaves the others required`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"id":1,"a":"x"}]"#, "--entity", "E", "--unique", "id", "--infer")
    let outcome = try await folder.load(
      #"[{"id":1,"b":2}]"#, "--entity", "E", "--infer", "--on-conflict", "patch")
    #expect(!outcome.messages.contains("made '"), "\(outcome.messages)")
    #expect(try await types(folder) == ["id": "int64", "a": "string", "b": "int64?"])
    #expect(await folder.run("records", "E").data == #"{"_id":1,"id":1,"a":"x","b":2}"# + "\n")
  }

  // MARK: Bounds

  @Test func `more members than an entity can have attributes end the survey at once`() async throws
  {
    let folder = try StoreFolder()
    let lines = (0..<40).map { line in
      "{" + (0..<50).map { #""m\#(line * 50 + $0)":1"# }.joined(separator: ",") + "}"
    }
    let file = try folder.file("m.jsonl", lines.joined(separator: "\n"))
    let outcome = await folder.importing([file, "--entity", "E", "--infer", "--insert-only"])
    #expect(outcome.status == .usage)
    #expect(
      outcome.messages.contains(
        "m.jsonl: page 1: the records up to here have more than 1,000 members without an attribute of E"
      ),
      "\(outcome.messages)")
    #expect(!FileFacts.exists(folder.store))
    // An entity may have a thousand attributes. Stored attributes do not count twice in the second
    // import.
    let most = (0..<1_000).map { #""m\#($0)":1"# }.joined(separator: ",")
    try await folder.load("[{\(most)}]", "--entity", "E", "--infer", "--insert-only")
    try await folder.load("[{\(most)}]", "--entity", "E", "--infer", "--insert-only")
    #expect(await folder.isSound())
  }

  @Test func `a report and its memory have a thousand names of unknown members`() async throws {
    let folder = try StoreFolder()
    try await folder.load(#"[{"id":1}]"#, "--entity", "E", "--unique", "id", "--infer")
    let members = (0..<5_000).map { #""m\#($0)":1"# }.joined(separator: ",")
    let outcome = try await folder.load(
      #"[{"id":1,\#(members)}]"#, "--entity", "E", "--format", "json")
    let unknown = try JSONValue(parsing: outcome.data)["unknownMembers"]
    #expect(unknown?.objectValue?.count == 1_000)
  }

  @Test func `a pipe is buffered up to a limit to infer a schema from it`() async throws {
    guard let tool = ToolProcess.path else { return }
    for (limit, isTaken) in [("1K", false), ("1M", true)] {
      let folder = try StoreFolder()
      let run = try PipedImport(
        tool, folder.store,
        ["--entity", "E", "--unique", "id", "--infer", "--spool-limit", limit])
      try run.write((1...200).map { #"{"id":\#($0)}"# }.joined(separator: "\n"))
      let data = try run.finish()
      #expect(run.process.terminationStatus == (isTaken ? 0 : 64), "\(data)")
      #expect(data.contains(#""inserted":200"#) == isTaken)
    }
  }

  @Test(arguments: [
    ("500", 500), ("2K", 2048), ("3m", 3 << 20), ("4G", 4 << 30), ("1T", 1 << 40), ("0", nil),
    ("", nil),
    ("G", nil), ("1.5G", nil), ("-1", nil), ("9223372036854775807K", nil),
  ])
  func `sizes in options are numbers with a unit`(text: String, bytes: Int?) {
    #expect(ByteSize(argument: text)?.bytes == bytes)
  }
}
