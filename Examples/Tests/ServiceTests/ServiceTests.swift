import Foundation
import Service
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct `The service` {
  /// Runs `body` with a service of the project's samples.
  private func withService(
    _ faults: Faults = Faults(), _ body: (Service) async throws -> Void
  ) async throws {
    let service = try await Service.start(try .samples(), faults: faults)
    do {
      try await body(service)
    } catch {
      await service.stop()
      throw error
    }
    await service.stop()
  }

  private func get(
    _ service: Service, _ path: String, tag: String? = nil
  ) async throws -> (object: [String: Any], status: Int, tag: String?) {
    let url = try #require(URL(string: path, relativeTo: service.url))
    var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
    if let tag { request.setValue(tag, forHTTPHeaderField: "If-None-Match") }
    let (data, response) = try await URLSession.shared.data(for: request)
    let answer = try #require(response as? HTTPURLResponse)
    let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    return (object ?? [:], answer.statusCode, answer.value(forHTTPHeaderField: "ETag"))
  }

  @Test func `the service leads from page to page to all people`() async throws {
    try await withService { service in
      var names: [String] = []
      var next: String? = "/api/people/"
      while let path = next {
        let page = try await get(service, path).object
        let records = page["results"] as? [[String: Any]] ?? []
        names += records.compactMap { $0["name"] as? String }
        next = page["next"] as? String
        if let next { #expect(next.hasPrefix(service.url.absoluteString)) }
      }
      #expect(names.count == 20 && names.first == "Luke Skywalker")
      #expect(try await get(service, "/api/people/?page=3").status == 404)
    }
  }

  @Test func `the service numbers pages of podspecs from 0`() async throws {
    try await withService { service in
      let first = try await get(service, "/pods").object
      let count = try #require(first["number_of_pages"] as? Int)
      let last = try await get(service, "/pods?page=\(count - 1)").object
      #expect((first["result"] as? [Any])?.count == 10)
      #expect((last["result"] as? [Any])?.count == 3)
      #expect(try await get(service, "/pods?page=\(count)").status == 404)
    }
  }

  @Test func `the service has fireballs as of two dates, in the requested number`() async throws {
    try await withService { service in
      let old = try await get(service, "/fireballs?snapshot=2024").object
      let new = try await get(service, "/fireballs?limit=3").object
      #expect((old["data"] as? [Any])?.count == 12)
      #expect((new["data"] as? [Any])?.count == 3 && new["count"] as? String == "3")
    }
  }

  @Test func `the service does not send a page again that is known by its tag`() async throws {
    try await withService { service in
      let first = try await get(service, "/pods?page=1")
      let again = try await get(service, "/pods?page=1", tag: first.tag)
      #expect(first.status == 200 && again.status == 304 && again.object.isEmpty)
      #expect(service.requests.map(\.status) == [200, 304])
    }
  }

  @Test func `the service is slow, fails and breaks off on request`() async throws {
    try await withService(Faults(failsEvery: 2)) { service in
      #expect(try await get(service, "/pods").status == 200)
      #expect(try await get(service, "/pods").status == 500)
      service.faults = Faults(breaksOffEvery: 1)
      await #expect(throws: (any Error).self) { try await get(service, "/pods?page=2") }
      service.faults = Faults(delay: .milliseconds(80))
      let clock = ContinuousClock()
      let time = try await clock.measure { _ = try await get(service, "/pods") }
      #expect(time >= .milliseconds(80))
    }
  }

  @Test
  func `a withheld page comes after the faults change, and others come before`() async throws {
    try await withService(Faults(withheld: "/pods?page=1")) { service in
      let withheld = Task { try await get(service, "/pods?page=1").status }
      let other = try await get(service, "/pods?page=2").status
      #expect(other == 200 && service.requests.map(\.path) == ["/pods?page=2"])
      service.faults = Faults()
      #expect(try await withheld.value == 200)
    }
  }

  @Test func `the service reports that a port is taken`() async throws {
    try await withService { service in
      let port = UInt16(try #require(service.url.port))
      await #expect(throws: ServiceError.self) {
        try await Service.start(try .samples(), port: port)
      }
    }
  }
}
