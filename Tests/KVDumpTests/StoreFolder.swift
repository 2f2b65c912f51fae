import Testing

@testable import KVDumpCommands

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A folder for one test, with a store and the files that are imported into it.
final class StoreFolder {
  let path: String
  var store: String { path + "/a.lodestore" }

  init(inMemory: Bool = false) throws {
    path =
      inMemory
      ? scratchFolderPath()
      : FileManager.default.temporaryDirectory.path + "/kvdump-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a file and returns its path.
  func file(_ name: String, _ text: String) throws -> String {
    let file = path + "/" + name
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    return file
  }

  /// The names in the folder, in order.
  func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  func bytes(_ file: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: file)) }

  /// The outcome of a command line: its status and both streams.
  struct Outcome {
    let status: KVDumpCommands.ExitStatus
    let data: String
    let messages: String
  }

  /// Runs a command on the store: `command`, the store, then `arguments`.
  @discardableResult
  func run(
    _ command: String, _ arguments: String..., width: Int? = nil
  ) async -> Outcome {
    let memory = MemoryConsole(width: width)
    let status = await KVDump.execute([command, store] + arguments, on: memory.console)
    return Outcome(status: status, data: memory.data.text, messages: memory.messages.text)
  }

  /// Imports `text` as a file, and expects the import to succeed.
  @discardableResult
  func load(
    _ text: String, _ arguments: String..., name: String = "page.json"
  ) async throws -> Outcome {
    let memory = MemoryConsole()
    let file = try file(name, text)
    let status = await KVDump.execute(["import", store, file] + arguments, on: memory.console)
    try #require(status == .success, "\(memory.messages.text)")
    return Outcome(status: status, data: memory.data.text, messages: memory.messages.text)
  }

  /// Returns whether the store keeps every rule of the format.
  func isSound() async -> Bool {
    let outcome = await run("verify")
    if outcome.status != .success { print(outcome.data, outcome.messages) }
    return outcome.status == .success
  }
}

/// A report without the time it took.
func counts(_ report: String) -> String {
  guard let start = report.firstRange(of: ",\"seconds\":"),
    let end = report[start.upperBound...].firstIndex(of: ",")
  else { return report }
  return String(report[..<start.lowerBound] + report[end...])
}
