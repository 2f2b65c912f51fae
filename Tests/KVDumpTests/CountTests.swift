import Testing

@testable import KVDumpCommands

@Suite("Count")
struct CountTests {
  @Test func `the command count counts records in every format`() async throws {
    let folder = try await QueriedStore.make()
    #expect(await folder.run("count", "Pod").data == "{\"count\":5}\n")
    #expect(
      await folder.run("count", "Pod", "stars == 20", "--format", "json").data
        == "{\"count\":2}\n")
    #expect(await folder.run("count", "Pod", "stars == 7").data == "{\"count\":0}\n")
    #expect(await folder.run("count", "Pod", "stars == 7").status == .success)
    #expect(await folder.run("count", "Pod", "--format", "csv").data == "count\r\n5\r\n")
    #expect(
      await folder.run("count", "Pod", "name == %@", "--arg", "Mantle").data == "{\"count\":1}\n")
    #expect(
      await folder.run("count", "Pod", "--color", "never", width: 80).data == "count  5\n")
    #expect(await folder.isSound())
  }

  @Test(arguments: [
    (["--by", "name"], "AFNetworking,2 Ecole,1 Mantle,1 école,1"),
    (["--by", "stars"], "20,2 ,1 30,1 31,1"), (["--by", "license.type"], ",3 BSD,1 MIT,1"),
    (["stars == 20", "--by", "stars"], "20,2"), (["stars == 7", "--by", "stars"], ""),
    (["--by", "stars", "--limit", "2"], "20,2 ,1"),
    (["--by", "stars", "--offset", "2"], "30,1 31,1"),
    (["--by", "version,stars"], "0.9,20,1 1.0,,1 1.0,20,1 2.0.0,30,1 2.1.0,31,1"),
    (["--by", "tags.@count", "stars > 20"], "1,1 2,1"),
    (["--by", "tags[0]"], #",2 net,2 "{""a"":1}",1"#),
  ])
  func `count by a value lists the most frequent value first`(
    arguments: [String], rows: String
  ) async throws {
    let folder = try await QueriedStore.make()
    let outcome = await folder.execute("count", ["Pod", "--format", "csv"] + arguments)
    #expect(outcome.status == .success, "\(outcome.messages)")
    #expect(
      outcome.data.split(whereSeparator: \.isNewline).dropFirst().joined(separator: " ") == rows)
    #expect(await folder.isSound())
  }

  @Test func `count names the value by its attribute in JSON`() async throws {
    let folder = try await QueriedStore.make()
    #expect(
      await folder.run("count", "Pod", "--by", "license", "--format", "json").data
        == #"""
        [
        {"license":"MIT","count":2},
        {"license":null,"count":1},
        {"license":{"type":"MIT"},"count":1},
        {"license":{"file":"L","type":"BSD"},"count":1}
        ]

        """#)
    #expect(
      await folder.run("count", "Pod", "--by", "name,license.type", "--limit", "1").data
        == #"{"name":"AFNetworking","license.type":null,"count":1}"# + "\n")
    #expect(
      await folder.run("count", "Pod", "stars == 7", "--by", "name", "--format", "json").data
        == "[]\n")
    try await folder.load(
      #"[{"count":3,"k":1},{"count":3,"k":2}]"#, "--entity", "E", "--unique", "k", "--infer")
    #expect(
      await folder.run("count", "E", "--by", "count").data == "{\"count\":3,\"_count\":2}\n")
    #expect(await folder.isSound())
  }

  @Test func `count shows people a table and reports the omitted rows`() async throws {
    let folder = try await QueriedStore.make()
    let outcome = await folder.run(
      "count", "Pod", "--by", "license.type", "--limit", "2", "--color", "never", width: 80)
    #expect(
      outcome.data == """
        license.type  count
        null              3
        BSD               1

        """)
    #expect(outcome.messages == "2 of 3 values; --limit 0 for all\n")
    let several = await folder.run("count", "Pod", "--by", "name,version", "--limit", "1")
    #expect(several.messages == "1 of 5 combinations; --limit 0 for all\n")
    #expect(
      await folder.run("count", "Pod", "--by", "stars", "--format", "markdown").data == """
        | stars | count |
        | ---: | ---: |
        | 20 | 2 |
        | *null* | 1 |
        | 30 | 1 |
        | 31 | 1 |

        """)
  }

  @Test func `count proposes the nearest attribute, and refuses a wrong path`() async throws {
    let folder = try await QueriedStore.make()
    await folder.expectFailure(
      "count", ["Pod", "--by", "licence.type"], .usage,
      """
      kvdump: STORE: Pod has no attribute "licence"; did you mean "license"? \
      see 'kvdump schema STORE Pod'

      """)
    await folder.expectFailure(
      "count", ["Pod", "--by", "name.first"], .usage,
      """
      kvdump: "name.first": 'name' is stored as string and has nothing inside; name it alone

      """)
    await folder.expectFailure(
      "count", ["Pod", "--by", "license[c]"], .usage,
      """
      kvdump: "license[c]": is not a path; write an attribute and the names inside with dots between \
      them: license.type

      """)
    await folder.expectFailure(
      "count", ["Pod", "--limit", "3"], .usage,
      """
      kvdump: --limit and --offset: are for the rows of --by; see 'kvdump count --help'

      """)
    await folder.expectFailure(
      "count",
      [
        "Pod", "stars == 20", "--by", "stars", "--require-index", "--format", "jsonl",
        "--offset=-1",
      ], .usage,
      """
      {"error":{"code":"usage","message":"--offset: -1 is below 0; see 'kvdump count --help'",\
      "status":64}}

      """)
  }
}
