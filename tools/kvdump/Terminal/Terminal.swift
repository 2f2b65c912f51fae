import LodestoreSystem

/// The properties of an output stream.
struct Terminal: Equatable, Sendable {
  /// The size of the screen in characters.
  struct Size: Equatable, Sendable {
    let columns: Int
    let rows: Int
  }

  /// The size; `nil` if the stream is not a terminal.
  ///
  /// If the size is `nil`, nothing is cut, coloured or paged.
  let size: Size?
  /// Whether escape sequences for style are understood.
  let hasStyle: Bool

  var isTerminal: Bool { size != nil }

  /// A file, a pipe or memory.
  static let none = Terminal(size: nil, hasStyle: false)

  init(size: Size?, hasStyle: Bool = true) {
    self.size = size
    self.hasStyle = hasStyle
  }

  /// Examines an open file descriptor.
  ///
  /// A terminal that does not report its size is assumed to have `COLUMNS` × `LINES`, or 80 × 24.
  init(descriptor: Int32, environment: [String: String]) {
    hasStyle = environment["TERM"] != "dumb"
    guard isatty(descriptor) == 1 else {
      size = nil
      return
    }
    var window = winsize()
    let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0
    func side(_ told: UInt16, _ variable: String, _ fallback: Int) -> Int {
      if isKnown, told > 0 { return Int(told) }
      return environment[variable].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? fallback
    }
    size = Size(columns: side(window.ws_col, "COLUMNS", 80), rows: side(window.ws_row, "LINES", 24))
  }
}
