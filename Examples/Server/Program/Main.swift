import Foundation
import Lodestore
import Logging
import PodServer

/// `server`: see ``usage``.
@main
enum Main {
  static let usage = """
    server                   serves the podspecs
    options: --store FILE    where they are kept (server.lodestore)
             --host HOST     where it listens (127.0.0.1)
             --port N        where it listens; 0 is any port that is free (8080)
             --heartbeat N   seconds for which a stream of changes may be silent (15)
             --samples true  fills a new store from the project's samples only
    The environment variable LOG_LEVEL says what is logged (notice).
    """

  static func main() async {
    do {
      try await run(options(CommandLine.arguments.dropFirst()))
    } catch {
      FileHandle.standardError.write(Data("server: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run(_ values: [String: String]) async throws {
    var options = PodServer.Options()
    options.host = values["host"] ?? options.host
    options.port = try number("port", values) ?? options.port
    options.heartbeat = try number("heartbeat", values).map { .seconds($0) } ?? options.heartbeat
    var logger = Logger(label: "server") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel =
      ProcessInfo.processInfo.environment["LOG_LEVEL"].flatMap { .init(rawValue: $0) } ?? .notice

    let pods = try await PodStore(at: values["store"] ?? "server.lodestore")
    let source = values["samples"] == "true" ? PodSource.samples : .standard()
    let count = try await pods.fill(from: source)
    if count > 0 { say("Filled \(pods.store.path) with \(count) podspecs of \(source.file.path).") }
    let host = options.host
    try await PodServer(pods.store, options: options, logger: logger)
      .services { port in say(greeting("http://\(host):\(port)")) }
      .run()
    say("Stopped.")
  }

  /// Writes without a buffer, so that a pipe's reader receives each line immediately.
  private static func say(_ text: String) {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
  }

  private static func greeting(_ url: String) -> String {
    """
    Listening on \(url). Try, in another terminal:
      curl '\(url)/pods?name=AF&license=MIT&limit=3'
      curl -i \(url)/pods/AFNetworking/2.5.4
      curl -i \(url)/pods/AFNetworking/2.5.4 -H 'If-None-Match: "ETAG"'
      curl -N \(url)/changes
      curl -X PUT \(url)/pods/Mine/1.0 -H 'If-None-Match: *' -d '{"summary": "my own"}'
      curl \(url)/metrics
    """
  }

  private static func number(_ name: String, _ values: [String: String]) throws -> Int? {
    guard let text = values[name] else { return nil }
    guard let number = Int(text), number >= 0 else { throw UsageError("--\(name) is no number") }
    return number
  }

  private static func options(_ arguments: some Collection<String>) throws -> [String: String] {
    var values: [String: String] = [:]
    var rest = Array(arguments)[...]
    while let name = rest.popFirst() {
      guard ["--store", "--host", "--port", "--heartbeat", "--samples"].contains(name),
        let value = rest.popFirst()
      else { throw UsageError("there is no option \(name), or it lacks its value") }
      values[String(name.dropFirst(2))] = value
    }
    return values
  }
}

/// A wrong option of the command line.
struct UsageError: Error, CustomStringConvertible {
  let description: String

  init(_ reason: String) { description = "\(reason)\n\(Main.usage)" }
}
