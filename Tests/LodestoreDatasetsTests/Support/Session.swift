// Whole Foundation: `Process` is not in FoundationEssentials.
import Foundation
import Testing

/// A process of the program `dataset-session`, which is built next to the tests.
struct Session {
  /// The path of the program; `nil` with a printed message if it is not built.
  static let program: String? = {
    if let path = ProcessInfo.processInfo.environment["LODESTORE_DATASET_SESSION"] { return path }
    let path = CommandLine.arguments.first.map {
      URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/dataset-session"
    }
    if let path, FileManager.default.isExecutableFile(atPath: path) { return path }
    print("skipped: no dataset-session beside the tests")
    return nil
  }()

  /// The signal that ended a process, if any, and the lines that it printed.
  struct End {
    var signal: Int32?
    var lines: [String]

    var last: String { lines.last ?? "" }
  }

  private let process = Process()
  private let output = Pipe()
  private let input = Pipe()

  /// Starts the program with arguments, or another program that starts it.
  init(_ words: [String], through wrapper: [String] = []) throws {
    let program = try #require(Self.program)
    let line = wrapper + [program] + words
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = line
    process.standardOutput = output
    process.standardInput = input
    try process.run()
  }

  /// The first line that the process prints, while it runs.
  func firstLine() -> String {
    var bytes = Data()
    while true {
      let byte = output.fileHandleForReading.readData(ofLength: 1)
      if byte.isEmpty || byte[byte.startIndex] == 0x0A { break }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Ends the standard input, and waits for the end of the process.
  func end() throws -> End {
    try? input.fileHandleForWriting.close()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    // `env` replaces itself by the program, so the signal that ended the program is visible.
    let signal = process.terminationReason == .uncaughtSignal ? process.terminationStatus : nil
    return End(signal: signal, lines: text.split(separator: "\n").map(String.init))
  }

  static func run(_ words: String..., through wrapper: [String] = []) throws -> End {
    try Session(words, through: wrapper).end()
  }
}
