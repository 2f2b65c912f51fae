import EntityStore
import Testing

@testable import KVDumpCommands

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Query")
struct QueryTests {
  @Test(arguments: [
    (#"name == "AFNetworking""#, "1 2"), ("stars >= 30", "1 2"), ("stars == 20", "3 5"),
    ("stars == NULL", "4"), ("NOT (stars > 20)", "3 4 5"), (#"license == "MIT""#, "1 5"),
    (#"license.type == "MIT""#, "2"), (#"license.type IN {"MIT", "BSD"}"#, "2 3"),
    (#"license == "MIT" OR license.type == "MIT""#, "1 2 5"),
    (#"name BEGINSWITH[cd] "eco""#, "4 5"),
    (#"name == "ecole""#, ""), ("tags.@count == 2", "1 4"), (#"ANY tags == "net""#, "1 2 5"),
    (#"tags[0] == "net""#, "1 2"), (#"tags == "net""#, "5"), ("_id BETWEEN {2, 3}", "2 3"),
    ("TRUEPREDICATE", "1 2 3 4 5"), ("FALSEPREDICATE", ""),
  ])
  func `query finds the records that fulfil a condition`(
    condition: String, ids: String
  ) async throws {
    let folder = try await QueriedStore.make()
    #expect(await folder.ids(condition) == ids)
    let count = ids.split(separator: " ").count
    #expect(
      await folder.run("count", "Pod", condition, "--format", "json").data
        == "{\"count\":\(count)}\n")
    #expect(
      await folder.run("query", "Pod", condition, "--exists").status
        == (count > 0 ? .success : .negative))
    #expect(await folder.isSound())
  }

  @Test func `query finds all records without a condition`() async throws {
    let folder = try await QueriedStore.make()
    #expect(await folder.ids() == "1 2 3 4 5")
    #expect(await folder.run("query", "Pod").data == folder.run("records", "Pod").data)
  }

  @Test(arguments: [
    ("stars", "4 3 5 1 2"), ("-stars", "2 1 5 3 4"), ("-stars,name", "2 1 5 3 4"),
    ("stars,-version", "4 3 5 1 2"), ("-_id", "5 4 3 2 1"), ("name[cd]", "1 2 4 5 3"),
    ("-name[cd],version", "3 5 4 1 2"), ("name", "1 2 5 3 4"), ("license.type", "1 4 5 3 2"),
    ("-license.type,-_id", "2 3 5 4 1"), ("tags.@count,name", "3 2 5 1 4"),
    (" -version , name[c] ", "2 1 3 4 5"), ("SELF", "1 2 3 4 5"),
  ])
  func `query sorts by attributes and by their members`(sort: String, ids: String) async throws {
    let folder = try await QueriedStore.make()
    #expect(await folder.ids("--sort", sort) == ids)
    #expect(
      await folder.ids(["--limit", "2", "--offset", "1", "--sort=\(sort)"])
        == ids.split(separator: " ").dropFirst().prefix(2).joined(separator: " "))
  }

  @Test func `query takes keys of an order one by one or together`() async throws {
    let folder = try await QueriedStore.make()
    #expect(await folder.ids("--sort", "-stars", "--sort", "-name") == "2 1 3 5 4")
    #expect(await folder.ids("--sort", "-stars,-name") == "2 1 3 5 4")
  }

  @Test func `query puts arguments at the marks of the format string`() async throws {
    let folder = try await QueriedStore.make()
    #expect(await folder.ids("name == %@", "--arg", "AFNetworking") == "1 2")
    #expect(await folder.ids("name == %@", "--arg", "-x\" OR TRUEPREDICATE") == "")
    #expect(
      await folder.ids(
        "%K == %@ AND version == %@", "--arg", "license.type", "--arg", "MIT", "--arg=2.1.0")
        == "2")
    await folder.expectFailure(
      "query", ["Pod", "name == %@"], .usage,
      """
      kvdump: STORE: cannot parse the condition: line 1, column 9: found '%@', expected argument 1 \
      for it (0 are given)
        name == %@
                ^

      """)
    let many = await folder.run("query", "Pod", "stars > 1", "--arg", "x")
    #expect(many.status == .usage)
    #expect(many.messages.contains("argument 1 (1 is given)"))
  }

  @Test func `query writes every format`() async throws {
    let folder = try await QueriedStore.make()
    func text(_ format: String) async -> String {
      await folder.run(
        "query", "Pod", "stars == 20", "--fields", "name,stars,license.type", "--sort", "name",
        "--format", format, "--color", "never"
      ).data
    }
    #expect(
      await text("table") == """
        name    stars  license.type
        Ecole      20
        Mantle     20  BSD

        """)
    #expect(
      await text("line") == """
        name          Ecole
        stars         20

        name          Mantle
        stars         20
        license.type  BSD

        """)
    #expect(
      await text("json") == """
        [
        {"name":"Ecole","stars":20},
        {"name":"Mantle","stars":20,"license.type":"BSD"}
        ]

        """)
    #expect(
      await text("jsonl") == """
        {"name":"Ecole","stars":20}
        {"name":"Mantle","stars":20,"license.type":"BSD"}

        """)
    #expect(
      await text("csv") == "name,stars,license.type\r\nEcole,20,\r\nMantle,20,BSD\r\n")
    #expect(
      await text("markdown") == """
        | name | stars | license.type |
        | --- | ---: | --- |
        | Ecole | 20 |  |
        | Mantle | 20 | BSD |

        """)
  }

  @Test func `count writes in every format`() async throws {
    let folder = try await QueriedStore.make()
    func text(_ arguments: String..., width: Int? = nil) async -> String {
      let arguments = ["Pod", "stars > 0", "--color", "never"] + arguments
      return await folder.execute("count", arguments, width: width).data
    }
    #expect(await text("--format", "json") == "{\"count\":4}\n")
    #expect(await text() == "{\"count\":4}\n")
    #expect(await text(width: 80) == "count  4\n")
    #expect(await text("--format", "csv") == "count\r\n4\r\n")
  }

  @Test func `query reports the omitted rows, and shows people twenty`() async throws {
    let folder = try await QueriedStore.make()
    let first = await folder.run("query", "Pod", "--limit", "2", "--sort", "-_id")
    #expect(first.messages == "the first 2 records; --limit 0 for all\n")
    let all = await folder.run("query", "Pod", "stars == 20", "--limit", "2")
    #expect(all.messages == "")
    #expect(await folder.run("query", "Pod", "--limit", "\(Int.max)").messages == "")
    let rows = (1...30).map { "{\"k\":\($0)}" }.joined(separator: ",")
    try await folder.load("[\(rows)]", "--entity", "E", "--unique", "k", "--infer")
    let screen = await folder.run("query", "E", "k > 5", "--fields", "k", width: 80)
    #expect(screen.data.split(separator: "\n").count == 21)
    #expect(screen.messages == "the first 20 records; --limit 0 for all\n")
    let count = await folder.run("count", "E", "--color", "never", width: 80)
    #expect(count.data == "count  30\n")
    #expect(await folder.isSound())
  }

  @Test func `query without results ends with 0, or with 1 if asked whether a record exists`()
    async throws
  {
    let folder = try await QueriedStore.make()
    let none = await folder.run("query", "Pod", #"name == "x""#)
    #expect(none.status == .success)
    #expect(none.data == "")
    #expect(none.messages == "Pod: no record found\n")
    let exists = await folder.run("query", "Pod", #"name == "x""#, "--exists")
    #expect(exists.status == .negative)
    #expect(exists.data == "" && exists.messages == "")
    let beyond = await folder.run("query", "Pod", "--offset", "4", "--exists")
    #expect(beyond.status == .success)
    #expect(await folder.run("query", "Pod", "--offset", "5", "--exists").status == .negative)
    #expect(
      await folder.run("query", "Pod", "--offset", "5").messages
        == "no records after the first 5\n")
  }

  @Test func `query refuses to read all records if an index is required`() async throws {
    let folder = try await QueriedStore.make()
    #expect(await folder.ids("stars > 20", "--require-index") == "1 2")
    await folder.expectFailure(
      "query", ["Pod", #"license == "MIT""#, "--require-index"], .usage,
      """
      kvdump: STORE: cannot run the query on Pod without reading all records, and an index is \
      required: no index serves 'license == "MIT"'; it has Pod.name+version, Pod.stars

      """)
  }

  @Test func `query changes no byte of the file`() async throws {
    let folder = try await QueriedStore.make()
    let before = try folder.bytes(folder.store)
    _ = await folder.ids("stars > 20")
    await folder.run("query", "Pod", "--sort", "license.type", "--limit", "1", "--page")
    await folder.run("count", "Pod", "--by", "license")
    await folder.run("explain", "Pod", "stars > 20", "--analyze")
    #expect(try folder.bytes(folder.store) == before)
  }

  @Test func `query finds the pods that a program finds by reading them one by one`() async throws {
    let repository = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let data =
      ProcessInfo.processInfo.environment["LODESTORE_DATA"] ?? "/\(repository)/../shared/data"
    let file = data + "/cocoapods/specs-trunk.jsonl"
    guard FileFacts.exists(file) else {
      print("skipped: no \(file); LODESTORE_DATA names the folder with the real data")
      return
    }
    let folder = try StoreFolder()
    let imported = await folder.run(
      "import", file, "--records", "result", "--entity", "Pod", "--unique", "name,version",
      "--infer")
    try #require(imported.status == .success)
    var pods: [JSONValue] = []
    let pages = PageReader([try InputFile(file)], records: "result")
    while let page = try pages.next() { pods += page.records.map(\.node.jsonValue) }

    func count(_ condition: String, where isMatch: (JSONValue) -> Bool) async {
      let count = pods.count(where: isMatch)
      #expect(count > 0 && count < pods.count)
      #expect(
        await folder.run("count", "Pod", condition).data == "{\"count\":\(count)}\n")
    }
    await count(#"license == "MIT""#) { $0["license"]?.stringValue == "MIT" }
    await count(#"license.type == "MIT""#) { $0["license"]?["type"]?.stringValue == "MIT" }
    await count(#"name BEGINSWITH "AF""#) { $0["name"]?.stringValue?.hasPrefix("AF") == true }
    await count("source.tag == NULL") { $0["source"]?["tag"]?.isNull ?? true }
    await count("authors.@count == 2") {
      $0["authors"]?.objectValue?.count == 2 || $0["authors"]?.arrayValue?.count == 2
    }

    var byType: [String: Int] = [:]
    for pod in pods { byType[pod["license"]?["type"]?.stringValue ?? "", default: 0] += 1 }
    let counted = await folder.run("count", "Pod", "--by", "license.type").data
      .split(separator: "\n").map { try? JSONDocument.parsing($0.utf8).root }
    #expect(counted.count == byType.count)
    for row in counted {
      let type = row?["license.type"]?.string ?? ""
      #expect(row?["count"]?.int64 == byType[type].map(Int64.init), "\(type)")
    }
    let frequencies = counted.map { $0?["count"]?.int64 ?? 0 }
    #expect(frequencies == frequencies.sorted(by: >))
    #expect(await folder.isSound())
  }
}
