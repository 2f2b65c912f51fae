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
/// Whole texts are written at once, so that lines of several threads do not mix.
public struct Terminal: Sendable {
  /// Whether a person sees the output, so that lines may be overwritten.
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

  /// A terminal that writes elsewhere, as into a list of a test.
  ///
  /// - Parameter size: columns and rows; that of standard output where it is left out.
  public init(
    isInteractive: Bool, hasColor: Bool = false, size: (columns: Int, rows: Int)? = nil,
    sink: @escaping @Sendable (String) -> Void
  ) {
    self.isInteractive = isInteractive
    self.hasColor = hasColor
    fixedSize = size
    self.sink = sink
  }

  /// How many columns a line has; 80 where nobody says.
  public var width: Int { size.columns }

  /// How many lines are on the screen; 24 where nobody says.
  public var height: Int { size.rows }

  /// `text` and a line end.
  public func print(_ text: String = "") { sink(text + "\n") }

  /// `text` as it is.
  public func write(_ text: String) { sink(text) }

  /// `text` in a style, where there is colour.
  public func styled(_ text: String, _ style: Style) -> String {
    hasColor && !text.isEmpty ? style.start + text + Style.end : text
  }

  /// `title` as a heading, with an empty line before it.
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

/// Writes all of `bytes`, also where the system takes them piece by piece.
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
