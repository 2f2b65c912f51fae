import Foundation

/// The free memory of the system.
///
/// In a virtual machine whose host takes free memory back, the first use of such memory is slow.
/// The copy of a commit into the page cache took up to six times as long, for whichever side used
/// such memory first.
enum FreeMemory {
  private static let usualByteCount = 512 << 20
  private static let chunk = Data(count: 1 << 20)

  /// Uses free memory for a file in `directory` and frees it again, so that it is available for the
  /// next measurement.
  ///
  /// A file is written, because the kernel takes the pages of files and the memory of processes
  /// from different free memory.
  ///
  /// - Parameter expected: The needed bytes, if more than usual; at most an eighth of the machine's
  ///   memory is touched.
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
