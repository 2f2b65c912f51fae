import Foundation
import Testing

@testable import LodestoreWeb

@Suite struct `Addresses of a web source` {
  @Test(arguments: [
    ("127.0.0.1", AddressRange.loopback), ("127.255.0.1", .loopback), ("0.0.0.0", .loopback),
    ("169.254.169.254", .linkLocal), ("10.0.0.1", .privateUse), ("172.15.0.1", .everywhere),
    ("172.16.0.1", .privateUse), ("172.31.255.255", .privateUse), ("172.32.0.1", .everywhere),
    ("192.168.1.1", .privateUse), ("192.0.0.1", .privateUse), ("203.0.113.9", .privateUse),
    ("192.0.78.1", .everywhere),
    ("100.64.0.1", .privateUse), ("100.63.0.1", .everywhere), ("198.19.0.1", .privateUse),
    ("224.0.0.1", .privateUse), ("255.255.255.255", .privateUse), ("8.8.8.8", .everywhere),
    ("::1", .loopback), ("::", .loopback), ("fe80::1", .linkLocal), ("febf::1", .linkLocal),
    ("fec0::1", .privateUse), ("fd00::1", .privateUse), ("ff02::1", .privateUse),
    ("::ffff:127.0.0.1", .loopback), ("::ffff:8.8.8.8", .everywhere), ("::127.0.0.1", .loopback),
    ("64:ff9b::7f00:1", .loopback), ("64:ff9b::808:808", .everywhere),
    ("64:ff9b:1::1", .privateUse),
    ("2002:a00:1::1", .privateUse), ("2002:808:808::1", .everywhere), ("2001::1", .privateUse),
    ("2606:4700::1111", .everywhere), ("4000::1", .privateUse),
  ])
  func `each address belongs to a range`(_ text: String, _ range: AddressRange) throws {
    #expect(PeerAddress(bytes: try Socket.bytes(of: text), port: 80).range == range)
  }

  @Test(arguments: [
    ("localhost", AddressRange.loopback), ("localhost.", .loopback), ("a.localhost", .loopback),
    ("127.1", .loopback), ("2130706433", .loopback), ("10.1.2.3", .privateUse),
    ("[::1]", .loopback), ("[fd00::1]", .privateUse), ("[fe80::1]", .linkLocal),
    ("nas", .privateUse), ("nas.lan", .privateUse), ("NAS.local.", .privateUse),
    ("a.home.arpa", .privateUse), ("data.example", .everywhere), ("8.8.8.8", .everywhere),
    ("172.32.0.1", .everywhere), ("[2606:4700::1111]", .everywhere),
  ])
  func `the text of an address determines its range`(_ host: String, _ range: AddressRange) throws {
    let url = try #require(URL(string: "http://\(host):8080/"))
    #expect(AddressRange.ofText(url) == range)
  }

  @Test func `a name belongs to the range of the address that it resolves to`() throws {
    let own = try #require(URL(string: "http://localhost:80/"))
    #expect(AddressRange.ofResolved(own) == .loopback)
    let none = try #require(URL(string: "http://nowhere.invalid/"))
    #expect(AddressRange.ofResolved(none) == nil)
  }

  @Test func `an address that others name must not be narrower than the program's own`() throws {
    func floor(_ own: String...) throws -> AddressRange? {
      let urls = try own.map { try #require(URL(string: $0)) }
      return WebPages.Addresses.notNarrower(than: urls).floor(nil)
    }
    #expect(try floor() == .everywhere)
    #expect(try floor("file:///media/stick", "https://data.example/") == .everywhere)
    #expect(try floor("https://data.example/", "http://nas.lan/") == .privateUse)
    #expect(try floor("http://nas.lan/", "http://127.0.0.1/") == .loopback)
    let own = WebPages.Addresses.notNarrower(than: [try #require(URL(string: "http://nas.lan/"))])
    // If the program's own address is private, a redirect from a public mirror still must not lead
    // to a private address.
    #expect(own.floor(.everywhere) == .everywhere && own.floor(.loopback) == .privateUse)
  }

  #if os(Linux)
    /// Fetches pages from a source that redirects to another server, with each server in an address
    /// range; returns the error, or `nil`.
    private func follows(
      from first: AddressRange, to second: AddressRange,
      _ addresses: WebPages.Addresses = .sourceRange
    ) async throws -> WebSourceError.Code? {
      try await withServer { _ in
        .json("[2]")
      } _: { other in
        let target = try other.url("/there")
        return try await withServer { _ in
          Answer(302, ["Location: \(target)"])
        } _: { server in
          var pages = WebPages(try server.url("/"), options: .with { $0.addresses = addresses })
          let port = Int(server.port)
          pages.classify = { $0.port == port ? first : second }
          do {
            try await expect(pages, gives: ["[2]"])
            return nil
          } catch let error as WebSourceError {
            // The client has not sent a single byte to the forbidden server.
            #expect(other.log.isEmpty && error.message.contains("allow the range by addresses"))
            return error.code
          }
        }
      }
    }

    @Test func `a redirect never leads to a narrower range`() async throws {
      for first in AddressRange.allCases {
        for second in AddressRange.allCases {
          let code = try await follows(from: first, to: second)
          #expect(code == (second < first ? .badRedirect : nil), "from \(first) to \(second)")
        }
      }
    }

    @Test func `a redirect may lead to a narrower range if all addresses are allowed`() async throws
    {
      #expect(try await follows(from: .everywhere, to: .loopback, .any) == nil)
      #expect(try await follows(from: .everywhere, to: .privateUse, .publicOnly) == .badRedirect)
      #expect(
        try await follows(from: .privateUse, to: .everywhere, .publicOnly) == .forbiddenAddress)
      #expect(try await follows(from: .everywhere, to: .everywhere, .publicOnly) == nil)
    }

    @Test func `addresses of this machine get no byte if only public ones are allowed`()
      async throws
    {
      try await withServer { _ in
        .json("[]")
      } _: { server in
        for host in ["127.0.0.1", "localhost", "0.0.0.0", "2130706433", "0x7f.1"] {
          let url = try #require(URL(string: "http://\(host):\(server.port)/"))
          let pages = WebPages(
            url,
            options: .with {
              $0.addresses = .publicOnly
              $0.retries = 0
            })
          // The client does not accept some spellings of an address as a host, and reports an
          // error.
          await #expect(throws: WebSourceError.self) { try await pages.all() }
        }
        let pages = WebPages(try server.url("/"), options: .with { $0.addresses = .publicOnly })
        _ = try await webError(.forbiddenAddress, pages)
        #expect(server.log.isEmpty)
      }
    }

    @Test func `the addresses of one name must not become narrower between two pages`() async throws
    {
      try await withServer { request in
        Answer(
          200, ["Content-Type: application/json", "Link: </2>; rel=next", "Connection: close"],
          body: Array("[\(request.number)]".utf8))
      } _: { server in
        var pages = WebPages(try server.url("/"), paging: .linkHeader)
        pages.classify = { [server] _ in server.log.isEmpty ? .everywhere : .loopback }
        let (_, found) = try await webError(.forbiddenAddress, pages)
        #expect(found.count == 1 && server.log.count == 1)
      }
    }
  #endif
}
