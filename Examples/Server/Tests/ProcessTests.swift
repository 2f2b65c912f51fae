import AsyncHTTPClient
import Foundation
import Lodestore
import NIOCore
import PodServer
import Synchronization
import Testing

/// The server program runs as a separate process.
@Suite(.serialized) struct `The server as a process` {
  @Test(.timeLimit(.minutes(2)))
  func `a stopped server finishes its open requests`() async throws {
    try await withFolder { folder in
      let path = folder.appending(path: "server.lodestore").path
      let (process, url) = try start(path)
      var stream = try await EventStream(url)
      #expect(try await stream.next() != nil)
      // Half of the body of this write has been sent.
      let (parts, part) = AsyncStream.makeStream(of: ByteBuffer.self)
      let body = ByteBuffer(string: #"{"summary": "sent while it stops"}"#)
      part.yield(body.getSlice(at: 0, length: 10) ?? body)
      var request = HTTPClientRequest(url: url + "/pods/Late/1")
      request.method = .PUT
      request.headers.add(name: "If-None-Match", value: "*")
      request.body = .stream(parts, length: .known(Int64(body.readableBytes)))
      async let answer = HTTPClient.shared.execute(request, timeout: .seconds(20))
      while try await !Answer(.GET, url + "/metrics").text.contains(
        #"http_server_active_requests{http_request_method="PUT"} 1.0"#)
      {
        try await Task.sleep(for: .milliseconds(10))
      }
      process.terminate()
      // The stream ends regularly, and the server refuses new connections. The write is still open.
      while try await stream.next() != nil {}
      while (try? await Answer(.GET, url + "/health", timeout: .seconds(1))) != nil {}
      part.yield(body.getSlice(at: 10, length: body.readableBytes - 10) ?? body)
      part.finish()
      #expect(try await answer.status == .created)
      process.waitUntilExit()
      #expect(process.terminationReason == .exit && process.terminationStatus == 0)
      try verify(path)
      let store = try Store(at: path, entities: PodStore.entities)
      defer { store.close() }
      let late = try await store.fetch(Podspec.key(name: "Late", version: "1"))
      #expect(late?.summary == "sent while it stops")
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func `a killed server loses nothing that it has acknowledged`() async throws {
    try await withFolder { folder in
      let path = folder.appending(path: "server.lodestore").path
      let answered = AnsweredWrites()
      for round in 0..<3 {
        let (process, url) = try start(path)
        let id = process.processIdentifier
        await withTaskGroup { group in
          for client in 0..<4 {
            group.addTask {
              for number in 0..<Int.max {
                let name = "K\(round)-\(client)-\(number)"
                let answer = try? await Answer(
                  .PUT, "\(url)/pods/\(name)/1", ["If-None-Match": "*"],
                  body: #"{"summary": "\#(name)", "dependencies": {"Moya": []}}"#)
                guard let answer, let tag = answer["ETag"] else { return }
                answered.add(name, tag)
              }
            }
          }
          while answered.tags.count < (round + 1) * 60 {
            try? await Task.sleep(for: .milliseconds(2))
          }
          kill(id, SIGKILL)
        }
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal)
      }
      let known = answered.tags
      #expect(known.count >= 180)
      let (process, url) = try start(path)
      for (name, tag) in known {
        let answer = try await Answer(.GET, "\(url)/pods/\(name)/1")
        #expect(try answer["ETag"] == tag && answer.json["summary"]?.stringValue == name)
      }
      process.terminate()
      process.waitUntilExit()
      try verify(path)
    }
  }

  /// Starts the server with the project's samples, and returns the process and the server's
  /// address.
  private func start(_ path: String) throws -> (Process, url: String) {
    let process = program("server", "--store", path, "--port", "0", "--samples", "true")
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    var text = ""
    while true {
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { throw CocoaError(.fileReadUnknown) }
      text += String(decoding: data, as: UTF8.self)
      if let match = text.firstMatch(of: #/Listening on (http:[^ ]+)\. /#) {
        return (process, String(match.1))
      }
    }
  }
}

/// The tags of the podspecs whose writes the server has acknowledged, by name.
private final class AnsweredWrites: Sendable {
  private let known = Mutex<[String: String]>([:])

  var tags: [String: String] { known.withLock { $0 } }

  func add(_ name: String, _ tag: String) { known.withLock { $0[name] = tag } }
}
