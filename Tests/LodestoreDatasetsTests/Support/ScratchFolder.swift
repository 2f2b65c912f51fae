import Foundation
import Testing

/// An empty folder for one test, which is deleted with the object.
final class ScratchFolder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "/datasets-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file, and returns its path.
  @discardableResult
  func write(_ bytes: some Collection<UInt8>, to name: String) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
    return file(name)
  }

  func read(_ name: String) throws -> [UInt8] { try Self.bytes(of: file(name)) }

  static func bytes(of path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path)))
  }
}

/// Opens a file for reading and writing, empty, and closes it after `body`.
func withNewFile<R>(_ path: String, _ body: (Int32) throws -> R) throws -> R {
  let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
  try #require(descriptor >= 0)
  defer { close(descriptor) }
  return try body(descriptor)
}
