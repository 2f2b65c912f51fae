import EntityStore
import Testing

@testable import KVDumpCommands

@Suite("Import")
struct ImportTests {
  private static let films = """
    {"count":3,"results":[{"title":"A New Hope","episode":4,"rating":8.6,"producers":["a","b"],"seen":true},
    {"title":"Ångström","episode":5,"rating":9,"producers":"c","seen":false,"note":null},
    {"title":"Jedi","episode":18446744073709551615,"rating":0.5,"producers":{"x":null},"seen":true,"note":"n"}]}
    """

  private func filmStore() async throws -> StoreFolder {
    let folder = try StoreFolder()
    try await folder.load(
      Self.films, "--records", "results", "--entity", "Film", "--unique", "episode", "--index",
      "title", "--infer")
    return folder
  }

  @Test func `import returns the values that it was given`() async throws {
    let folder = try await filmStore()
    let expected = #"""
      {"_id":1,"title":"A New Hope","episode":4,"rating":8.6,"producers":["a","b"],"seen":true,"note":null}
      {"_id":2,"title":"Ångström","episode":5,"rating":9.0,"producers":"c","seen":false,"note":null}
      {"_id":3,"title":"Jedi","episode":18446744073709551615,"rating":0.5,"producers":{"x":null},"seen":true,"note":"n"}

      """#
    #expect(await folder.run("records", "Film").data == expected)
    #expect(await folder.isSound())
  }

  @Test func `import infers a type for every member`() async throws {
    let folder = try await filmStore()
    #expect(
      await folder.run("schema", "Film", "--format", "csv").data
        == """
        entity,number,attribute,type,optional,shape,initial,constraints,indexes,source\r
        Film,1,title,string,false,,,,title,\r
        Film,2,episode,uint64,false,,,,episode (unique),\r
        Film,3,rating,double,false,,,,,\r
        Film,4,producers,json,false,,,,,\r
        Film,5,seen,bool,false,,,,,\r
        Film,6,note,string,true,,,,,\r

        """)
  }

  @Test func `the second import of a file changes nothing and reports that`() async throws {
    let folder = try await filmStore()
    let before = await folder.run("records", "Film").data
    let again = try await folder.load(Self.films, "--records", "results", "--entity", "Film")
    #expect(
      counts(again.data)
        == #"{"entity":"Film","pages":1,"records":3,"inserted":0,"updated":0,"unchanged":3,"#
        + #""ignored":0,"deleted":0,"rejected":0,"rejects":[]}"# + "\n")
    #expect(await folder.run("records", "Film").data == before)
  }

  @Test func `import reads records that kvdump exported`() async throws {
    let folder = try await filmStore()
    let records = await folder.run("records", "Film").data
    let other = try StoreFolder()
    try await other.load(
      records, "--entity", "Film", "--unique", "episode", "--infer", name: "records.jsonl")
    #expect(await other.run("records", "Film").data == records)
  }

  @Test func `import makes an entity from the schema of another one`() async throws {
    let folder = try await filmStore()
    let schema = await folder.run("schema", "--format", "json").data
    let other = try StoreFolder()
    let file = try other.file("schema.json", schema)
    try await other.load(
      Self.films, "--records", "results", "--entity", "Film", "--schema", file)
    #expect(await other.run("schema", "--format", "json").data == schema)
    #expect(await other.run("records", "Film").data == folder.run("records", "Film").data)
  }

  @Test(arguments: [
    ("1, 2", "int64"), ("1, -2.5", "double"), ("9007199254740993, 0.5", "json"),
    ("1, \"x\"", "json"), ("true, 1", "json"), ("true, null", "bool"), ("null, null", "json"),
    ("18446744073709551615, -1", "json"), ("\"2024-01-01\", \"x\"", "string"), ("{}, []", "json"),
  ])
  func `import widens types that differ between records`(values: String, type: String) async throws
  {
    let folder = try StoreFolder()
    let list = values.split(separator: ", ").enumerated().map { #"{"k":\#($0),"v":\#($1)}"# }
    try await folder.load(
      "[" + list.joined(separator: ",") + "]", "--entity", "E", "--unique", "k", "--infer")
    let schema = await folder.run("schema", "E", "--format", "csv").data
    #expect(schema.contains("E,2,v,\(type),\(values.contains("null")),"))
  }

  @Test func `import maps names that cannot be attributes, with a report`() async throws {
    let folder = try StoreFolder()
    let outcome = try await folder.load(
      #"[{"_id":7,"impact-e":1,"impact_e":2,"2x":3,"é":4}]"#, "--entity", "E", "--unique",
      "impact-e", "--infer")
    #expect(
      await folder.run("records", "E").data
        == #"{"_id":1,"impact_e_2":1,"impact_e":2,"_2x":3,"e":4}"# + "\n")
    #expect(outcome.messages.contains("E: member 'impact-e' is attribute 'impact_e_2'\n"))
    // A second import without inference fills the same attributes from the same members.
    let again = try await folder.load(
      #"[{"impact-e":1,"impact_e":3,"2x":3,"é":4}]"#, "--entity", "E", name: "again.json")
    #expect(try folder.report(again) == ImportCounts(records: 1, updated: 1))
    #expect(
      await folder.run("records", "E").data
        == #"{"_id":1,"impact_e_2":1,"impact_e":3,"_2x":3,"e":4}"# + "\n")
  }

  @Test func `import names page, record, byte and attribute of a reject`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"k":1,"s":"a","n":1}]"#, "--entity", "E", "--unique", "k", "--infer")
    let text = """
      {"k":2,"s":5,"n":1}
      {"k":3,"s":"x"}
      {"k":null,"s":"x","n":1}
      "no object"
      {"k":9223372036854775808,"s":"x","n":1}
      {"k":4,"s":"x","n":4.0}
      """
    let outcome = try await folder.load(
      text, "--entity", "E", "--format", "json", name: "bad.jsonl")
    let report = try JSONValue(parsing: outcome.data)
    #expect(report["inserted"]?.intValue == 1)
    #expect(report["rejected"]?.intValue == 5)
    let rejects = (0..<5).map { report[path: "rejects.\($0)"] ?? .null }
    #expect(rejects.map { $0["record"]?.intValue } == [1, 2, 3, 4, 5])
    #expect(rejects.map { $0["byteOffset"]?.intValue } == [11, 20, 41, 61, 78])
    #expect(rejects.map { $0["attribute"]?.stringValue } == ["s", "n", "k", nil, "k"])
    #expect(rejects[0]["reason"]?.stringValue == "'s' must be a string, found an integer 5")
    #expect(rejects[1]["reason"]?.stringValue == "'n' is absent, and required")
    #expect(rejects[3]["reason"]?.stringValue == "the record is a string, must be an object")
    #expect(await folder.isSound())
  }

  @Test func `import rejects only the line that is no JSON`() async throws {
    let folder = try StoreFolder()
    let file = try folder.file(
      "p.jsonl",
      #"{"r":[{"k":1}]}"# + "\n" + #"{"r":[{"k":2},{"k":}]}"# + "\n" + #"{"r":[{"k":3}]}"#)
    let outcome = await folder.run(
      "import", file, "--records", "r", "--entity", "E", "--unique", "k", "--infer")
    #expect(outcome.status == .success)
    #expect(try folder.report(outcome) == ImportCounts(records: 4, inserted: 3, rejected: 1))
    #expect(
      outcome.messages.contains(
        "page 2 record 2 (line 2, byte 35): cannot read JSON: found '}', expected a value"))
    let records = await folder.run("records", "E", "--fields", "k").data
    #expect(records == "{\"k\":1}\n{\"k\":2}\n{\"k\":3}\n")
    #expect(await folder.isSound())
  }

  @Test func `a strict import stops at the first reject, without its page`() async throws {
    let folder = try StoreFolder()
    try await folder.load(#"[{"k":1}]"#, "--entity", "E", "--unique", "k", "--infer")
    for bad in [#"{"k":"x"}"#, #"{"k":4,"more":1}"#] {
      let file = try folder.file(
        "p.jsonl", #"{"r":[{"k":2}]}"# + "\n" + #"{"r":[{"k":3},\#(bad)]}"#)
      let outcome = await folder.run("import", file, "--records", "r", "--entity", "E", "--strict")
      #expect(outcome.status == .negative)
      #expect(outcome.data.contains(#""rejected":1"#))
      #expect(await folder.run("records", "E", "--fields", "k").data == "{\"k\":1}\n{\"k\":2}\n")
    }
  }

  @Test(arguments: [
    ("replace", #"{"a":null,"b":9}"#, #""updated":1"#),
    ("patch", #"{"a":"x","b":9}"#, #""updated":1"#),
    ("ignore", #"{"a":"x","b":2}"#, #""ignored":1"#),
    ("fail", #"{"a":"x","b":2}"#, #""rejected":1"#),
  ])
  func `import applies the chosen policy to a known record`(
    mode: String, expected: String, count: String
  ) async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"k":1,"a":"x","b":2},{"k":0,"a":null,"b":0}]"#, "--entity", "E", "--unique", "k",
      "--index", "b", "--infer")
    let outcome = try await folder.load(
      #"[{"k":1,"b":9},{"k":5,"b":5}]"#, "--entity", "E", "--on-conflict", mode)
    #expect(outcome.data.contains(#""inserted":1"#))
    #expect(outcome.data.contains(count))
    #expect(await folder.run("get", "E", "k=1", "--fields", "a,b").data == expected + "\n")
    #expect(await folder.isSound())
  }

  @Test func `import patches a record twice if a page holds two patches of it`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"k":1,"a":"x","b":2}]"#, "--entity", "E", "--unique", "k", "--infer")
    let outcome = try await folder.load(
      #"[{"k":2,"a":"y","b":1},{"k":2,"b":3},{"k":1,"a":"z"},{"k":3,"b":1}]"#, "--entity", "E",
      "--on-conflict", "patch")
    #expect(outcome.data.contains(#""inserted":1,"updated":2"#))
    #expect(outcome.data.contains("cannot insert a E: 'a' was not given, and is required"))
    #expect(
      await folder.run("records", "E", "--fields", "k,a,b", "--format", "csv").data
        == "k,a,b\r\n1,z,2\r\n2,y,3\r\n")
  }

  @Test func `an import without a key inserts every record`() async throws {
    let folder = try StoreFolder()
    for _ in 0..<2 {
      try await folder.load(#"[{"v":1},{"v":1}]"#, "--entity", "E", "--insert-only", "--infer")
    }
    #expect(
      await folder.run("records", "E", "--fields", "v").data
        == String(repeating: "{\"v\":1}\n", count: 4))
  }

  @Test func `an inferring import adds members and indexes to a known entity`() async throws {
    let folder = try StoreFolder()
    try await folder.load(#"[{"k":1,"a":"x"}]"#, "--entity", "E", "--unique", "k", "--infer")
    let plain = try await folder.load(#"[{"k":2,"a":"y","b":true}]"#, "--entity", "E")
    #expect(plain.messages.contains("left out members without an attribute: b"))
    let outcome = try await folder.load(
      #"[{"k":3,"b":true}]"#, "--entity", "E", "--infer", "--index", "b")
    #expect(outcome.messages.contains("E: added attribute 'b', bool, optional\n"))
    #expect(outcome.messages.contains("E: made 'a' optional, as some record lacks it\n"))
    #expect(outcome.messages.contains("E: added index b\n"))
    #expect(
      await folder.run("index", "E", "b", "--fields", "k,a,b", "--reverse").data
        == """
        {"k":3,"a":null,"b":true}
        {"k":2,"a":"y","b":null}
        {"k":1,"a":"x","b":null}

        """)
    #expect(await folder.isSound())
  }

  @Test func `import reads tables with named columns, single records and lines`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"{"count":"2","fields":["d","e-f"],"data":[["a","1"],["b",null]]}"#, "--entity", "T",
      "--unique", "d", "--infer")
    #expect(
      await folder.run("records", "T", "--format", "csv").data
        == "_id,d,e_f\r\n1,a,1\r\n2,b,\r\n")
    let file = try folder.file("short.json", #"{"fields":["d","e-f"],"data":[["c"]]}"#)
    let short = await folder.run("import", file, "--entity", "T")
    #expect(short.status == .negative)
    #expect(short.messages.contains("T: every record was rejected\n"))
    #expect(short.data.contains("the row has 1 values, the fields are 2"))
    try await folder.load(#"{"d":"c"}"#, "--entity", "T")
    try await folder.load("\n[{\"d\":\"d\"}]\n\n", "--entity", "T")
    let lines = (0..<2500).map { #"{"d":"l\#($0)"}"# }.joined(separator: "\n")
    let outcome = try await folder.load(lines, "--entity", "T")
    #expect(outcome.data.contains(#""pages":3,"records":2500,"inserted":2500"#))
    #expect(await folder.isSound())
  }

  @Test func `import keeps every type of attribute through JSON`() async throws {
    let folder = try StoreFolder()
    let types = [
      ("bool", "true"), ("int8", "-128"), ("int16", "32767"), ("int32", "-5"),
      ("int64", "-9223372036854775808"), ("uint8", "255"), ("uint16", "1"),
      ("uint32", "4294967295"),
      ("uint64", "18446744073709551615"), ("float", "0.5"), ("double", "\"NaN\""),
      ("date", "\"2024-02-29T12:00:00.123Z\""),
      ("uuid", "\"00112233-4455-6677-8899-AABBCCDDEEFF\""), ("decimal", "-12345678901234567890.25"),
      ("string", "\"\\u0000\\u009b\""), ("url", "\"https://example.org/?q=1\""),
      ("data", "\"AP8=\""),
      ("json", "{\"a\":[null,1,2.5]}"), ("document", "[\"x\"]"), ("id", "9223372036854775807"),
    ]
    let attributes = types.enumerated().map {
      #"{"name":"a\#($0)","type":"\#($1.0)","optional":true}"#
    }
    let file = try folder.file(
      "schema.json",
      #"{"entity":"E","attributes":[\#(attributes.joined(separator: ","))],"indexes":[]}"#)
    let members = types.enumerated().map { "\"a\($0)\":\($1.1)" }.joined(separator: ",")
    try await folder.load("{\(members)}", "--entity", "E", "--schema", file, "--insert-only")
    #expect(await folder.run("records", "E").data == "{\"_id\":1,\(members)}\n")
    #expect(await folder.isSound())
  }
}

@Suite("Import arguments")
struct ImportArgumentTests {
  @Test(arguments: [
    (["--entity", "E"], ": has no entity \"E\"; --infer creates one"),
    (["--entity", "E", "--infer"], "E: has no unique index to match records by; --unique a,b"),
    (
      ["--entity", "E", "--infer", "--unique", "kk"],
      "E: no record has \"kk\"; the attributes are k, j"
    ),
    (
      ["--entity", "E", "--infer", "--unique", "j"],
      "\"j\": is json and cannot be indexed; its values have no common type, or are all null; "
        + "--type 'j=string', or another type, gives it a common type"
    ),
    (
      ["--entity", "E", "--infer", "--unique", "k", "--index", "j"],
      "\"j\": is json and cannot be indexed; use --index 'j[]'"
    ),
    (["--entity", "E-", "--infer", "--unique", "k"], "'E-'"),
    (
      ["--entity", "E", "--infer", "--unique", "k", "--insert-only"], "--insert-only: not together"
    ),
  ])
  func `wrong import arguments are refused before a file is made`(
    arguments: [String], message: String
  ) async throws {
    let folder = try StoreFolder()
    let file = try folder.file("p.json", #"[{"k":1,"j":[]}]"#)
    let memory = MemoryConsole()
    let status = await KVDump.execute(
      ["import", folder.store, file] + arguments, on: memory.console)
    #expect(status == .usage)
    #expect(memory.messages.text.contains(message), "\(memory.messages.text)")
    #expect(!FileFacts.exists(folder.store))
  }

  @Test func `an import without records proposes the path of the records`() async throws {
    let folder = try StoreFolder()
    let file = try folder.file("p.json", #"{"n":1,"result":[{"k":1}]}"#)
    let path = await folder.run(
      "import", file, "--records", "results", "--entity", "E", "--infer", "--unique", "k")
    #expect(path.status == .damagedData)
    #expect(path.messages.contains("has no array at 'results'; did you mean --records result?"))
    let none = await folder.run("import", file, "--entity", "E", "--infer", "--unique", "k")
    #expect(none.status == .usage)
    #expect(none.messages.contains("are the records at --records result?"))
  }

  @Test func `an import names the missing input file`() async throws {
    let folder = try StoreFolder()
    let outcome = await folder.run("import", folder.path + "/no.json", "--entity", "E", "--infer")
    #expect(outcome.status == .noInput)
    #expect(outcome.messages.contains("/no.json: No such file"))
  }
}
