import EntityStore
import Testing

@testable import KVDumpCommands

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Query faults")
struct QueryFaultTests {
  @Test(arguments: ["query", "count", "explain"])
  func `query faults are reported with the line and a caret`(command: String) async throws {
    let folder = try await QueriedStore.make()
    await folder.expectFailure(
      command, ["Pod", "stars = > 3"], .usage,
      """
      kvdump: STORE: cannot parse the condition: line 1, column 9: found '>', expected a value or a \
      key path
        stars = > 3
                ^

      """)
    await folder.expectFailure(
      command, ["Pod", "stars > 3 AND\r\n\tnmae == 'x'\nAND TRUEPREDICATE"], .usage,
      """
      kvdump: STORE: cannot use the query: line 2, column 2: 'nmae' is no attribute of Pod; did \
      you mean 'name'?
        \\tnmae == 'x'
          ^

      """)
    await folder.expectFailure(
      command, ["Pod", "name == '東京' AND stars.x > 3"], .usage,
      """
      kvdump: STORE: cannot use the query: line 1, column 18: 'stars' is stored as int64 and has \
      nothing inside; name it alone
        name == '東京' AND stars.x > 3
                           ^

      """)
    await folder.expectFailure(
      command, ["Pod", "stars == 'many'"], .usage,
      """
      kvdump: STORE: cannot use the query: line 1, column 1: 'stars' is stored as int64 and is \
      compared by == with a string; compare it with a value of its type, or convert with CAST
        stars == 'many'
        ^

      """)
    await folder.expectFailure(
      command, ["Pod", ""], .usage,
      """
      kvdump: STORE: cannot parse the condition: line 1, column 1: found the end, expected a condition

      """)
  }

  @Test func `query faults show the relevant part of a long line`() async throws {
    let folder = try await QueriedStore.make()
    let beginning = String(repeating: "stars > 1 AND ", count: 10)
    let end = String(repeating: " AND stars > 1", count: 10)
    let outcome = await folder.run("query", "Pod", beginning + "nmae == 1" + end)
    let lines = outcome.messages.split(separator: "\n")
    try #require(lines.count == 3)
    #expect(lines[0].contains("line 1, column 141"))
    let caret = try #require(lines[2].firstIndex(of: "^"))
    let column = lines[2].distance(from: lines[2].startIndex, to: caret)
    #expect(lines[1].dropFirst(column).hasPrefix("nmae == 1 AND"))
    #expect(lines[1].hasPrefix("  …") && lines[1].hasSuffix("…") && lines[1].count < 120)
  }

