import ArgumentParser

/// The values of `--color`.
enum ColorChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
  case auto, always, never

  /// Whether to use colour on a stream.
  ///
  /// The command line decides first, then `NO_COLOR`, then `CLICOLOR_FORCE`, then whether the
  /// stream is a terminal that is not dumb. `NO_COLOR` precedes `CLICOLOR_FORCE`, because a user
  /// who sets it wants the safe choice.
  func isEnabled(on terminal: Terminal, environment: [String: String]) -> Bool {
    switch self {
    case .always: return true
    case .never: return false
    case .auto: break
    }
    if let wish = environment["NO_COLOR"], !wish.isEmpty { return false }
    if let wish = environment["CLICOLOR_FORCE"], !wish.isEmpty, wish != "0" { return true }
    return terminal.isTerminal && terminal.hasStyle
  }
}

/// The few styles kvdump uses.
///
/// No style is the only sign of a meaning.
struct Style: Equatable, Sendable {
  let isEnabled: Bool

  static let plain = Style(isEnabled: false)

  /// The style of headings.
  func strong(_ text: String) -> String { wrapped(text, "1") }
  /// The style of text that is not a value, such as null.
  func faint(_ text: String) -> String { wrapped(text, "2") }
  /// The style of problems and failures.
  func problem(_ text: String) -> String { wrapped(text, "31") }
  /// The style of sound results.
  func sound(_ text: String) -> String { wrapped(text, "32") }

  /// The style of bars and columns.
  func chart(_ text: String) -> String { wrapped(text, "36") }

  private func wrapped(_ text: String, _ code: String) -> String {
    isEnabled && !text.isEmpty ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
  }
}
