import EntityStore
import Testing

// Whole Foundation: `Process` is not in FoundationEssentials.
import Foundation

@testable import LodestoreInspector

@Suite("Live pages")
struct LiveTests {
  /// Waits until a condition is true, for at most a minute.
  private func wait(for condition: () throws -> Bool) async throws -> Bool {
    for _ in 0..<6_000 {
      if try condition() { return true }
      try await Task.sleep(for: .milliseconds(10))
    }
    return false
  }

  @Test func `a page is told of the newest commit, and of each later one`() async throws {
    let library = try await Library.withBooks(3)
    let feed = LiveFeed(DynamicStore(library.store))
    var events = try feed.events().makeAsyncIterator()
    let first = try DynamicStore(library.store).read { $0.commitNumber }
    #expect(await events.next() == .commit(first))
    try await library.store.write { tx in try tx.insert(Book("Late", pages: 1)) }
    #expect(await events.next() == .commit(first + 1))
    feed.end()
    #expect(await events.next() == nil)
    #expect(try await wait { !feed.isWatching })
    var later = try feed.events().makeAsyncIterator()
    #expect(await later.next() == nil)
  }

  @Test func `a page of a store in memory is told of commits`() async throws {
    let store = try Store.inMemory(entities: [Author.self, Book.self])
    let feed = LiveFeed(DynamicStore(store))
    var events = try feed.events().makeAsyncIterator()
    let first = await events.next()
    try await store.write { tx in try tx.insert(Author("Late")) }
    let second = await events.next()
    #expect(first != nil && second != nil && first != second)
    feed.end()
    store.close()
  }

  @Test func `the store is watched only while a page is open`() async throws {
    let library = try await Library.withBooks(1)
    let feed = LiveFeed(DynamicStore(library.store))
    #expect(!feed.isWatching)
    let events = try feed.events()
    #expect(feed.isWatching && feed.pageCount == 1)
    let task = Task { for await _ in events {} }
    task.cancel()
    #expect(try await wait { feed.pageCount == 0 && !feed.isWatching })
  }

  @Test func `the oldest page gives its place to a new one`() async throws {
    let library = try await Library.withBooks(1)
    let feed = LiveFeed(
      DynamicStore(library.store), limits: LiveFeed.Limits(pages: 2, heartbeat: .seconds(60)))
    let pages = try (0..<3).map { _ in try feed.events() }
    #expect(feed.pageCount == 2)
    var oldest: [LiveFeed.Event] = []
    for await event in pages[0] { oldest.append(event) }
    #expect(oldest == [.replaced])
  }

  @Test func `the events end when the store is closed`() async throws {
    let library = try await Library.withBooks(1)
    let feed = LiveFeed(DynamicStore(library.store))
    let events = try feed.events()
    library.store.close()
    for await _ in events {}
    #expect(feed.pageCount == 0)
  }

  @Test func `without commits there are no events except heartbeats`() async throws {
    let library = try await Library.withBooks(1)
    for (heartbeat, least, most) in [(60_000, 1, 1), (100, 3, 300)] {
      let feed = LiveFeed(
        DynamicStore(library.store),
        limits: LiveFeed.Limits(heartbeat: .milliseconds(heartbeat)))
      let events = try feed.events()
      let count = Task {
        var count = 0
        for await _ in events { count += 1 }
        return count
      }
      try await Task.sleep(for: .seconds(1))
      feed.end()
      #expect((least...most).contains(await count.value))
    }
  }

  @Test func `a commit that was sent before is a comment`() {
    var text = EventText()
    func next(_ event: LiveFeed.Event) -> String {
      String(decoding: text.bytes(of: event), as: UTF8.self)
    }
    #expect(next(.commit(7)) == "retry: 2000\nevent: commit\nid: 7\ndata: 7\n\n")
    #expect(next(.commit(7)) == ": 7\n\n")
    #expect(next(.commit(9)) == "event: commit\nid: 9\ndata: 9\n\n")
    #expect(next(.replaced) == "retry: 60000\n\n")
  }

  @Test func `one event is printed without a server`() async throws {
    let library = try await Library.withBooks(1)
    let commit = try DynamicStore(library.store).read { $0.commitNumber }
    #expect(try library.get("/-/live").hasSuffix("data: \(commit)\n\n"))
  }

