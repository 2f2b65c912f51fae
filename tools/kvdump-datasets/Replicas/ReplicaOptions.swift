import EntityStore
import Foundation
import KVDumpCommands
import LodestoreJSON
import LodestoreReplicas
import Synchronization

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
  on console: Console, _ body: @escaping @Sendable (_ report: ProgressReport) async throws -> R
) async throws -> R {
  let (texts, continuation) = AsyncStream<ProgressReport.Text>.makeStream(
    bufferingPolicy: .bufferingNewest(64))
  let work = Task {
    defer { continuation.finish() }
    return try await body(ProgressReport(continuation))
  }
  let line = console.progress()
  for await text in texts {
    switch text {
    case .progress(let text): line.show(text)
    case .note(let text):
      line.clear()
      console.noteAtOnce(text)
    }
  }
  line.end()
  return try await work.value
}

/// The texts that a long command shows while it runs.
final class ProgressReport: Sendable {
  enum Text: Sendable {
    /// The line of progress, which only a terminal shows.
    case progress(String)
    /// A line of its own, also without a terminal.
    case note(String)
  }

  private let continuation: AsyncStream<Text>.Continuation
  /// The number of looks in a row that found a failure.
  private let failures = Mutex(0)

  init(_ continuation: AsyncStream<Text>.Continuation) { self.continuation = continuation }

  func callAsFunction(_ text: String) { continuation.yield(.progress(text)) }

  /// Takes the last failure every second, and notes its begin and its end.
  ///
  /// One look alone does not count, because most failures of a storage pass by the next request.
  func look(at failure: ReplicaError?) {
    let count = failures.withLock { count in
      defer { count = failure == nil ? 0 : count + 1 }
      return count
    }
    if let failure, count == 1 {
      continuation.yield(.note("\(failure.message). The command repeats the call by itself."))
    } else if failure == nil, count > 1 {
      continuation.yield(.note("the storage works again"))
    }
  }
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
    // The work after the wait may need a storage that does not answer. A second signal ends the
    // process at once, which loses nothing.
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
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
