import EntityStore
import LodestoreJSON
import LodestoreRows
import Testing

@testable import LodestoreInspector

@Suite("Model Context Protocol")
struct ModelContextTests {
  private func dialogue(_ books: Int = 25, answerSize: Int? = nil) async throws -> Dialogue {
    let library = try await Library.withBooks(books)
    return Dialogue(
      library: library, answerSize: answerSize ?? ModelContextServer.usualAnswerSize)
  }

  // MARK: Messages

  @Test(
    arguments: zip(
      ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2027-01-01", "x", ""],
      [
        "2024-11-05", "2024-11-05", "2025-06-18", "2025-11-25", "2025-11-25", "2025-11-25",
        "2025-11-25",
      ]))
  func `the handshake agrees on a version`(requested: String, agreed: String) async throws {
    let responses = try await dialogue().exchange(
      #"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"\#(requested)","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
      #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
      #"{"jsonrpc":"2.0","id":2,"method":"ping"}"#)
    try #require(responses.count == 2)
    #expect(responses[0]["id"]?.string == "a")
    #expect(responses[0]["result"]?["protocolVersion"]?.string == agreed)
    #expect(responses[0]["result"]?["capabilities"]?["tools"] != nil)
    #expect(responses[0]["result"]?["serverInfo"]?["name"]?.string == "kvdump")
    #expect(responses[1]["result"]?.jsonValue == .object([:]))
  }

  private static func meta(_ version: String) -> String {
    #""_meta":{"io.modelcontextprotocol/protocolVersion":"\#(version)","io.modelcontextprotocol/clientCapabilities":{}}"#
  }

  @Test func `a request that names its version needs no handshake`() async throws {
    let meta = Self.meta("2026-07-28")
    let responses = try await dialogue().exchange(
      #"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{\#(meta)}}"#,
      #"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{\#(meta)}}"#)
    try #require(responses.count == 2)
    let discovered = try #require(responses[0]["result"])
    #expect(discovered["resultType"]?.string == "complete")
    #expect(discovered["supportedVersions"]?[0]?.string == "2026-07-28")
    #expect(discovered["cacheScope"]?.string == "private")
    #expect(discovered["_meta"]?["io.modelcontextprotocol/serverInfo"]?["name"] != nil)
    let tools = try #require(responses[1]["result"]?["tools"]?.elements)
    #expect(tools.compactMap { $0["name"]?.string } == Tool.allCases.map(\.rawValue))
    for tool in tools {
      #expect(tool["annotations"]?["readOnlyHint"]?.bool == true)
      #expect(tool["inputSchema"]?["type"]?.string == "object")
      #expect(tool["outputSchema"]?["type"]?.string == "object")
    }
  }

  @Test func `errors of the protocol have codes and name the request`() async throws {
    let old = Self.meta("2025-11-25")
    let cases: [(line: String, code: Int64, id: JSONValue)] = [
      ("{", -32700, .null), ("[]", -32600, .null), ("7", -32600, .null),
      (#"{"id":1,"method":"ping"}"#, -32600, 1),
      (#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, .null),
      (#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, .null),
      (#"{"jsonrpc":"2.0","id":1}"#, -32600, 1),
      (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, -32602, 1),
      (#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#, -32601, 1),
      (#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#, -32602, 1),
      (#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{\#(old)}}"#, -32022, 1),
      (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"drop"}}"#, -32602, 1),
      (
        #"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"query","arguments":3}}"#,
        -32602, "x"
      ),
    ]
    let dialogue = try await dialogue()
    for (line, code, id) in cases {
      let responses = try await dialogue.exchange(line)
      try #require(responses.count == 1, "\(line)")
      #expect(responses[0]["error"]?["code"]?.int64 == code, "\(line)")
      #expect(responses[0]["error"]?["message"]?.string?.isEmpty == false, "\(line)")
      #expect(responses[0]["id"]?.jsonValue == id, "\(line)")
    }
  }

  @Test func `responses, notifications and empty lines have no answer`() async throws {
    let responses = try await dialogue().exchange(
      "", " \r", #"{"jsonrpc":"2.0","id":1,"result":{}}"#,
      #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#,
      #"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#)
    #expect(responses.isEmpty)
  }

  @Test func `a line above the limit is refused, and the next one is answered`() async throws {
    let line = Array(#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":""#.utf8)
    let long = line + Array(repeating: UInt8(ascii: "a"), count: 5 << 20) + Array("\"}}\n".utf8)
    let ping = Array(#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#.utf8)
    let responses = try await dialogue().exchange(long + ping)
    try #require(responses.count == 2)
    #expect(responses[0]["error"]?["code"]?.int64 == -32600)
    #expect(responses[1]["id"]?.int64 == 2)
  }

  @Test func `a cancelled call has no response, and its query ends`() async throws {
    let server = try await dialogue().server
    let connection = Connection(output: -1)
    func line(_ id: Int) -> [UInt8] {
      Array(
        #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":{"name":"query","arguments":{"entity":"Book"}}}"#
          .utf8)
    }
    guard case .call(let first) = server.receive(line(1), connection),
      case .call(let second) = server.receive(line(2), connection)
    else {
      Issue.record("the calls were refused")
      return
    }
    guard case .response(let refusal) = server.receive(line(2), connection) else {
      Issue.record("an id in use was taken again")
      return
    }
    #expect(String(decoding: refusal, as: UTF8.self).contains("in progress"))
    _ = server.receive(
      Array(
        #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#.utf8),
      connection)
    #expect(first() == nil)
    #expect(second() != nil)
    #expect(connection.begin(.number(1)) != nil)
    let library = try await Library.withBooks(5_000)
    let maker = PageMaker(store: DynamicStore(library.store), path: "")
    let words = #expect(throws: ToolError.self) {
      try ToolCall(
        .query, ["entity": "Book", "where": "title CONTAINS 'none'"], maker: maker,
        answerSize: 1_000, isCancelled: { true }
      ).answer()
    }
    #expect(words?.message.contains("not found within") == true)
  }

  // MARK: Tools

  @Test func `the tools return the pages of the inspector`() async throws {
    let dialogue = try await dialogue()
    let entities = try await dialogue.call("entities")
    #expect(entities["entities"]?[1]?["entity"]?.string == "Book")
    #expect(entities["entities"]?[1]?["records"]?.int64 == 25)
    #expect(entities["file"]?["path"]?.string == dialogue.library.store.path)
    #expect(entities["next"]?.isNull == true)
    let schema = try await dialogue.call("describe", #"{"entity":"Book"}"#)
    #expect(schema["attributes"]?[1]?["attribute"]?.string == "pages")
    #expect(schema["attributes"]?[1]?["indexes"]?.string == "pages")
    let found = try await dialogue.call(
      "query",
      #"{"entity":"Book","where":"pages > 8","sort":["-title"],"columns":["title"],"count":true,"facets":["details.shelf"]}"#
    )
    #expect(found["rows"]?.elements.map { $0["title"]?.string } == ["Book 9", "Book 19"])
    #expect(found["selected"]?["records"]?.int64 == 2)
    #expect(found["facets"]?[0]?["values"]?.count == 2)
    #expect(found["facets"]?[0]?["values"]?[0]?["address"] == nil)
    let plan = try await dialogue.call(
      "explain", #"{"entity":"Author","where":"name == 'Ursula'"}"#)
    #expect(plan["reads"]?["index"]?.string == "Author.name")
    #expect(plan["reads"]?["results"]?.int64 == 1)
  }

  @Test func `a sample is spread over the ids of the selected records`() async throws {
    let dialogue = try await dialogue(1_000)
    func ids(_ arguments: String) async throws -> [Int64] {
      try await dialogue.call("sample", arguments)["rows"]?.elements
        .compactMap { $0["_id"]?.int64 } ?? []
    }
    #expect(try await ids(#"{"entity":"Book"}"#) == [1, 200, 399, 598, 1_000])
    let selected = try await ids(#"{"entity":"Book","where":"pages == 3","count":4}"#)
    #expect(selected.count == 4 && selected.allSatisfy { $0 % 10 == 3 })
    #expect(selected.last == 993)
    #expect(try await ids(#"{"entity":"Book","where":"pages == 77"}"#).isEmpty)
    #expect(try await ids(#"{"entity":"Author","count":20}"#) == [1])
  }

  @Test(arguments: ["", #","sort":["pages"]"#, #","sort":["-details.shelf","title"]"#])
  func `the answers to a query have all records, within the size`(order: String) async throws {
    let dialogue = try await dialogue(600, answerSize: 4_000)
    var after = ""
    var titles: [String] = []
    var answers = 0
    repeat {
      let answer = try await dialogue.call(
        "query", #"{"entity":"Book","limit":400\#(order)\#(after)}"#)
      titles += answer["rows"]?.elements.compactMap { $0["title"]?.string } ?? []
      answers += 1
      guard let next = answer["next"]?.string else { break }
      after = #","after":"\#(next)""#
    } while answers < 100
    #expect(titles.count == 600)
    #expect(Set(titles).count == 600)
    #expect(answers > 10)
  }

  @Test func `a record above the size is refused with the place after it`() async throws {
    let library = try await Library.withBooks(1)
    let long = String(repeating: "long ", count: 4_000)
    try await library.store.write { tx in
      try tx.insert(Book(long, pages: 1))
      try tx.insert(Book("last", pages: 2))
    }
    let dialogue = Dialogue(library: library, answerSize: 2_000)
    let words = try await dialogue.refusal("query", #"{"entity":"Book","where":"_id >= 2"}"#)
    #expect(words.contains("'columns'"))
    let token = try #require(words.split(separator: "\"").dropLast().last)
    let rest = try await dialogue.call(
      "query", #"{"entity":"Book","where":"_id >= 2","after":"\#(token)"}"#)
    #expect(rest["rows"]?.elements.map { $0["title"]?.string } == ["last"])
    let numbers = try await dialogue.call("query", #"{"entity":"Book","columns":["pages"]}"#)
    #expect(numbers["rows"]?.count == 3)
  }

  @Test func `lists of names continue after the last one`() async throws {
    let dialogue = try await dialogue(2, answerSize: 150)
    var arguments = #"{"entity":"Book"}"#
    var names: [String] = []
    for _ in 0..<10 {
      let answer = try await dialogue.call("describe", arguments)
      names += answer["attributes"]?.elements.compactMap { $0["attribute"]?.string } ?? []
      guard let next = answer["next"]?.string else { break }
      arguments = #"{"entity":"Book","after":"\#(next)"}"#
    }
    #expect(names == ["title", "pages", "details", "author"])
  }

  @Test(
    arguments: zip(
      [
        #"{"entity":"Bok"}"#, "{}", #"{"entity":7}"#, #"{"entity":"Book","wher":"x"}"#,
        #"{"entity":"Book","limit":0}"#, #"{"entity":"Book","limit":"9"}"#,
        #"{"entity":"Book","limit":1e300}"#, #"{"entity":"Book","sort":[1]}"#,
        #"{"entity":"Book","sort":"nothing.@@"}"#, #"{"entity":"Book","columns":["nil"]}"#,
        #"{"entity":"Book","after":"x"}"#, #"{"entity":"Book","count":"yes"}"#,
      ],
      [
        "did you mean 'Book'", "needs the argument 'entity'", "must be a string",
        "did you mean 'where'", "from 1 to 1000", "from 1 to 1000", "from 1 to 1000",
        "a list of strings", "nothing.@@", "no attribute 'nil'", "token", "true or false",
      ]))
  func `wrong arguments are refused in words`(arguments: String, words: String) async throws {
    let text = try await dialogue().refusal("query", arguments)
    #expect(text.contains(words), "\(text)")
    #expect(text.hasSuffix("."), "\(text)")
  }

  @Test func `a fault in a condition is shown at its place`() async throws {
    let dialogue = try await dialogue()
    for tool in ["query", "explain", "sample"] {
      let text = try await dialogue.refusal(tool, #"{"entity":"Book","where":"pages = = 3"}"#)
      #expect(text.hasSuffix("\n  pages = = 3\n          ^"), "\(text)")
      let missing = try await dialogue.refusal(tool, #"{"entity":"Book","where":"page == 3"}"#)
      #expect(missing.hasSuffix("\n  page == 3\n  ^"), "\(missing)")
    }
  }

  // MARK: Hostile input

  private static let pieces = [
    "{", "}", "[", "]", ":", ",", "\"", "\\", "null", "1", "-0", "1e999", "\u{0}", "\u{FEFF}", "é",
    "\"jsonrpc\":\"2.0\"", "\"id\":1", "\"id\":\"a\"", "\"method\":\"tools/call\"",
    "\"method\":\"ping\"",
    "\"method\":\"initialize\"", "\"params\":{", "\"name\":\"query\"", "\"name\":\"sample\"",
    "\"arguments\":{", "\"entity\":\"Book\"", "\"where\":\"pages > 1\"", "\"where\":\"(((\"",
    "\"sort\":[\"-_id\"]", "\"after\":\"1-2\"", "\"count\":3", "\"_meta\":{", "\"limit\":5", "\r",
    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"",
  ]

  @Test(arguments: 1...6)
  func `any line is answered once or not at all`(seed: Int) async throws {
    let dialogue = try await dialogue()
    var random = SeededRandom(state: UInt64(seed))
    var bytes: [UInt8] = []
    for _ in 0..<400 {
      var line: [UInt8] = []
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        for _ in 0..<Int.random(in: 0..<40, using: &random) {
          line.append(UInt8.random(in: 0...255, using: &random))
        }
      case 1:
        for _ in 0..<Int.random(in: 1..<14, using: &random) {
          line += Array((Self.pieces.randomElement(using: &random) ?? "").utf8)
        }
      default:
        let members = (0..<Int.random(in: 1..<5, using: &random)).map { _ in
          #""\#(["entity", "where", "sort", "count", "limit", "after", "columns"].randomElement(using: &random) ?? "")\#(Int.random(in: 0..<9, using: &random) == 0 ? "x" : "")":\#(["1", "\"Book\"", "[\"pages\"]", "true", "null", "{}", "\"pages == 1\""].randomElement(using: &random) ?? "")"#
        }
        let tool = (Tool.allCases.randomElement(using: &random) ?? .query).rawValue
        line = Array(
          #"{"jsonrpc":"2.0","id":\#(Int.random(in: 0..<99, using: &random)),"method":"tools/call","params":{"name":"\#(tool)","arguments":{\#(members.joined(separator: ","))}}}"#
            .utf8)
      }
      bytes += line.filter { $0 != UInt8(ascii: "\n") } + [UInt8(ascii: "\n")]
    }
    let responses = try await dialogue.exchange(bytes)
    #expect(responses.count <= 400)
    for response in responses {
      #expect(response["jsonrpc"]?.string == "2.0")
      #expect((response["result"] == nil) != (response["error"] == nil))
    }
  }
}
