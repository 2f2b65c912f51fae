public import Foundation

/// Runs `body` with the path of a store that does not exist yet, and verifies the resulting file.
///
/// `body` closes the stores that it opens.
///
/// - Throws: The error of `body`; ``UnsoundStore``.
public func withStorePath<R: Sendable>(
  isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> R
) async throws -> R {
  let folder = temporaryFolder()
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  let path = folder.appending(path: "test.lodestore").path
  let result = try await body(path)
  try verify(path)
  return result
}

/// Returns a process of a program that is built next to the tests.
public func program(_ name: String, _ arguments: [String]) -> Process {
  let process = Process()
  process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appending(path: name)
  process.arguments = arguments
  return process
}

/// The findings of the verifier in a file.
public struct UnsoundStore: Error, CustomStringConvertible {
  /// The report of `kvdump verify`.
  public let description: String
}

/// Checks each page, record and index of a file with `kvdump verify`, which does not use the
/// store's code.
///
/// - Throws: ``UnsoundStore``.
private func verify(_ path: String) throws {
  let verifier = program("kvdump", ["verify", path])
  let pipe = Pipe()
  verifier.standardOutput = pipe
  verifier.standardError = pipe
  try verifier.run()
  let report = try pipe.fileHandleForReading.readToEnd() ?? Data()
  verifier.waitUntilExit()
  guard verifier.terminationStatus == 0 else {
    throw UnsoundStore(description: String(decoding: report, as: UTF8.self))
  }
}

/// A folder in memory if the system has one, because the tests do not depend on the disk.
private func temporaryFolder() -> URL {
  let memory = "/dev/shm"
  let isUsable = FileManager.default.isWritableFile(atPath: memory)
  let parent = isUsable ? URL(filePath: memory) : FileManager.default.temporaryDirectory
  return parent.appending(path: "lodestore-examples-\(UUID().uuidString)")
}
