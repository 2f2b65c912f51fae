#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The output of a program: a terminal, or a pipe or file that gets plain lines.
///
///     let terminal = Terminal.standardOutput
///     terminal.print(terminal.styled("done", .green))
///
/// Each text is written by one call, so lines of several threads do not mix.
public struct Terminal: Sendable {
  /// Whether the output is a terminal, so that lines may be overwritten.
  public let isInteractive: Bool
  /// Whether text may have colour.
  public let hasColor: Bool
  private let fixedSize: (columns: Int, rows: Int)?
  private let sink: @Sendable (String) -> Void

  /// Standard output.
  ///
  /// Colour needs a terminal, and no `NO_COLOR` in the environment.
  public static let standardOutput: Terminal = {
    let isInteractive = isatty(STDOUT_FILENO) == 1 && environment("TERM") != "dumb"
    return Terminal(
      isInteractive: isInteractive, hasColor: isInteractive && environment("NO_COLOR").isEmpty
    ) { writeAll(Array($0.utf8), to: STDOUT_FILENO) }
  }()

  /// Makes an output that passes each text to a closure, for example for a test.
  ///
  /// - Parameter size: The columns and rows; by default the size of standard output.
  public init(
    isInteractive: Bool, hasColor: Bool = false, size: (columns: Int, rows: Int)? = nil,
    sink: @escaping @Sendable (String) -> Void
  ) {
    self.isInteractive = isInteractive
    self.hasColor = hasColor
    fixedSize = size
    self.sink = sink
  }

  /// The number of columns of a line; 80 if the size is unknown.
  public var width: Int { size.columns }

  /// The number of lines on the screen; 24 if the size is unknown.
  public var height: Int { size.rows }

  /// Writes `text` and a line end.
  public func print(_ text: String = "") { sink(text + "\n") }

  /// Writes `text` without a line end.
  public func write(_ text: String) { sink(text) }

  /// Returns `text` in a style if the output has colour, otherwise `text` unchanged.
  public func styled(_ text: String, _ style: Style) -> String {
    hasColor && !text.isEmpty ? style.start + text + Style.end : text
  }

  /// Writes `title` as a heading after an empty line.
  public func heading(_ title: String) { print("\n" + styled(title, .bold)) }

  private var size: (columns: Int, rows: Int) {
    if let fixedSize { return fixedSize }
    var window = winsize()
    let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0 && window.ws_col > 0
    return isKnown ? (Int(window.ws_col), Int(window.ws_row)) : (80, 24)
  }
}

/// Returns a variable of the environment; empty if it is not set.
private func environment(_ name: String) -> String {
  getenv(name).map { String(cString: $0) } ?? ""
}

/// Writes all of `bytes`, even if the system takes only a part of them in each call.
private func writeAll(_ bytes: [UInt8], to descriptor: Int32) {
  bytes.withUnsafeBytes { buffer in
    var rest = buffer[...]
    while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
      let count = write(descriptor, start, rest.count)
      guard count > 0 || errno == EINTR else { return }
      rest = rest.dropFirst(max(count, 0))
    }
  }
}
