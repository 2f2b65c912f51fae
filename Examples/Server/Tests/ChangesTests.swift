import Lodestore
import Testing

@testable import PodServer

@Suite struct `The stream of changes` {
  @Test(.timeLimit(.minutes(1)))
  func `the stream of changes sends each write when it is committed`() async throws {
    try await RunningServer.with { server in
      var stream = try await EventStream(server.url)
      let put = try await server.put("/pods/Mine/1", "{}", ["If-None-Match": "*"])
      let tag = put["ETag"] ?? ""
      let inserted = try #require(try await stream.nextEvent())
      #expect(inserted.summary == "inserted Mine 1" && inserted.id == nil)
      #expect(try inserted.json["etag"]?.stringValue == tag)
      #expect(try inserted.json["href"] == "/pods/Mine/1")
      let end = try #require(try await stream.nextEvent())
      #expect(end.kind == "committed" && end.id != nil)
      #expect(try end.json["author"] == "server")
      let change = try await server.put("/pods/Mine/1", #"{"summary": "x"}"#, ["If-Match": tag])
      #expect(try await stream.nextEvent()?.summary == "updated Mine 1")
      #expect(try await stream.nextEvent()?.kind == "committed")
      _ = try await server.delete("/pods/Mine/1", ["If-Match": change["ETag"] ?? ""])
      #expect(try await stream.nextEvent()?.summary == "deleted Mine 1")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `the stream of changes resumes at the last event of a client`() async throws {
    try await RunningServer.with { server in
      func put(_ name: String) async throws {
        _ = try await server.put("/pods/\(name)/1", "{}", ["If-None-Match": "*"])
      }
      var stream = try await EventStream(server.url)
      try await put("First")
      var place: String?
      while place == nil { place = try await stream.nextEvent()?.id }
      // These writes happen while no client is connected.
      try await put("Second")
      try await put("Third")
      var again = try await EventStream(server.url, after: place)
      var told: [String] = []
      while told.count < 4 { told.append(try await again.nextEvent()?.summary ?? "end") }
      #expect(told == ["inserted Second 1", "committed", "inserted Third 1", "committed"])
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a client that was away for too long must read again`() async throws {
    try await RunningServer.with { server in
      var stream = try await EventStream(server.url)
      _ = try await server.put("/pods/Mine/1", "{}", ["If-None-Match": "*"])
      var place: String?
      while place == nil { place = try await stream.nextEvent()?.id }
      _ = try await server.put("/pods/Mine/2", "{}", ["If-None-Match": "*"])
      try await server.store.purgeHistory(through: try server.store.historyToken())
      var again = try await EventStream(server.url, after: place)
      let reset = try #require(try await again.nextEvent())
      #expect(reset.kind == "reset" && reset.id != nil && reset.id != place)
      let other = "7-00000000-0000-0000-0000-000000000000"
      var foreign = try await EventStream(server.url, after: other)
      #expect(try await foreign.nextEvent()?.kind == "reset")
      #expect(try await EventStream(server.url, after: "nonsense").status == 400)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `the stream of changes sends a heartbeat while nothing happens`() async throws {
    try await RunningServer.with(heartbeat: .milliseconds(50)) { server in
      var stream = try await EventStream(server.url)
      var beats = 0
      while beats < 3, let event = try await stream.next() {
        if event.comment == "heartbeat" { beats += 1 }
      }
      #expect(beats == 3)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `the stream of changes waits for a slow client, and blocks no other`() async throws {
    try await RunningServer.with { server in
      var slow = try await EventStream(server.url)
      var quick = try await EventStream(server.url)
      let count = 12_000
      try await server.insertMany(count)
      var inserted = 0
      while let event = try await quick.nextEvent(), event.kind == "inserted" { inserted += 1 }
      #expect(inserted == count)
      // The slow client has received only a part when others write.
      #expect(try await server.put("/pods/Mine/1", "{}", ["If-None-Match": "*"]).status == 201)
      #expect(try await quick.nextEvent()?.summary == "inserted Mine 1")
      inserted = 0
      while let event = try await slow.nextEvent(), event.kind == "inserted" { inserted += 1 }
      #expect(inserted == count)
      #expect(try await slow.nextEvent()?.summary == "inserted Mine 1")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `the stream of changes does not stop the server from ending`() async throws {
    let start = ContinuousClock.now
    let (streams, stream) = AsyncStream.makeStream(of: EventStream.self)
    try await RunningServer.with(shutdownDuration: .milliseconds(500)) { server in
      let reading = try await EventStream(server.url)
      stream.yield(reading)
      let token = try server.store.historyToken()
      let idle = try await EventStream(server.url, after: "0-\(token.storeID)")
      stream.yield(idle)
      try await server.insertMany(12_000)
    }
    stream.finish()
    #expect(ContinuousClock.now - start < .seconds(20))
    for await stream in streams { #expect(stream.status == 200) }
  }
}

extension RunningServer {
  /// Inserts podspecs until their events exceed the buffers between server and client.
  fileprivate func insertMany(_ count: Int) async throws {
    let name = String(repeating: "n", count: 190)
    try await store.write { tx in
      let pod = try tx.insert(Pod(name: name))
      try tx.insert((0..<count).map { Podspec(name, "\($0)", pod: pod.id) })
    }
  }
}

extension Podspec {
  fileprivate init(_ name: String, _ version: String, pod: Pod.ID) {
    self.init(
      name: name, version: version, summary: "", homepage: nil, license: nil, authors: .null,
      authorNames: "", platforms: .null, platformNames: [], requirements: .null,
      versionOrder: version, pod: pod)
  }
}
