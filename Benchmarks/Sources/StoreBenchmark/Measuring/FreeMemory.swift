import Foundation

/// Memory that the system has free.
///
/// In a virtual machine whose host takes free memory back, the first to use it again pays for it:
/// the copy of a commit into the page cache took up to six times as long, for whichever side met such
/// memory.
enum FreeMemory {
  private static let byteCount = 512 << 20
  private static let chunk = Data(count: 1 << 20)

  /// Has free memory given to a file in `directory`, and back, so that what is measured next finds it
  /// at hand; the pages of files are not taken from where a process gets its memory.
  static func touch(in directory: String) throws {
    let path = "\(directory)/memory.work"
    defer { unlink(path) }
    try Data().write(to: URL(fileURLWithPath: path))
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    for _ in 0..<byteCount / chunk.count { try file.write(contentsOf: chunk) }
    try file.close()
  }
}
