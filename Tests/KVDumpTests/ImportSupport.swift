// Whole Foundation: `Process` is not in FoundationEssentials.
import Foundation
import EntityStore
import Testing

@testable import KVDumpCommands

extension StoreFolder {
  /// Runs `import` with these files and options.
  func importing(_ arguments: [String], environment: [String: String] = [:]) async -> Outcome {
    let memory = MemoryConsole(environment: environment)
    let status = await KVDump.execute(["import", store] + arguments, on: memory.console)
    return Outcome(status: status, data: memory.data.text, messages: memory.messages.text)
  }

  func makeFolder(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  func files(in path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path)
  }

  /// The counts of a report.
  func report(_ outcome: Outcome) throws -> ImportCounts {
    let report = try JSONValue(parsing: outcome.data)
    func count(_ name: String) throws -> Int { Int(try #require(report[name]?.intValue)) }
    return ImportCounts(
      records: try count("records"), inserted: try count("inserted"),
      updated: try count("updated"), unchanged: try count("unchanged"),
      deleted: try count("deleted"), rejected: try count("rejected"))
  }

  /// The reports of an import, the newest first.
  func imports(_ name: String) async throws -> [JSONValue] {
    let outcome = await run("imports", name, "--format", "json")
    try #require(outcome.status == .success, "\(outcome.messages)")
    return try JSONValue(parsing: outcome.data).arrayValue ?? []
  }
}

/// The counts of an import.
struct ImportCounts: Equatable {
  var records = 0
  var inserted = 0
  var updated = 0
  var unchanged = 0
  var deleted = 0
  var rejected = 0
}

/// A process of `kvdump import`, which reads the bytes that the test writes to it.
struct PipedImport {
  let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  init(_ tool: String, _ store: String, _ arguments: [String]) throws {
    process.executableURL = URL(fileURLWithPath: tool)
    process.arguments = ["import", store, "-"] + arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  func write(_ text: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
  }

  /// Waits until the store in `folder` has pages of the run that is open.
  func waitForPages(_ folder: StoreFolder, _ name: String) async throws {
    while process.isRunning {
      let newest = try await folder.imports(name).first
      if newest?["ending"]?.stringValue == "open", newest?["pages"]?.intValue ?? 0 > 0 { return }
      try await Task.sleep(for: .milliseconds(20))
    }
    Issue.record("the import ended by itself")
  }

  /// Closes the input, waits for the end, and returns the output.
  func finish() throws -> String {
    try input.fileHandleForWriting.close()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }

  /// Kills it, as nothing can be caught.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
