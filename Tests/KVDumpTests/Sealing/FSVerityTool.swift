// Whole Foundation: `Process` is not in FoundationEssentials.
import Foundation
import Testing

/// The program `fsverity`, which calculates the digest of a file on its own.
enum FSVerityTool {
  private static let candidates = ["/usr/bin/fsverity", "/usr/sbin/fsverity", "/bin/fsverity"]

  /// The path of the program; `nil` with a printed line if it is not installed.
  static var path: String? {
    let found = candidates.first { FileManager.default.isExecutableFile(atPath: $0) }
    if found == nil { print("SKIPPED: fs-verity digests, because there is no program fsverity") }
    return found
  }

  /// The digest of a file in hexadecimal.
  static func digest(of file: String, by tool: String) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: tool)
    process.arguments = ["digest", "--compact", file]
    process.standardOutput = output
    try process.run()
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

extension Sequence<UInt8> {
  /// Two digits for each byte.
  var hexadecimal: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
