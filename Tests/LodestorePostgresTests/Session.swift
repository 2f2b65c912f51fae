#if Postgres
  // Whole Foundation: `Process` is not in FoundationEssentials.
  import Foundation
  import Testing

  /// A process of the program `postgres-session`, which is built next to the tests.
  struct Session {
    /// The path of the program; `nil` with a printed message if it is not built.
    static let program: String? = {
      let path = CommandLine.arguments.first.map {
        URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/postgres-session"
      }
      if let path, FileManager.default.isExecutableFile(atPath: path) { return path }
      print("skipped: no postgres-session beside the tests")
      return nil
    }()

    /// The signal that ended a process, if any, and the lines that it printed.
    struct End {
      var signal: Int32?
      var lines: [String]
    }

    private let process = Process()
    private let output = Pipe()
    private let input = Pipe()

    init(_ words: [String]) throws {
      process.executableURL = URL(fileURLWithPath: try #require(Self.program))
      process.arguments = words
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

    func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

    /// Ends the standard input, and waits for the end of the process.
    func end() throws -> End {
      try? input.fileHandleForWriting.close()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      let signal = process.terminationReason == .uncaughtSignal ? process.terminationStatus : nil
      return End(signal: signal, lines: text.split(separator: "\n").map(String.init))
    }
  }
#endif
