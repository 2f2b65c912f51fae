import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@testable import LodestoreWeb

@Suite struct `Requests of a web source` {
  @Test func `requests have the header fields of the source, except those of HTTP itself`()
    async throws
  {
    try await withServer { _ in
      .json("[]")
    } _: { server in
      var request = URLRequest(url: try server.url("/"))
      for (name, value) in [
        ("X-Key", "k"), ("If-None-Match", "\"1\""), ("Range", "bytes=0-0"), ("If-Range", "\"1\""),
        ("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Accept-Encoding", "br"),
        ("Transfer-Encoding", "chunked"), ("TE", "trailers"),
      ] { request.setValue(value, forHTTPHeaderField: name) }
      try await expect(WebPages(request), gives: ["[]"])
      let fields = try #require(server.log.first).fields
      #expect(fields["x-key"] == "k" && fields["accept"] == "application/json, */*;q=0.5")
      #expect(fields["accept-encoding"]?.contains("gzip") == true)
      let left = [
        "if-none-match", "range", "if-range", "if-modified-since", "te", "transfer-encoding",
      ]
      #expect(left.allSatisfy { fields[$0] == nil })
    }
  }

  @Test func `requests send credentials of the address, unless others are given`()
    async throws
  {
    try await withServer { _ in
      .json("[]")
    } _: { server in
      let url = try #require(URL(string: "http://me:p%40ss@127.0.0.1:\(server.port)/a"))
      var request = URLRequest(url: url)
      try await expect(WebPages(request), gives: ["[]"])
      request.setValue("Bearer x", forHTTPHeaderField: "Authorization")
      try await expect(WebPages(request), gives: ["[]"])
      #expect(
        server.log.map { $0.fields["authorization"] } == [
          "Basic " + Data("me:p@ss".utf8).base64EncodedString(), "Bearer x",
        ])
      #expect(server.targets == ["/a", "/a"])
    }
  }

  @Test func `requests of many iterations leave no open connection`() async throws {
    try await withServer { _ in
      .json("[]")
    } _: { server in
      let pages = WebPages(try server.url("/"))
      for _ in 0..<40 { try await expect(pages, gives: ["[]"]) }
      while server.openConnections > 0 { try await Task.sleep(for: .milliseconds(2)) }
      #expect(server.log.count == 40)
    }
  }
}
