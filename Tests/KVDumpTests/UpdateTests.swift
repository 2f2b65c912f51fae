import EntityStore
import Testing

@testable import KVDumpCommands

@Suite("Update")
struct UpdateTests {
  @Test(arguments: [
    (["stars > 20", "stars=5"], "5 5 20 null 20", 2),
    (["stars > 20", "stars:=stars + 1"], "31 32 20 null 20", 2),
    (["--all", "stars:=TERNARY(stars == NULL, 0, stars * 2)"], "60 62 40 0 40", 5),
    (["stars == 20", "stars=null"], "30 31 null null null", 2),
    (["stars == 20", "stars:=NULL"], "30 31 null null null", 2),
    (["stars == 20", "stars=20"], "30 31 20 null 20", 0),
    (["name == %@", "stars=-1", "--arg", "Mantle"], "30 31 -1 null 20", 1),
    (["stars > 0", "stars=1", "--sort", "-stars,name", "--limit", "3"], "1 1 20 null 1", 3),
    (["stars == 7", "stars=1"], "30 31 20 null 20", 0),
  ])
  func `update gives the results of a query new values`(
    arguments: [String], stars: String, count: Int
  ) async throws {
    let folder = try await QueriedStore.make()
    let before = try folder.bytes(folder.store)
    let dry = await folder.execute("update", ["Pod"] + arguments + ["--dry-run"])
    #expect(dry.status == .success, "\(dry.messages)")
    #expect(dry.data.contains(#""updated":0,"records":5}"#))
    #expect(try folder.bytes(folder.store) == before)
    let outcome = await folder.execute("update", ["Pod"] + arguments + ["-y"])
    #expect(outcome.status == .success, "\(outcome.messages)")
    #expect(outcome.data.hasSuffix(#","updated":\#(count),"records":5}"# + "\n"))
    #expect(await values("stars", in: folder) == stars)
    #expect(await folder.isSound())
  }

