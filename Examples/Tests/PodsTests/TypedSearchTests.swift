import Foundation
import Pods
import Service
import TestSupport
import Testing

/// The program runs on a pseudo terminal.
@Suite(.timeLimit(.minutes(2))) struct `Searching pods while typing` {
  /// Runs `body` with the program on a terminal, searching the project's samples.
  private func withSearch(_ body: (PseudoTerminal, Process) async throws -> Void) async throws {
    try await withStorePath { path in
      let library = try PodLibrary(at: path)
      let service = try await Service.start(try .samples())
      _ = try await library.synchronize(with: service.url)
      await service.stop()
      library.store.close()
      let terminal = try PseudoTerminal()
      #expect(terminal.isAsBefore)
      let process = program("pods", ["search", "--store", path])
      // Without this variable, Swift's crash report would ask a question on the terminal.
      process.environment = ProcessInfo.processInfo.environment
        .merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
      process.standardInput = terminal.program
      process.standardOutput = terminal.program
      try process.run()
      defer { process.terminate() }
      try await terminal.expect("63 for \"\" in")
      #expect(!terminal.isAsBefore)
      try await body(terminal, process)
    }
  }

  @Test func `each key starts a search, and the terminal is restored`() async throws {
    try await withSearch { terminal, process in
      try terminal.type("sq")
      let shown = try await terminal.expect("6 for \"sq\" in")
      #expect(shown.contains("GRDB.swift") && shown.contains("FMDB"))
      try terminal.type("lite")
      try await terminal.expect("4 for \"sqlite\" in")
      try terminal.type("\u{7F}\u{7F}\u{17}é")
      try await terminal.expect("for \"é\" in")
      try terminal.type("\r")
      process.waitUntilExit()
      #expect(process.terminationReason == .exit && process.terminationStatus == 0)
      #expect(terminal.isAsBefore)
    }
  }

  @Test func `text that arrives at once is searched for completely`() async throws {
    try await withSearch { terminal, process in
      try terminal.type("gwendal roue")
      let shown = try await terminal.expect("2 for \"gwendal roue\" in")
      #expect(shown.contains("GRDB.swift"))
      try terminal.type("\u{4}")
      process.waitUntilExit()
      #expect(process.terminationStatus == 0 && terminal.isAsBefore)
    }
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV])
  func `a signal ends the search as usual, and the terminal is restored`(signal: Int32) async throws
  {
    try await withSearch { terminal, process in
      try terminal.type("s")
      try await terminal.expect("for \"s\" in")
      kill(process.processIdentifier, signal)
      process.waitUntilExit()
      #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == signal)
      #expect(terminal.isAsBefore)
    }
  }

  @Test func `a search without a terminal runs for each line`() async throws {
    try await withStorePath { path in
      _ = try PodLibrary(at: path)
      let (input, output) = (Pipe(), Pipe())
      let process = program("pods", ["search", "--store", path])
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      try input.fileHandleForWriting.write(contentsOf: Data("json\nsqlite\n".utf8))
      try input.fileHandleForWriting.close()
      let text = String(
        decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      #expect(text.contains("0 for \"json\" in") && text.contains("0 for \"sqlite\" in"))
      #expect(!text.contains("\u{1B}"))
    }
  }
}
