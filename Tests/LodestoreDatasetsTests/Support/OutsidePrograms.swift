import Foundation

/// A program of the system that tests compare with; if it is absent, the test is skipped with a
/// message.
enum OutsideProgram {
  /// The path of a program in the usual folders or those of PATH; `nil` with a printed message if
  /// it is absent.
  static func path(_ name: String) -> String? {
    let folders =
      ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"]
      + (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    let found = folders.map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
    if found == nil { print("skipped: \(name) is not installed") }
    return found
  }

  /// Runs a program to its end.
  static func run(
    _ path: String, _ arguments: [String], environment: [String: String] = [:]
  ) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }
}

/// The folder of the package.
let packageFolder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

/// The path of a program that is built next to the tests; `nil` with a message if it is missing.
func builtProgram(_ name: String) -> String? {
  let path = CommandLine.arguments.first.map {
    URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/" + name
  }
  if let path, FileManager.default.isExecutableFile(atPath: path) { return path }
  print("skipped: no \(name) beside the tests")
  return nil
}