  @Test func `query faults are one object with line and column in JSON`() async throws {
    let folder = try await QueriedStore.make()
    await folder.expectFailure(
      "query", ["Pod", "stars > 3 ADN name == 'x'", "--format", "json"], .usage,
      #"{"error":{"code":"invalid-query","message":"STORE: cannot parse the condition: line 1, "#
        + #"column 11: found 'ADN', expected AND, OR or the end; did you mean AND?","#
        + #""store":"STORE","line":1,"column":11,"didYouMean":"AND","status":64}}"# + "\n")
    await folder.expectFailure(
      "count", ["Pod", "nmae == 'x'", "--format", "jsonl"], .usage,
      #"{"error":{"code":"invalid-query","message":"STORE: cannot use the query: line 1, "#
        + #"column 1: 'nmae' is no attribute of Pod; did you mean 'name'?","#
        + #""store":"STORE","entity":"Pod","line":1,"column":1,"status":64}}"# + "\n")
  }

  @Test func `query faults print only the message if lines are silenced`() async throws {
    let folder = try await QueriedStore.make()
    let outcome = await folder.run("query", "Pod", "nmae == 1", "--quiet")
    #expect(outcome.status == .usage)
    #expect(outcome.messages.split(separator: "\n").count == 1)
  }

  @Test func `query faults contain no control characters`() async throws {
    let folder = try await QueriedStore.make()
    let outcome = await folder.run("query", "Pod", "name == '\u{1b}[2J' x \u{202e}")
    #expect(outcome.status == .usage)
    #expect(!outcome.messages.unicodeScalars.contains { $0 == "\u{1b}" || $0 == "\u{202e}" })
  }

  @Test func `faults of an order or a field propose the nearest attribute`() async throws {
    let folder = try await QueriedStore.make()
    for arguments in [["--sort", "-nmae,stars"], ["--sort=stars,nmae[c]"], ["--fields", "nmae"]] {
      await folder.expectFailure(
        "query", ["Pod"] + arguments, .usage,
        """
        kvdump: STORE: Pod has no attribute "nmae"; did you mean "name"? \
        see 'kvdump schema STORE Pod'

        """)
    }
    await folder.expectFailure(
      "query", ["Pod", "--sort", "stars.x"], .usage,
      "kvdump: \"stars.x\": 'stars' is stored as int64 and has nothing inside; name it alone\n")
    await folder.expectFailure(
      "query", ["Pods"], .usage,
      "kvdump: STORE: has no entity \"Pods\"; did you mean \"Pod\"? see 'kvdump schema STORE'\n")
  }

  @Test(arguments: [
    (["--page"], "--page: needs --limit, how many records a page has"),
    (["--page", "--limit", "0"], "--page: needs --limit, how many records a page has"),
    (["--page", "--limit", "1", "-q"], "--page: tells the token where --quiet is silent"),
    (["--after", "x", "--offset", "1"], "--after: goes on where a page ended; leave out --offset"),
    (["--exists", "--page", "--limit", "1"], "--exists and --page: choose one of them"),
    (["--exists", "--after", "x"], "--exists and --after: choose one of them"),
    (["--explain"], "unknown option '--explain'"),
    (["--arg", "x"], "--arg: the format string has no %@ for it"),
    (["--limit=-1"], "--limit: -1 is below 0; 0 is all"),
    (["--sort", "a,,b"], "the value 'a,,b' is invalid for '--sort <-a,b.c[cd]>'"),
  ])
  func `query faults of the command line are one line`(arguments: [String], message: String)
    async throws
  {
    let folder = try StoreFolder()
    await folder.expectFailure(
      "query", ["Pod"] + arguments, .usage, "kvdump: \(message); see 'kvdump query --help'\n")
  }

  @Test func `a query reports damaged data in every record that it reads`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"k":1,"text":"sound"},{"k":2,"text":"needle"}]"#, "--entity", "E", "--unique", "k",
      "--infer")
    var bytes = Array(try folder.bytes(folder.store))
    let needle = Array("needle".utf8)
    var count = 0
    for offset in 0..<(bytes.count - needle.count)
    where bytes[offset..<(offset + needle.count)].elementsEqual(needle) {
      bytes[offset] = UInt8(ascii: "N")
      count += 1
    }
    #expect(count > 0)
    try Data(bytes).write(to: URL(fileURLWithPath: folder.store))
    for arguments in [
      ["query", #"text == "Needle""#], ["query", #"text == "other""#], ["query"],
      ["query", "k == 2"], ["count", #"text == "other""#], ["count", "--by", "k", "text != NULL"],
      ["explain", #"text == "other""#, "--analyze"], ["query", "--sort", "text", "--limit", "1"],
      ["count", "--by", "text"], ["explain", "--sort", "text", "--analyze"],
    ] {
      let outcome = await folder.execute(arguments[0], ["E"] + arguments.dropFirst())
      #expect(outcome.status == .damagedData, "\(arguments)")
      #expect(outcome.messages.contains("E 2"), "\(outcome.messages)")
      #expect(outcome.messages.contains("checksum"), "\(outcome.messages)")
    }
    // Neither command reads the damaged record.
    #expect(
      await folder.run("query", "E", "k == 1", "--fields", "text").data
        == "{\"text\":\"sound\"}\n")
    #expect(await folder.run("count", "E").data == "{\"count\":2}\n")
  }

  @Test func `query faults of the store have their statuses`() async throws {
    let folder = try await QueriedStore.make()
    let store = try DynamicStore(path: folder.store, options: ReadStore.options)
    defer { store.close() }
    var error = try #require(throws: StoreError.self) {
      try store.read { snapshot in
        let request = try QueryRequest(format: "x == 1")
        _ = try snapshot.query(request, of: try #require(snapshot.entity(named: "Pod")))
      }
    }
    for (code, status) in [
      (StoreError.Code.invalidQuery, KVDumpCommands.ExitStatus.usage),
      (.conditionFailed, .damagedData), (.cancelled, .interrupted),
    ] {
      error.code = code
      #expect(CommandFailure.translated(error, store: folder.store).status == status)
    }
  }

  @Test(arguments: ["query", "count", "explain"])
  func `a query of a missing store or another program's file has its own status`(command: String)
    async throws
  {
    let folder = try StoreFolder()
    await folder.expectFailure(
      command, ["E", "a == 1"], .noInput, "kvdump: STORE: no store there; check the path\n")
    #expect(!FileFacts.exists(folder.store))
    _ = try folder.file("a.lodestore", "just some text")
    #expect(await folder.run(command, "E", "a == 1").status == .damagedData)
  }

  @Test(arguments: ["query", "count", "explain"])
  func `the help of query prevents faults with examples and the grammar's name`(command: String)
    async
  {
    let memory = MemoryConsole()
    #expect(await memory.run(command, "--help") == .success)
    let examples = memory.data.text.split(separator: "\n")
      .filter { $0.hasPrefix("  kvdump \(command) pods.lodestore Pod ") }
    #expect(examples.count >= 2)
    #expect(memory.data.text.contains("Apple's Predicate Programming Guide"))
  }
}
