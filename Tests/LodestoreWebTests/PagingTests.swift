import EntityStore
import Foundation
import Testing

@testable import LodestoreWeb

@Suite struct `Paging of a web source` {
  private static func page(_ number: Int, of last: Int) -> Answer {
    .json(
      #"{"items":[\#(number <= last ? "\(number)" : "")],"pages":\#(last),"total":\#(last * 2)}"#)
  }

  @Test func `a single page is requested once, and its bytes stay unchanged`() async throws {
    try await withServer { _ in
      .json(" [1] ")
    } _: { server in
      let pages = try await WebPages(server.url("/a?b=c+d")).all()
      #expect(pages == [ImportPage(content: Data(" [1] ".utf8))])
      #expect(server.targets == ["/a?b=c+d"])
    }
  }

  @Test func `numbered pages end with the empty page`() async throws {
    try await withServer {
      Self.page(Int($0.value(of: "p") ?? "") ?? 0, of: 3)
    } _: { server in
      let pages = WebPages(
        try server.url("/?x=1"),
        paging: .pageNumber(
          parameter: "p", first: 0, size: .init("n", 5), endsAt: .emptyPage(records: "items")),
        options: .with { $0.pagesInFlight = 1 })
      let found = try await pages.all()
      #expect(found.count == 5)
      #expect(server.targets == (0...4).map { "/?x=1&p=\($0)&n=5" })
      let next = try (1...4).map { try server.url("/?x=1&p=\($0)&n=5").absoluteString }
      #expect(found.map(\.next) == next + [nil])
    }
  }

  @Test(arguments: [
    WebPages.Paging.End.pageCount(at: "pages"), .recordCount(at: "total", pageSize: 2),
  ])
  func `numbered pages end by a count without a request after the last`(
    _ end: WebPages.Paging.End
  ) async throws {
    try await withServer {
      Self.page(Int($0.value(of: "page") ?? "") ?? 0, of: 5)
    } _: { server in
      let pages = WebPages(
        try server.url("/"), paging: .pageNumber(endsAt: end),
        options: .with { $0.pagesInFlight = 3 })
      let found = try await pages.all()
      #expect(found.count == 5 && found[4].next == nil)
      #expect(found.allSatisfy { $0.totalPages == 5 })
      #expect(Set(server.targets) == Set((1...5).map { "/?page=\($0)" }))
      #expect(server.log.count == 5)
    }
  }

  @Test func `numbered pages end at status 404 by option, and are an error otherwise`()
    async throws
  {
    try await withServer { request in
      request.value(of: "page") == "3" ? Answer(404) : .json("[\(request.number)]")
    } _: { server in
      let url = try server.url("/")
      let paging = WebPages.Paging.pageNumber(endsAt: .notFound)
      #expect(try await WebPages(url, paging: paging).all().count == 2)
      let (error, pages) = try await webError(
        .pageVanished, WebPages(url, paging: .pageNumber(endsAt: .emptyPage(records: ""))))
      #expect(error.status == 404 && pages.count == 2)
      #expect(error.url?.absoluteString.hasSuffix("/?page=3") == true)
    }
  }

  @Test func `a missing first page is an error`() async throws {
    try await withServer { _ in
      Answer(404)
    } _: { server in
      let pages = WebPages(try server.url("/"), paging: .pageNumber(endsAt: .notFound))
      let (error, found) = try await webError(.badStatus, pages)
      #expect(error.status == 404 && found.isEmpty && server.log.count == 1)
    }
  }

  @Test(arguments: [404, 410])
  func `a missing linked page is an error, also when an import resumes at it`(
    _ status: Int
  ) async throws {
    try await withServer { request in
      request.target == "/" ? .json(#"{"next":"/2"}"#) : Answer(status)
    } _: { server in
      let pages = WebPages(try server.url("/"), paging: .nextLink(at: "next"))
      let (error, found) = try await webError(.pageVanished, pages)
      #expect(error.status == status && found.count == 1)
      let (again, none) = try await webError(.pageVanished, pages, from: found[0].next)
      #expect(again.url?.path() == "/2" && none.isEmpty)
    }
  }

  @Test func `a numbered page that is not JSON is passed on, and the pages continue`() async throws
  {
    try await withServer { request in
      .each(request, .json("[1]"), .json("{"), .json("[]"))
    } _: { server in
      let pages = WebPages(
        try server.url("/"), paging: .pageNumber(endsAt: .emptyPage(records: "")),
        options: .with { $0.pagesInFlight = 1 })
      try await expect(pages, gives: ["[1]", "{", "[]"])
    }
  }

  @Test func `numbered pages come in their order, however late each arrives`() async throws {
    try await withServer { request in
      let number = Int(request.value(of: "page") ?? "") ?? 0
      let answer = Self.page(number, of: 8)
      return Answer(steps: [.wait(milliseconds: number % 3 == 2 ? 40 : 1)] + answer.steps)
    } _: { server in
      let pages = WebPages(
        try server.url("/"), paging: .pageNumber(endsAt: .emptyPage(records: "items")),
        options: .with { $0.pagesInFlight = 4 })
      let texts = try await pages.texts()
      #expect(
        texts.map { $0.prefix(11) } == (1...8).map { "{\"items\":[\($0)" } + ["{\"items\":[]"])
      #expect(server.mostAtOnce <= 4)
    }
  }

  @Test func `no more numbered pages than allowed are requested together`() async throws {
    // The server answers pages 2 to 4 only when all three have been requested.
    let meeting = Meeting(of: 3)
    try await withServer { request in
      let number = Int(request.value(of: "page") ?? "") ?? 0
      if (2...4).contains(number) { meeting.wait() }
      return Self.page(number, of: 7)
    } _: { server in
      let pages = WebPages(
        try server.url("/"), paging: .pageNumber(endsAt: .pageCount(at: "pages")),
        options: .with { $0.pagesInFlight = 3 })
      #expect(try await pages.all().count == 7)
      #expect(meeting.tookPlace && server.mostAtOnce == 3)
    }
  }

  @Test func `relative and absolute links in pages lead to the next page`() async throws {
    try await withServer { request in
      switch request.target {
      case "/v1/pods": .json(#"{"page":{"next":"pods?after=a%2Fb"},"n":1}"#)
      case "/v1/pods?after=a%2Fb":
        .json(
          #"{"page":{"next":"http://127.0.0.1:\#(request.fields["host"]?.dropFirst(10) ?? "")/x/"}}"#
        )
      case "/x/": .json(#"{"page":{"next":"?last"}}"#)
      case "/x/?last": .json(#"{"page":{"next":null}}"#)
      default: Answer(500)
      }
    } _: { server in
      let pages = WebPages(try server.url("/v1/pods"), paging: .nextLink(at: "page.next"))
      let found = try await pages.all()
      #expect(server.targets == ["/v1/pods", "/v1/pods?after=a%2Fb", "/x/", "/x/?last"])
      #expect(server.mostAtOnce == 1)
      #expect(
        found.map(\.next) == [
          try server.url("/v1/pods?after=a%2Fb").absoluteString,
          try server.url("/x/").absoluteString,
          try server.url("/x/?last").absoluteString, nil,
        ])
    }
  }

  @Test(arguments: ["{}", #"{"next":null}"#, #"{"next":false}"#, #"{"next":""}"#, "[]", "7"])
  func `a page without a next link is the last`(_ text: String) async throws {
    try await withServer { _ in
      .json(text)
    } _: { server in
      let pages = WebPages(try server.url("/"), paging: .nextLink(at: "next"))
      #expect(try await pages.all().count == 1)
    }
  }

  @Test func `a page that is not JSON reports line and column if a link is needed`()
    async throws
  {
    try await withServer { _ in
      .json("{\n  \"next\": oops}")
    } _: { server in
      let pages = WebPages(try server.url("/"), paging: .nextLink(at: "next"))
      let (error, found) = try await webError(.unreadablePage, pages)
      let cause = try #require(error.cause as? JSONError)
      #expect(cause.line == 2 && cause.column == 11 && found.isEmpty)
      #expect(error.message.contains("line 2, column 11"))
    }
  }

  @Test(arguments: [#"{"next":7}"#, #"{"next":{}}"#, #"{"next":true}"#])
  func `a next link that is no text is refused with its position, after its page`(
    _ text: String
  ) async throws {
    try await withServer { _ in
      .json(text)
    } _: { server in
      let pages = WebPages(try server.url("/"), paging: .nextLink(at: "next"))
      let (error, found) = try await webError(.unreadablePage, pages)
      #expect(error.message.contains("line 1, column 9"))
      #expect(found.map(\.content) == [Data(text.utf8)])
      #expect(found.map(\.next) == [try server.url("/").absoluteString])
    }
  }

  @Test(arguments: [#"{"total":"9"}"#, #"{"total":-1}"#, #"{"total":1.5}"#, "{}", "[]"])
  func `an invalid count is refused`(_ text: String) async throws {
    try await withServer { _ in
      .json(text)
    } _: { server in
      let paging = WebPages.Paging.pageNumber(endsAt: .recordCount(at: "total", pageSize: 10))
      let (_, found) = try await webError(
        .unreadablePage, WebPages(try server.url("/"), paging: paging))
      #expect(found.count == 1 && server.log.count == 1)
    }
  }

  @Test func `links in the header lead to the next page`() async throws {
    try await withServer { request in
      request.target == "/"
        ? .json("[1]", #"Link: <http://other/>; rel="prev", <?page=2>; rel="last next""#)
        : .json("[2]", "Link: </>; rel=first")
    } _: { server in
      let pages = WebPages(try server.url("/"), paging: .linkHeader)
      try await expect(pages, gives: ["[1]", "[2]"])
      #expect(server.targets == ["/", "/?page=2"])
    }
  }

  @Test func `a cursor goes into the query, encoded whole`() async throws {
    try await withServer { request in
      switch request.value(of: "cursor") {
      case nil: .json(#"{"meta":{"cursor":"a+b/c=&d é"}}"#)
      case "a%2Bb%2Fc%3D%26d%20%C3%A9": .json(#"{"meta":{"cursor":42}}"#)
      case "42": .json(#"{"meta":{"cursor":null}}"#)
      default: Answer(500)
      }
    } _: { server in
      let pages = WebPages(
        try server.url("/?q=1"), paging: .cursor(parameter: "cursor", at: "meta.cursor"))
      #expect(try await pages.all().count == 3)
      #expect(server.targets.last == "/?q=1&cursor=42")
    }
  }

  @Test(arguments: [WebPages.Paging.nextLink(at: "next"), .cursor(parameter: "c", at: "cursor")])
  func `a link to an earlier page is an error after the page with the link`(
    _ paging: WebPages.Paging
  ) async throws {
    try await withServer { request in
      .json(#"{"next":"/?c=\#(request.number % 3)","cursor":\#(request.number % 3)}"#)
    } _: { server in
      let (error, found) = try await webError(
        .repeatedPage, WebPages(try server.url("/?c=0"), paging: paging))
      #expect(server.log.count == 3 && error.url?.query() == "c=0")
      #expect(found.count == 3 && found.last?.next?.hasSuffix("c=2") == true)
    }
  }

  @Test(arguments: [WebPages.Paging.nextLink(at: "next"), .cursor(parameter: "c", at: "cursor")])
  func `a link to an earlier page is the end by option`(
    _ paging: WebPages.Paging
  ) async throws {
    try await withServer { request in
      .json(#"{"next":"/?c=2","cursor":2}"#, "ETag: \"\(request.number)\"")
    } _: { server in
      let pages = WebPages(
        try server.url("/?c=1"), paging: paging, options: .with { $0.endsAtRepeatedPage = true })
      let found = try await pages.all()
      #expect(found.count == 2 && server.log.count == 2)
      #expect(found[1].next == nil && found[1].memory?.next == nil && found[1].memory != nil)
    }
  }

  @Test func `a repeated last page is the end by option`() async throws {
    try await withServer { request in
      .json(#"{"items":[\#(min(Int(request.value(of: "page") ?? "") ?? 0, 3))]}"#)
    } _: { server in
      let pages = WebPages(
        try server.url("/"), paging: .pageNumber(endsAt: .emptyPage(records: "items")),
        options: .with { $0.endsAtRepeatedPage = true })
      try await expect(pages, gives: (1...3).map { #"{"items":[\#($0)]}"# })
    }
  }

  @Test func `a service that ignores the page number is detected at its second page`()
    async throws
  {
    try await withServer { _ in
      .json(#"{"items":[1,2]}"#)
    } _: { server in
      let pages = WebPages(
        try server.url("/"), paging: .pageNumber(endsAt: .emptyPage(records: "items")))
      let (error, found) = try await webError(.repeatedPage, pages)
      #expect(found.count == 1 && error.message.contains("page=2"))
    }
  }

  @Test func `more pages than the limit are an error after the last allowed one`() async throws {
    try await withServer {
      .json(#"{"next":"/\#($0.number)"}"#)
    } _: { server in
      let pages = WebPages(
        try server.url("/"), paging: .nextLink(at: "next"), options: .with { $0.pageLimit = 3 })
      let (error, found) = try await webError(.tooManyPages, pages)
      #expect(found.count == 3 && server.log.count == 3)
      #expect(error.url?.path() == "/3" && found[2].next?.hasSuffix("/3") == true)
    }
  }

  @Test(arguments: [1, 4])
  func `as many pages as the limit are no error`(_ inFlight: Int) async throws {
    try await withServer {
      Self.page(Int($0.value(of: "page") ?? "") ?? 0, of: 2)
    } _: { server in
      let pages = WebPages(
        try server.url("/"), paging: .pageNumber(endsAt: .emptyPage(records: "items")),
        options: .with {
          $0.pagesInFlight = inFlight
          $0.pageLimit = 3
        })
      let found = try await pages.all()
      #expect(found.count == 3 && server.log.count == 3)
    }
  }

  @Test(arguments: [
    "http://127.0.0.1:1/", "//localhost/", "ftp://a/", "file:///etc/passwd", "http://",
    "https://127.0.0.1/", "http://127.0.0.1:65536/", "http://127.0.0.1:99999999999999999999/",
  ])
  func `a link to another origin is not followed`(_ link: String) async throws {
    try await withServer { _ in
      .json(#"{"next":"\#(link)"}"#)
    } _: { server in
      let pages = WebPages(try server.url("/"), paging: .nextLink(at: "next"))
      let (_, found) = try await webError(.badLink, pages)
      #expect(found.count == 1 && server.log.count == 1)
    }
  }
}
