import Foundation

/// Memory that the system has free.
///
/// In a virtual machine whose host takes free memory back, the first to use it again pays for it:
/// the copy of a commit into the page cache took up to six times as long, for whichever side met such
/// memory.
enum FreeMemory {
  private static let usualByteCount = 512 << 20
  private static let chunk = Data(count: 1 << 20)

  /// Has free memory given to a file in `directory`, and back, so that what is measured next finds it
  /// at hand; the pages of files are not taken from where a process gets its memory.
  ///
  /// - Parameter expected: what will be needed, if it is more than usual; an eighth of the machine's
  ///   memory is the most that is touched.
  static func touch(in directory: String, byteCount expected: Int = 0) throws {
    let most = Int(clamping: ProcessInfo.processInfo.physicalMemory / 8)
    let byteCount = max(usualByteCount, min(expected, most))
    let path = "\(directory)/memory.work"
    defer { unlink(path) }
    try Data().write(to: URL(fileURLWithPath: path))
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    for _ in 0..<byteCount / chunk.count { try file.write(contentsOf: chunk) }
    try file.close()
  }
}
