#if Datasets
  import Foundation
  import Testing

  @testable import LodestoreReplicas

  /// A process of the program `replica-session`, which is built next to the tests.
  enum ReplicaProcess {
    /// The output of a process.
    struct Outcome: Sendable {
      /// The number of the last write that the process reported as replicated; 0 for none.
      var acknowledged = 0
      /// The last line; `nil` if a signal has ended the process.
      var line: String?

      /// The slot and the write of the last line; `nil` after a failure.
      var place: (slot: UInt64, write: UInt64)? {
        let numbers = (line ?? "").split(separator: " ").compactMap { UInt64($0) }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
      }
    }

    /// The path of the program; `nil` with a printed message if it is not built.
    static let program: String? = {
      if let path = ProcessInfo.processInfo.environment["LODESTORE_REPLICA_SESSION"] {
        return path
      }
      let path = CommandLine.arguments.first.map {
        URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/replica-session"
      }
      if let path, FileManager.default.isExecutableFile(atPath: path) { return path }
      print("skipped: no replica-session beside the tests")
      return nil
    }()

    /// Each step with one of the counts, which each run draws; with all of them if
    /// `LODESTORE_KILLS` is set.
    static func kills(at steps: [String], _ counts: [Int]) -> [(step: String, count: Int)] {
      let hasAll = ProcessInfo.processInfo.environment["LODESTORE_KILLS"] != nil
      return steps.flatMap { step in
        (hasAll ? counts : counts.randomElement().map { [$0] } ?? []).map { (step, $0) }
      }
    }

    /// A process that was not started yet.
    static func process(_ words: [String], _ variables: [String: String]) throws -> Process {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: try #require(Self.program))
      process.arguments = words
      process.environment = ProcessInfo.processInfo.environment.merging([
        "AWS_ACCESS_KEY_ID": StorageServer.credentials.accessKey,
        "AWS_SECRET_ACCESS_KEY": StorageServer.credentials.secretKey,
        "AWS_REGION": "us-east-1",
      ]) { $1 }.merging(variables) { $1 }
      return process
    }

    /// Runs the program; returns its last line, or `nil` if a signal has ended it.
    static func run(_ words: [String]) async throws -> String? { try await outcome(of: words).line }

    /// Runs the program to its end.
    static func outcome(
      of words: [String], _ variables: [String: String] = [:]
    ) async throws -> Outcome {
      return try await Task.detached {
        let process = try process(words, variables)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(
          decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        var outcome = Outcome()
        for line in text.split(separator: "\n") {
          let words = line.split(separator: " ")
          if words.first == "acknowledged", let number = words.last.flatMap({ Int($0) }) {
            outcome.acknowledged = number
          }
        }
        if process.terminationReason != .uncaughtSignal {
          outcome.line = text.split(separator: "\n").last.map(String.init) ?? ""
        }
        return outcome
      }.value
    }
  }
#endif
