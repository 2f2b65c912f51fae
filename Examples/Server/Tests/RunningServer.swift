import AsyncHTTPClient
import Foundation
import HTTPTypes
import Lodestore
import Logging
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import PodServer
import ServiceLifecycle
import Testing

/// A server in this process that listens on loopback, with the project's samples.
struct RunningServer: Sendable {
  let url: String
  let store: Store

  /// Runs `body` with a server, stops the server, and verifies the store's file.
  static func with(
    heartbeat: Duration = .seconds(15), shutdownDuration: Duration = .seconds(10),
    _ body: @Sendable (RunningServer) async throws -> Void
  ) async throws {
    try await withFolder { folder in
      let path = folder.appending(path: "server.lodestore").path
      let pods = try await PodStore(at: path)
      try await pods.fill(from: .samples)
      var options = PodServer.Options()
      options.port = 0
      options.heartbeat = heartbeat
      options.shutdownDuration = shutdownDuration
      let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
      let (ports, port) = AsyncStream.makeStream(of: Int.self)
      let services = PodServer(pods.store, options: options, logger: logger)
        .services { port.yield($0) }
      let running = Task { try await services.run() }
      let number = try #require(await ports.first { _ in true })
      let server = RunningServer(url: "http://127.0.0.1:\(number)", store: pods.store)
      do {
        try await body(server)
      } catch {
        await services.triggerGracefulShutdown()
        try? await running.value
        throw error
      }
      await services.triggerGracefulShutdown()
      try await running.value
      try verify(path)
    }
  }

  func get(_ path: String, _ headers: [String: String] = [:]) async throws -> Answer {
    try await Answer(.GET, url + path, headers)
  }

  func put(
    _ path: String, _ body: String, _ headers: [String: String] = [:]
  ) async throws -> Answer {
    try await Answer(.PUT, url + path, headers, body: body)
  }

  func delete(_ path: String, _ headers: [String: String] = [:]) async throws -> Answer {
    try await Answer(.DELETE, url + path, headers)
  }
}

/// An answer of a server.
struct Answer {
  let status: Int
  let text: String
  private let headers: HTTPHeaders

  init(
    _ method: HTTPMethod, _ url: String, _ headers: [String: String] = [:], body: String? = nil,
    timeout: TimeAmount = .seconds(20)
  ) async throws {
    var request = HTTPClientRequest(url: url)
    request.method = method
    for (name, value) in headers { request.headers.add(name: name, value: value) }
    if let body { request.body = .bytes(ByteBuffer(string: body)) }
    let response = try await HTTPClient.shared.execute(request, timeout: timeout)
    status = Int(response.status.code)
    self.headers = response.headers
    text = String(buffer: try await response.body.collect(upTo: 1 << 24))
  }

  subscript(name: String) -> String? { headers.first(name: name) }

  /// The body.
  var json: JSONValue { get throws { try JSONValue(parsing: text) } }

  /// The names and versions of a page.
  var pods: [String] {
    get throws {
      let pods = try #require(try json["pods"]?.arrayValue)
      return pods.map { "\($0["name"]?.stringValue ?? "") \($0["version"]?.stringValue ?? "")" }
    }
  }
}

/// Runs `body` with a new folder, which is deleted afterwards.
func withFolder(_ body: (URL) async throws -> Void) async throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: "server-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try await body(folder)
}

/// Returns a program that is built next to the tests.
func program(_ name: String, _ arguments: String...) -> Process {
  let process = Process()
  process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appending(path: name)
  process.arguments = arguments
  return process
}

/// Runs `kvdump verify`, which checks every rule of the format independently of the store's code.
func verify(_ path: String) throws {
  let kvdump = program("kvdump", "verify", path)
  let output = Pipe()
  kvdump.standardOutput = output
  kvdump.standardError = output
  try kvdump.run()
  let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  kvdump.waitUntilExit()
  #expect(kvdump.terminationStatus == 0, "\(text)")
}