  @Test func `a dry run makes the refusals of the update, and writes nothing`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"k":1,"n":1},{"k":2,"n":2}]"#, "--entity", "E", "--unique", "k", "--infer")
    let before = try folder.bytes(folder.store)
    for last in ["--dry-run", "--yes"] {
      let outcome = await folder.run("update", "E", "--all", "k=3", last)
      #expect(outcome.status == .damagedData, "\(last): \(outcome.data)")
      #expect(outcome.messages.contains("the same 'E.k'"), "\(outcome.messages)")
      let sum = await folder.run("update", "E", "--all", "n:=n + 9223372036854775807", last)
      #expect(sum.status != .success, "\(last): \(sum.data)")
    }
    let fine = await folder.run("update", "E", "--all", "n:=n + 1", "--dry-run")
    #expect(fine.status == .success, "\(fine.messages)")
    #expect(fine.data == #"{"entity":"E","found":2,"updated":0,"records":2}"# + "\n")
    #expect(try folder.bytes(folder.store) == before)
    #expect(await folder.run("export", "E").data == "{\"k\":1,\"n\":1}\n{\"k\":2,\"n\":2}\n")
    #expect(await folder.isSound())
  }

  @Test func `update moves dates, and takes their parts and differences`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"k":1,"at":"2024-01-31T23:30:00Z"},{"k":2,"at":"2025-03-01T00:00:00Z"}]"#, "--entity",
      "E",
      "--unique", "k", "--infer", "--type", "at=date")
    for (assignment, data) in [
      ("at:=at + 3600", "2024-02-01T00:30:00Z 2025-03-01T01:00:00Z"),
      ("at:=startOfMonth:(at)", "2024-02-01T00:00:00Z 2025-03-01T00:00:00Z"),
      ("at:=at - 86400 * day:(at)", "2024-01-31T00:00:00Z 2025-02-28T00:00:00Z"),
    ] {
      let outcome = await folder.run("update", "E", "--all", assignment, "--yes")
      #expect(outcome.status == .success, "\(outcome.messages)")
      #expect(await csv("at", in: folder) == data)
    }
    let parts = await folder.run("update", "E", "--all", "k:=year:(at) * 100 + month:(at)", "--yes")
    #expect(parts.status == .success, "\(parts.messages)")
    let counted = await folder.run(
      "count", "E", "--by", "k,startOfYear:(at, '+01:00')", "--format", "jsonl")
    #expect(
      counted.data.contains(#""k":202401,"#) && counted.data.contains("2023-12-31T23:00:00Z"),
      "\(counted.data)")
    let seconds = await folder.run(
      "update", "E", "--all", "k:=CAST(at - startOfYear:(at), 'integer')", "--yes")
    #expect(seconds.status == .success, "\(seconds.messages)")
    #expect(await csv("k", in: folder) == "2592000 5011200")
    #expect(await folder.isSound())
  }

  private func csv(_ path: String, in folder: StoreFolder) async -> String {
    let found = await folder.run("query", "E", "--fields", path, "--format", "csv")
    return found.data.split(whereSeparator: \.isNewline).dropFirst().joined(separator: " ")
  }

  private func values(_ path: String, in folder: StoreFolder) async -> String {
    let outcome = await folder.run(
      "query", "Pod", "--fields", path, "--format", "csv", "--null-value", "null")
    return outcome.data.split(whereSeparator: \.isNewline).dropFirst().joined(separator: " ")
  }

  @Test func `update sets several attributes at once, each from the values before`() async throws {
    let folder = try await QueriedStore.make()
    let outcome = await folder.run(
      "update", "Pod", "name == 'Mantle'", "version:=name", "name:=uppercase(version)",
      "tags=[1,{\"a\":null}]", "license=a=b", "--yes")
    #expect(outcome.data == #"{"entity":"Pod","found":1,"updated":1,"records":5}"# + "\n")
    #expect(
      await folder.run("get", "Pod", "_id=3").data
        == #"{"_id":3,"name":"1.0","version":"Mantle","stars":20,"license":"a=b","#
        + #""tags":[1,{"a":null}]}"# + "\n")
    #expect(await folder.isSound())
  }

  /// Cases of a type, a typed value, and the value that `records` shows afterwards.
  private static let constants = [
    ("bool", "true", "true"), ("int8", "-128", "-128"), ("int64", "9223372036854775807", "same"),
    ("uint64", "18446744073709551615", "same"), ("float", "0.1", "0.10000000149011612"),
    ("double", "NaN", "\"NaN\""), ("double", "-Infinity", "\"-Infinity\""),
    ("double", "1e3", "1000.0"), ("date", "2024-02-29 12:00:00.5", "\"2024-02-29T12:00:00.500Z\""),
    ("uuid", "00112233-4455-6677-8899-aabbccddeeff", "\"00112233-4455-6677-8899-AABBCCDDEEFF\""),
    ("decimal", "-12345678901234567890.25", "same"), ("string", "null", "\"null\""),
    ("string", "", "\"\""), ("string", "\u{1b}[2J", "\"\\u001b[2J\""),
    ("url", "https://example.org/?a=b", "\"https://example.org/?a=b\""),
    ("data", "AP8=", "\"AP8=\""),
    ("json", "[1,2.5,\"x\"]", "same"), ("json", "plain", "\"plain\""), ("int64", "null", "null"),
    ("date", "null", "null"), ("json", "null", "null"),
  ]

  @Test func `update reads constants of every type`() async throws {
    let folder = try StoreFolder()
    let attributes = Self.constants.enumerated().map {
      #"{"name":"a\#($0)","type":"\#($1.0)","optional":true}"#
    }
    let schema = try folder.file(
      "schema.json", #"{"entity":"E","attributes":[\#(attributes.joined(separator: ","))]}"#)
    try await folder.load("{}", "--entity", "E", "--schema", schema, "--insert-only")
    let assignments = Self.constants.enumerated().map { "a\($0)=\($1.1)" }
    let outcome = await folder.execute("update", ["E", "--all", "--yes"] + assignments)
    #expect(outcome.status == .success, "\(outcome.messages)")
    let members = Self.constants.enumerated().map {
      "\"a\($0)\":\($1.2 == "same" ? $1.1 : $1.2)"
    }
    #expect(
      await folder.run("records", "E").data == "{\"_id\":1,\(members.joined(separator: ","))}\n")
    #expect(await folder.isSound())
  }

  @Test(arguments: [
    ("bool", "yes", "true or false"), ("int8", "128", "an integer that fits int8"),
    ("uint16", "-1", "an integer that fits uint16"), ("int64", "1.5", "an integer that fits int64"),
    ("double", "1e999", "a number that fits double"), ("float", "1e39", "a number that fits float"),
    ("date", "2024-02-30", "a date as ISO 8601 text"), ("uuid", "1234", "a UUID as text"),
    ("decimal", "1.2.3", "a decimal number of at most 38 digits"), ("data", "%", "Base64 text"),
    ("double", "\u{1b}[2J", "a number that fits double"),
  ])
  func `update names type and value of a misfit`(
    type: String, text: String, expectation: String
  ) async throws {
    let folder = try StoreFolder()
    let schema = try folder.file(
      "schema.json",
      #"{"entity":"E","attributes":[{"name":"a","type":"\#(type)","optional":true}]}"#)
    try await folder.load("{}", "--entity", "E", "--schema", schema, "--insert-only")
    for option in ["--yes", "--dry-run"] {
      await folder.expectFailure(
        "update", ["E", "--all", "a=\(text)", option], .usage,
        "kvdump: \"\(DisplayText.escaped(text))\": 'a' takes \(expectation); write the value so\n")
    }
  }

  @Test func `update shows the beginning of a long value that does not fit`() async throws {
    let folder = try await QueriedStore.make()
    let digits = String(repeating: "9", count: 100_000)
    await folder.expectFailure(
      "update", ["Pod", "--all", "stars=\(digits)", "--yes"], .usage,
      """
      kvdump: "\(digits.prefix(60))…": 'stars' takes an integer that fits int64; write the value so

      """)
  }

  @Test func `update asks as delete does`() async throws {
    let folder = try await QueriedStore.make()
    let yes = await folder.execute("update", ["Pod", "stars == 20", "stars=21"]) { "y" }
    #expect(yes.status == .success)
    #expect(yes.messages == "Update 2 of 5 records of Pod? [y/N] ")
    let no = await folder.execute("update", ["Pod", "stars == 21", "stars=22"]) { "n" }
    #expect(no.status == .negative)
    #expect(no.messages == "Update 2 of 5 records of Pod? [y/N] nothing was updated\n")
    #expect(await values("stars", in: folder) == "30 31 21 null 21")
    await folder.expectFailure(
      "update", ["Pod", "--all", "stars=1"], .usage,
      """
      kvdump: no terminal for a question; --yes continues without asking, --dry-run counts the \
      records that would be updated

      """)
  }

  @Test(arguments: [
    ([], "a condition is missing; use --all for all records"),
    (
      ["a == 1"],
      "no assignment; write attribute=value or attribute:=expression after the condition"
    ),
    (
      ["--all"],
      "no assignment; write attribute=value or attribute:=expression after the condition"
    ),
    (["a == 1", "b"], "'b' is not an assignment; write attribute=value or attribute:=expression"),
    (
      ["a == 1", "=1"], "'=1' is not an assignment; write attribute=value or attribute:=expression"
    ),
    (["a == 1", "b=1", "c=1", "b:=2"], "'b' is set twice; choose one of them"),
  ])
  func `update refuses malformed assignments`(arguments: [String], message: String) async throws {
    let folder = try StoreFolder()
    await folder.expectFailure(
      "update", ["E", "--yes"] + arguments, .usage,
      "kvdump: \(message); see 'kvdump update --help'\n")
  }

  @Test func `update reports a wrong assignment before it asks`() async throws {
    let folder = try await QueriedStore.make()
    for option in ["--yes", "--dry-run"] {
      await folder.expectFailure(
        "update", ["Pod", "--all", "starz=1", option], .usage,
        """
        kvdump: STORE: Pod has no attribute "starz"; did you mean "stars"? \
        see 'kvdump schema STORE Pod'

        """)
      await folder.expectFailure(
        "update", ["Pod", "--all", "stars:=stars + ", option], .usage,
        """
        kvdump: cannot parse the expression for 'stars': line 1, column 9: found the end, expected \
        a value or a key path
          stars + 
                  ^

        """)
      await folder.expectFailure(
        "update", ["Pod", "--all", "stars:=starz + 1", option], .usage,
        """
        kvdump: STORE: cannot use the query: 'starz' is no attribute of Pod; did you mean 'stars'?

        """)
      await folder.expectFailure(
        "update", ["Pod", "--all", "_id=7", option], .usage,
        "kvdump: \"_id\": is the record's id, which the store gives; set another attribute\n")
      await folder.expectFailure(
        "update", ["Pod", "stars >", "stars=1", option], .usage,
        """
        kvdump: STORE: cannot parse the condition: line 1, column 8: found the end, expected a \
        value or a key path
          stars >
                 ^

        """)
    }
    await folder.expectFailure(
      "update", ["Pod", "--all", "stars:=)", "--yes", "--format", "json"], .usage,
      #"{"error":{"code":"bad-expression","message":"cannot parse the expression for 'stars': "#
        + #"line 1, column 1: found ')', expected a value or a key path","attribute":"stars","#
        + #""line":1,"column":1,"status":64}}"# + "\n")
  }

  @Test func `update refuses text that begins like JSON and is not JSON`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"id": 1, "j": {"a": 1}}, {"id": 2, "j": [1]}]"#, "--entity", "E", "--unique", "id",
      "--infer")
    for text in [#"{"a":1"#, "[1,", #""x"#, "[1] 2"] {
      let outcome = await folder.run("update", "E", "id == 1", "j=\(text)", "--yes")
      #expect(outcome.status == .usage && outcome.messages.contains("JSON"), "\(outcome)")
    }
    let stored = await folder.run("get", "E", "1", "--format", "jsonl")
    #expect(stored.data.contains(#""j":{"a":1}"#), "\(stored.data)")
    for (text, json) in [("plain", #""plain""#), (#"{"a":[2]}"#, #"{"a":[2]}"#)] {
      let outcome = await folder.run("update", "E", "id == 1", "j=\(text)", "--yes")
      #expect(outcome.status == .success, "\(outcome)")
      let stored = await folder.run("get", "E", "1", "--format", "jsonl")
      #expect(stored.data.contains("\"j\":\(json)"), "\(stored.data)")
    }
  }

  @Test func `update changes nothing if a record takes another's value of a unique index`()
    async throws
  {
    let folder = try await QueriedStore.make()
    let records = await folder.run("records", "Pod").data
    await folder.expectFailure(
      "update", ["Pod", "_id == 2", "version=2.0.0", "stars=99", "--yes"], .damagedData,
      """
      kvdump: STORE: cannot update Pod 2: unique index 'Pod.name+version' already leads to Pod 1; \
      nothing was updated

      """)
    let json = await folder.run(
      "update", "Pod", "_id == 2", "version=2.0.0", "--yes", "--format", "json")
    #expect(json.messages.contains(#""entity":"Pod","index":"Pod.name+version","_id":1,"#))
    let both = await folder.run("update", "Pod", "--all", "version=1", "stars=1", "--yes")
    #expect(both.status == .damagedData)
    #expect(both.messages.hasSuffix("have the same 'Pod.name+version'; nothing was updated\n"))
    #expect(await folder.run("records", "Pod").data == records)
    #expect(await folder.isSound())
  }

  @Test func `update changes nothing if a result does not fit`() async throws {
    let folder = try StoreFolder()
    let rows = (1...300).map { "{\"k\":\($0),\"v\":1}" }.joined(separator: ",")
    let schema = try folder.file(
      "schema.json",
      #"{"entity":"E","attributes":[{"name":"k","type":"int64"},{"name":"v","type":"uint8"}]}"#)
    try await folder.load("[\(rows)]", "--entity", "E", "--schema", schema, "--unique", "k")
    await folder.expectFailure(
      "update", ["E", "--all", "v:=k", "--yes"], .damagedData,
      """
      kvdump: STORE: cannot update E 256: the new value of 'v' does not fit uint8; exclude such \
      records by a condition; nothing was updated

      """)
    #expect(
      await folder.run("count", "E", "v == 1").data == "{\"count\":300}\n")
    await folder.expectFailure(
      "update", ["E", "k == 1", "v=null", "--yes"], .usage,
      "kvdump: \"null\": 'v' is required and is never null; give an integer that fits uint8\n")
    #expect(await folder.isSound())
  }
}
