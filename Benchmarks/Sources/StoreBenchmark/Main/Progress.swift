import Foundation

/// Shows the progress of the run on one line of a terminal.
enum Progress {
  private static let isShown = isatty(STDERR_FILENO) == 1

  static func show(_ text: String) { write("\r\u{1B}[K\(text)") }
  static func clear() { write("\r\u{1B}[K") }

  private static func write(_ text: String) {
    if isShown { FileHandle.standardError.write(Data(text.utf8)) }
  }
}
