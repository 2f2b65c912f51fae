import EntityStore
import LodestoreSystem
import Testing

// Whole Foundation: `Process` is not in FoundationEssentials.
import Foundation

@testable import LodestoreInspector

@Suite("A client of PyPI's package mcp")
struct PythonClientTests {
  /// The interpreter; `MCP_PYTHON` names one of a virtual environment.
  private var interpreter: String {
    ProcessInfo.processInfo.environment["MCP_PYTHON"] ?? "python3"
  }

  @Test func `it calls every tool, and validates each answer`() async throws {
    let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let program = folder.path + "/kvdump-inspector"
    guard FileManager.default.fileExists(atPath: program) else {
      print("skipped: no kvdump-inspector beside the tests")
      return
    }
    let library = try await Library.withBooks(2_500)
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let (output, process) = (Pipe(), Process())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      interpreter, root.path + "/tools/test-mcp", library.store.path, "--program", program,
    ]
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let data = try await ReadingThreads().run {
      try output.fileHandleForReading.readToEnd() ?? Data()
    }
    process.waitUntilExit()
    let text = String(decoding: data, as: UTF8.self)
    if process.terminationStatus == 127 || text.hasPrefix("skipped: ") {
      print(text.hasPrefix("skipped: ") ? text : "skipped: no \(interpreter)")
      return
    }
    #expect(process.terminationStatus == 0, "\(text)")
    #expect(text.contains("version 2025-11-25: {'Author': 1, 'Book': 2500}"), "\(text)")
    #expect(text.contains("version 2026-07-28: {'Author': 1, 'Book': 2500}"), "\(text)")
  }
}
