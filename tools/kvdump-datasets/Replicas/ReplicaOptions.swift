import EntityStore
import Foundation
import KVDumpCommands
import LodestoreJSON
import LodestoreReplicas

/// The place of a replica on a command line.
enum ReplicaStorageText {
  /// An address of an S3-compatible service, or the path of a folder.
  static func bucket(_ text: String) throws -> ReplicaStorage {
    text.contains("://") ? try .s3(text) : try .folder(text)
  }

  static let help =
    "An address such as https://host/bucket/prefix or s3://bucket/prefix, or a folder."

  /// The paragraph about credentials in help pages.
  static let credentials = """
    Keys for an address come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from \
    ~/.aws/credentials.
    """
}

/// Runs `body` in a task of its own, and shows the texts that it reports as a line.
func showingProgress<R: Sendable>(
  on console: Console,
  _ body: @escaping @Sendable (_ report: @escaping @Sendable (String) -> Void) async throws -> R
) async throws -> R {
  let (texts, continuation) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingNewest(1))
  let work = Task {
    defer { continuation.finish() }
    return try await body { continuation.yield($0) }
  }
  var line = console.progress()
  for await text in texts { line.show(text) }
  line.end()
  return try await work.value
}

extension ReplicaProgress {
  /// The progress as a line shows it.
  var text: String {
    "\(step.rawValue)  " + (fraction.map { KVDumpCommands.Progress.text($0) } ?? "\(completed)")
  }
}

/// Waits for Control-C or another signal that asks the command to end.
enum EndSignal {
  static func wait() async {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    var sources: [any DispatchSourceSignal] = []
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield() }
      source.resume()
      sources.append(source)
    }
    for await _ in stream { break }
    for source in sources { source.cancel() }
  }

  /// Waits for a signal, and calls `look` every second, which throws the failure that ends the
  /// work.
  static func wait(_ look: @escaping @Sendable () throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await wait() }
      group.addTask {
        while true {
          try look()
          try await Task.sleep(for: .seconds(1))
        }
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }
}

func dateCell(_ date: Date?) -> Cell {
  date.flatMap { ISO8601Text.text($0) }.map(Cell.date) ?? .null
}
