import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@testable import LodestoreWeb

@Suite struct `Redirects of a web source` {
  @Test(arguments: [301, 302, 303, 307, 308])
  func `redirects are followed, and links are relative to their last address`(_ status: Int)
    async throws
  {
    try await withServer { request in
      switch request.target {
      case "/a/": Answer(status, ["Location: ../b/c?d"], body: Array("moved".utf8))
      case "/b/c?d": .json(#"{"next":"e"}"#)
      default: .json("{}")
      }
    } _: { server in
      let pages = WebPages(try server.url("/a/"), paging: .nextLink(at: "next"))
      #expect(try await pages.all().count == 2)
      #expect(server.targets == ["/a/", "/b/c?d", "/b/e"])
    }
  }

  @Test func `redirects in a circle are an error`() async throws {
    try await withServer { request in
      Answer(302, ["Location: \(request.target == "/" ? "/b" : "/")"])
    } _: { server in
      let (error, _) = try await webError(.badRedirect, WebPages(try server.url("/")))
      #expect(server.targets == ["/", "/b"] && error.message.contains("circle"))
    }
  }

  @Test func `redirects beyond the limit are an error`() async throws {
    try await withServer {
      Answer(302, ["Location: /\($0.number)"])
    } _: { server in
      // Retries are off, because a repeated request on a busy machine would have another number.
      let pages = WebPages(
        try server.url("/"),
        options: .with {
          $0.redirects = 3
          $0.retries = 0
        })
      let (error, _) = try await webError(.badRedirect, pages)
      #expect(server.targets == ["/", "/1", "/2", "/3"])
      #expect(error.message.contains("more than 3"))
      _ = try await webError(
        .badRedirect, WebPages(try server.url("/"), options: .with { $0.redirects = 0 }))
      #expect(server.log.count == 5)
    }
  }

  @Test(arguments: [
    "ftp://127.0.0.1/", "file:///etc/passwd", "mailto:a@b", "data:,x", "http://127.0.0.1:65536/",
    "http://[::1]:70000/", "http://localhost:4294967296/", "http://127.0.0.1:0/",
    "//127.0.0.1:99999",
    "http://127.0.0.1:99999999999999999999/", "http://127.0.0.1:-1/", "http://127.0.0.1:8a/",
  ])
  func `redirects to other schemes than HTTP are an error`(_ target: String) async throws {
    try await withServer { _ in
      Answer(302, ["Location: \(target)"])
    } _: { server in
      let (error, _) = try await webError(.badRedirect, WebPages(try server.url("/")))
      #expect(error.status == 302 && server.log.count == 1)
    }
  }

  @Test func `redirects to another host omit the header fields of the source`() async throws {
    try await withServer { _ in
      .json("[]")
    } _: { other in
      let target = try other.url("/there")
      try await withServer { _ in
        Answer(302, ["Location: \(target)"])
      } _: { server in
        var request = URLRequest(url: try server.url("/"))
        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        request.setValue("secret", forHTTPHeaderField: "X-Key")
        request.setValue("application/vnd.api+json", forHTTPHeaderField: "Accept")
        try await expect(WebPages(request), gives: ["[]"])
        let own = try #require(server.log.first).fields
        let others = try #require(other.log.first).fields
        #expect(own["authorization"] == "Bearer secret" && own["x-key"] == "secret")
        #expect(others["authorization"] == nil && others["x-key"] == nil)
        #expect(others["accept"] == "application/vnd.api+json")
      }
    }
  }

  @Test func `redirects on one host keep the header fields of the source`() async throws {
    try await withServer { request in
      request.target == "/" ? Answer(301, ["Location: /b"]) : .json("[]")
    } _: { server in
      var request = URLRequest(url: try server.url("/"))
      request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
      try await expect(WebPages(request), gives: ["[]"])
      #expect(server.log.map { $0.fields["authorization"] } == ["Bearer secret", "Bearer secret"])
    }
  }

  @Test func `redirects from https to http are not followed`() throws {
    func isFollowed(_ from: String, _ to: String) throws -> Bool {
      try WebExchange.isFollowed(from: #require(URL(string: from)), to: #require(URL(string: to)))
    }
    #expect(try !isFollowed("https://a/", "http://a/"))
    #expect(try !isFollowed("HTTPS://a/", "HTTP://b/"))
    #expect(try isFollowed("https://a/", "https://b/"))
    #expect(try isFollowed("http://a/", "https://a/"))
    #expect(try isFollowed("http://a/", "http://a/"))
  }
}