  @Test(arguments: ["/-/live?x=1", "/-/live.json", "/-/live/1", "/-/page.js?v=1", "/-/page.js.csv"])
  func `other addresses are no streams`(address: String) async throws {
    let library = try await Library.withBooks(1)
    let answer = library.responder.respond(to: try #require(Address(address)))
    #expect([400, 404].contains(answer.status))
  }

  @Test func `each page has the one script of this server, and its commit`() async throws {
    let library = try await Library.withBooks(2)
    let commit = try DynamicStore(library.store).read { $0.commitNumber }
    for address in ["/", "/Book", "/Book/1", "/-/model", "/-/history"] {
      let page = try library.get(address)
      #expect(page.ranges(of: "<script").count == 1)
      #expect(page.contains("<script defer src=\"/-/page.js\"></script>"))
      #expect(page.contains("<body data-commit=\"\(commit)\">"))
    }
  }

  #if Inspector
    private func request(_ target: String, _ server: PageServer, _ fields: String = "") -> String {
      "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(server.gate.port)\r\n"
        + "Cookie: \(server.gate.cookieName)=\(server.gate.key.text)\r\n\(fields)\r\n"
    }

    @Test func `a commit of another process reaches an open page`() async throws {
      let library = try await Library.withBooks(9)
      let server = try await PageServer.start(library.responder, port: 0)
      let path = library.store.path
      let (request, port) = (request("/-/live", server), server.gate.port)
      let first = try DynamicStore(library.store).read { $0.commitNumber }
      let kvdump = CommandLine.arguments.first.map {
        URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/kvdump"
      }
      let text = try await ReadingThreads().run {
        let connection = try ClientConnection(port: port)
        try connection.send(request)
        #expect(connection.read(until: "data: \(first)\n\n"))
        if let kvdump, FileManager.default.isExecutableFile(atPath: kvdump) {
          let process = Process()
          process.executableURL = URL(fileURLWithPath: kvdump)
          process.arguments = ["delete", path, "Book", "pages == 3", "--yes"]
          process.standardOutput = FileHandle.nullDevice
          try process.run()
          process.waitUntilExit()
          #expect(process.terminationStatus == 0)
          #expect(connection.read(until: "data: \(first + 1)\n\n"))
        } else {
          print("skipped: no kvdump beside the tests")
        }
        return connection.received
      }
      #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(text.contains("Content-Type: text/event-stream\r\n"))
      #expect(text.contains("Cache-Control: no-store\r\n"))
      await server.stop()
    }

    @Test func `an open page pins nothing, and ends with the server`() async throws {
      let library = try await Library.withBooks(9)
      let server = try await PageServer.start(library.responder, port: 0)
      let (request, port) = (request("/-/live", server), server.gate.port)
      let store = DynamicStore(library.store)
      let used = try store.read { try $0.facts().usedReaderSlotCount }
      let connection = try await ReadingThreads().run {
        let connection = Unchecked(try ClientConnection(port: port))
        try connection.value.send(request)
        #expect(connection.value.read(until: "data: "))
        return connection
      }
      for _ in 0..<20 {
        try await library.store.write { tx in try tx.insert(Book("Late", pages: 1)) }
      }
      #expect(try await wait { try store.read { try $0.facts().usedReaderSlotCount } == used })
      await server.stop()
      try await ReadingThreads().run { #expect(!connection.value.read(until: "never sent")) }
    }

    @Test func `a page that went away leaves its place`() async throws {
      let library = try await Library.withBooks(1)
      let server = try await PageServer.start(
        library.responder, port: 0, live: LiveFeed.Limits(heartbeat: .milliseconds(50)))
      let (request, port) = (request("/-/live", server), server.gate.port)
      try await ReadingThreads().run {
        let connection = try ClientConnection(port: port)
        try connection.send(request)
        #expect(connection.read(until: "data: "))
      }
      #expect(try await wait { server.feed.pageCount == 0 && !server.feed.isWatching })
      await server.stop()
    }

    @Test(arguments: [
      ("/-/live", "Origin: http://evil.example\r\n", "403"),
      ("/-/live", "Sec-Fetch-Site: cross-site\r\n", "403"),
      ("/-/live?key=0123456789abcdef0123456789abcdef", "", "403"),
      ("/-/live", "Content-Length: 1\r\n", "413"),
    ])
    func `the gate checks requests for events too`(
      target: String, fields: String, status: String
    ) async throws {
      let library = try await Library.withBooks(1)
      let server = try await PageServer.start(library.responder, port: 0)
      let (request, port) = (
        request(target, server, fields + "Connection: close\r\n"), server.gate.port
      )
      let head = try await ReadingThreads().run {
        let connection = try ClientConnection(port: port)
        try connection.send(fields.contains("Length") ? request + "x" : request)
        connection.read(until: nil)
        return connection.received
      }
      #expect(head.hasPrefix("HTTP/1.1 \(status) "))
      #expect(server.feed.pageCount == 0)
      await server.stop()
    }
  #endif
}

/// A value that one thread at a time uses.
private struct Unchecked<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
