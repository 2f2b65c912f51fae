import EntityStore
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@testable import LodestoreWeb

@Suite struct `Positions of a web source` {
  @Test(arguments: [
    WebPages.Paging.pageNumber(endsAt: .emptyPage(records: "items")),
    .pageNumber(first: 0, size: .init("n", 3), endsAt: .pageCount(at: "pages")),
    .nextLink(at: "next"), .cursor(parameter: "c", at: "cursor"), .linkHeader,
  ])
  func `a position continues with the page after the last one`(_ paging: WebPages.Paging)
    async throws
  {
    try await withServer { request in
      let number = Int(request.value(of: "page") ?? request.value(of: "c") ?? "") ?? 0
      let isLast = number > 4
      return .json(
        #"{"items":[\#(isLast ? "" : "1")],"n":\#(number),"pages":6,"# + #""next":"#
          + (isLast ? "null" : #""?c=\#(number + 1)""#) + #","cursor":"#
          + (isLast ? "null" : "\(number + 1)") + "}",
        isLast ? "X: y" : "Link: <?c=\(number + 1)>; rel=next")
    } _: { server in
      let pages = WebPages(try server.url("/?key=s3cret"), paging: paging)
      let whole = try await pages.all()
      #expect(whole.count >= 5 && !"\(whole)".contains("s3cret"))
      for index in 1..<whole.count {
        let rest = try await pages.all(from: whole[index - 1].next)
        #expect(rest == Array(whole[index...]))
      }
      #expect(server.targets.allSatisfy { $0.contains("key=s3cret") })
    }
  }

  @Test(arguments: [
    "", "page 3", "http://other.example/?page=3", "https://example.org/?page=3",
    "http://example.org:81/?page=3", "http://user@example.org/?page=3",
    "http://example.org/?page=3#x", "http://example.org/?page=-1", "http://example.org/?page=0",
    "http://example.org/?page=3x", "http://example.org/?page=", "http://example.org/?page=03",
    "http://example.org/?page=+3", "http://example.org/?page=3&page=4",
    "http://example.org/?page=99999999999999999999", "http://example.org/?page=9007199254740993",
    "http://example.org/x?page=3", "http://example.org/?page=3&x=1", "http://example.org/",
    "file:///?page=3", "javascript:alert(1)", "http://", "http://[", "\u{0}\r\n",
    "http://%00/?page=3",
    "http://example.org/?page=3\r\nEvil: 1",
  ])
  func `positions that the source cannot have made are refused before any request`(
    _ position: String
  ) async throws {
    let url = try #require(URL(string: "http://example.org/"))
    let pages = WebPages(url, paging: .pageNumber(endsAt: .notFound))
    let (error, _) = try await webError(.badPosition, pages, from: position)
    #expect(error.attempts == 0)
  }

  @Test(arguments: [
    "", "http://other.example/", "http://example.org/a b", "//example.org/", "http://example.org",
    "http://example.org/?token=other#", "\u{0}", String(repeating: "x", count: 100_000),
  ])
  func `positions by links are addresses of the source's origin`(_ position: String) async throws {
    let url = try #require(URL(string: "http://example.org/?key=k"))
    let source = try SourceAddress(url, secretParameters: ["key"])
    let order = PageOrder(source: source, paging: .linkHeader, limits: .standard)
    let address = order.address(at: position)
    if let address { #expect(source.isHome(address.url)) }
    #expect(address == nil || position == "http://example.org")
    #expect(order.address(at: "http://example.org/x?y=1")?.url.query() == "y=1&key=k")
  }

  @Test func `a single page has no position to continue from`() async throws {
    let url = try #require(URL(string: "http://example.org/"))
    _ = try await webError(.badPosition, WebPages(url), from: "http://example.org/?page=2")
  }

  @Test(arguments: ["ftp://example.org/", "file:///etc/passwd", "http:///x", "/relative"])
  func `addresses that are not HTTP are refused before any position`(_ address: String) async throws
  {
    let url = try #require(URL(string: address))
    let (error, _) = try await webError(.badRequest, WebPages(url))
    #expect(error.url == nil)
  }

  @Test func `requests that cannot be made are refused without a position`() async throws {
    let url = try #require(URL(string: "http://example.org/"))
    var post = URLRequest(url: url)
    post.httpMethod = "POST"
    _ = try await webError(.badRequest, WebPages(post))
    var evil = URLRequest(url: url)
    evil.setValue("a", forHTTPHeaderField: "X y")
    _ = try await webError(.badRequest, WebPages(evil))
  }
}

@Suite struct `The address of a web source` {
  private func source(_ text: String) throws -> SourceAddress {
    try SourceAddress(URL(string: text), secretParameters: ["key"])
  }

  private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

  @Test func `a displayed address contains no user information and no secrets`() throws {
    let source = try source("https://me:pass@Example.org/a?KEY=s&b=1#f")
    let shown = source.shown(try url("https://you:word@example.org/b?b=2&key=t&%6Bey=u#g"))
    #expect(shown.absoluteString == "https://example.org/b?b=2&key=***&%6Bey=***")
    #expect(source.url.absoluteString == "https://Example.org/a?KEY=s&b=1")
    #expect(source.credentials == "Basic bWU6cGFzcw==")
  }

  @Test func `an address removes its secrets from names, however a service spells them`() throws {
    let source = try source("http://example.org/?key=a/b%20c")
    let page = try #require(source.page(linked: "?x=1&KEY=%61%2Fb+c", from: source.url))
    #expect(source.name(of: page) == "http://example.org/?x=1")
    #expect(source.page(named: "http://example.org/?x=1")?.query() == "x=1&key=a/b%20c")
    let other = try #require(source.page(linked: "?x=1&key=page7", from: source.url))
    #expect(source.name(of: other) == "http://example.org/?x=1&key=page7")
  }

  @Test func `an address shares credentials with its own origin only`() throws {
    let source = try source("http://example.org/a")
    for home in ["http://EXAMPLE.org:80/b", "HTTP://example.org", "https://example.org/"] {
      #expect(source.isHome(try url(home)), "\(home)")
    }
    for other in [
      "http://example.org:8080/", "https://example.org:80/", "http://example.com/",
      "http://example.org.evil.example/", "ftp://example.org/",
    ] { #expect(!source.isHome(try url(other)), "\(other)") }
    #expect(try !self.source("https://example.org/").isHome(url("http://example.org/")))
  }

  @Test func `an address replaces existing values of its query`() throws {
    let source = try source("http://example.org/?a=1&p=2&b=%20&p=3&c")
    #expect(
      source.page(with: [("p", "é&"), ("z", "")]).absoluteString
        == "http://example.org/?a=1&p=%C3%A9%26&b=%20&c&z=")
  }

  @Test func `no link traps a source`() throws {
    let source = try source("http://example.org/a?key=k")
    let pieces = [
      "http:", "//", "[", "]", "%", "%zz", "%00", "?", "#", "&", "=", "@", ":", "99999999", "é",
      "\u{0}",
      " ", "..", "/", "\\", "\u{1F600}", "key", "{", "|",
    ]
    var generator = Numbers(state: 7)
    for _ in 0..<4000 {
      let link = (0..<Int.random(in: 0...7, using: &generator))
        .map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
      let page = source.page(linked: link, from: source.url)
      #expect(page == nil || page.map { source.isHome($0) } == true)
      if let page {
        #expect(source.page(named: source.name(of: page)) == page, "\(link)")
        _ = source.shown(page)
      }
    }
  }
}
