import EntityStore
import Foundation
import Testing

@testable import LodestoreWeb

@Suite struct `Remembered pages of a web source` {
  private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  /// Answers with one of three numbered pages.
  ///
  /// The entity tag has the page's number and the version of the content.
  private static func answer(_ request: LoopbackServer.Request, version: (Int) -> Int) -> Answer {
    let number = Int(request.value(of: "page") ?? "") ?? 0
    let tag = "\"\(number).\(version(number))\""
    if request.fields["if-none-match"] == tag { return Answer(304, ["ETag: \(tag)"]) }
    return .json(
      #"{"items":[\#(number <= 2 ? "\(number)" : "")]}"#, "ETag: \(tag)",
      "Last-Modified: \(Self.date)")
  }

  private func pages(_ server: LoopbackServer, inFlight: Int = 1) throws -> WebPages {
    WebPages(
      try server.url("/"), paging: .pageNumber(endsAt: .emptyPage(records: "items")),
      options: .with { $0.pagesInFlight = inFlight })
  }

  @Test func `a remembered page carries its tag, date and next page`() async throws {
    try await withServer {
      Self.answer($0) { _ in 1 }
    } _: { server in
      let found = try await pages(server).all()
      let names = try (1...3).map { try server.url("/?page=\($0)").absoluteString }
      #expect(
        found.map(\.memory) == [
          PageMemory(name: names[0], entityTag: "\"1.1\"", lastModified: Self.date, next: names[1]),
          PageMemory(name: names[1], entityTag: "\"2.1\"", lastModified: Self.date, next: names[2]),
          PageMemory(name: names[2], entityTag: "\"3.1\"", lastModified: Self.date, next: nil),
        ])
      #expect(server.log.allSatisfy { $0.fields["if-none-match"] == nil })
      #expect(server.log.allSatisfy { $0.fields["if-modified-since"] == nil })
    }
  }

  @Test(arguments: [1, 4])
  func `an unchanged page comes without content, and leads to the next page`(_ inFlight: Int)
    async throws
  {
    try await withServer {
      Self.answer($0) { _ in 1 }
    } _: { server in
      let pages = try pages(server, inFlight: inFlight)
      let first = try await pages.all()
      let again = try await pages.all(remembering: first.compactMap(\.memory))
      #expect(again.map(\.content) == [nil, nil, nil])
      #expect(again.map(\.next) == first.map(\.next) && again.map(\.memory) == first.map(\.memory))
      let requests = server.log.filter { $0.fields["if-none-match"] != nil }
      #expect(Set(requests.map(\.target)) == ["/?page=1", "/?page=2", "/?page=3"])
      // After the last page, no further page is requested ahead of time.
      #expect(requests.count == 3 && server.log.filter { $0.target == "/?page=4" }.count <= 1)
      #expect(requests.allSatisfy { $0.fields["if-modified-since"] == Self.date })
    }
  }

  @Test func `only changed pages come with content`() async throws {
    try await withServer { request in
      Self.answer(request) { $0 == 2 && request.number > 3 ? 2 : 1 }
    } _: { server in
      let pages = try pages(server)
      let first = try await pages.all()
      let again = try await pages.all(remembering: first.compactMap(\.memory))
      #expect(again.map { $0.content == nil } == [true, false, true])
      #expect(again[1].memory?.entityTag == "\"2.2\"")
    }
  }

  @Test func `an unchanged page with links leads to the next page without its content`()
    async throws
  {
    try await withServer { request in
      request.fields["if-none-match"] != nil
        ? Answer(304, [])
        : .json(request.target == "/" ? #"{"next":"/2"}"# : "{}", "ETag: W/\"x\"")
    } _: { server in
      let pages = WebPages(try server.url("/"), paging: .nextLink(at: "next"))
      let first = try await pages.all()
      let again = try await pages.all(remembering: first.compactMap(\.memory))
      #expect(again.map(\.content) == [nil, nil] && again.map(\.memory) == first.map(\.memory))
      #expect(server.targets == ["/", "/2", "/", "/2"])
    }
  }

  @Test func `tags that no header can hold make no conditional request`() async throws {
    try await withServer { _ in
      .json("[]")
    } _: { server in
      let name = try server.url("/").absoluteString
      let memories = [
        PageMemory(name: name), PageMemory(name: name, entityTag: "\"a\r\nEvil: 1\""),
        PageMemory(name: name, entityTag: "no quotes"), PageMemory(name: name, entityTag: "\""),
        PageMemory(name: name, lastModified: "Sun\r\nEvil, 06 Nov 1994 08:49:37 GMT"),
        PageMemory(name: name, entityTag: "\"a\"", next: "http://127.0.0.1:1/"),
      ]
      for memory in memories {
        #expect(try await WebPages(server.url("/")).all(remembering: [memory]).count == 1)
      }
      let fields = Set(server.log.flatMap(\.fields.keys))
      #expect(server.log.count == memories.count)
      #expect(fields.isDisjoint(with: ["if-none-match", "if-modified-since", "evil"]))
    }
  }

  @Test func `a page is requested whole if its remembered next page is impossible`() async throws {
    try await withServer {
      Self.answer($0) { _ in 1 }
    } _: { server in
      let pages = try pages(server)
      var memories = try await pages.all().compactMap(\.memory)
      memories[0].next = memories[2].name
      let again = try await pages.all(remembering: memories)
      #expect(again.map { $0.content == nil } == [false, true, true])
    }
  }

  @Test func `status 304 is an error for a page that is not remembered`() async throws {
    try await withServer { _ in
      Answer(304, ["ETag: \"a\""])
    } _: { server in
      let (error, _) = try await webError(.badStatus, WebPages(try server.url("/")))
      #expect(error.status == 304 && server.log.count == 1)
    }
  }

  @Test func `tags and dates that no request could send are not remembered`() async throws {
    try await withServer { _ in
      .json("[]", "ETag: unquoted", "Last-Modified: yesterday")
    } _: { server in
      let found = try await WebPages(server.url("/")).all()
      #expect(found == [ImportPage(content: Data("[]".utf8))])
    }
  }

  @Test func `remembered pages keep the secrets of the address out of the store`() async throws {
    try await withServer { request in
      request.target.hasPrefix("/2")
        ? .json("{}", "ETag: \"2\"") : .json(#"{"next":"/2?x=1"}"#, "ETag: \"1\"")
    } _: { server in
      let pages = WebPages(try server.url("/?API_KEY=s3cret&y=2"), paging: .nextLink(at: "next"))
      let found = try await pages.all()
      #expect(server.targets == ["/?API_KEY=s3cret&y=2", "/2?x=1&API_KEY=s3cret"])
      #expect(!"\(found)".contains("s3cret"))
      #expect(found[0].memory?.name == (try server.url("/?y=2").absoluteString))
      #expect(try await pages.all(from: found[0].next) == [found[1]])
      #expect(server.targets.last == "/2?x=1&API_KEY=s3cret")
    }
  }
}
