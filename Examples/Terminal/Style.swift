/// A colour or weight of text on a terminal.
public enum Style: String, Sendable, CaseIterable {
  case bold = "1"
  case dim = "2"
  case red = "31"
  case green = "32"
  case yellow = "33"
  case blue = "34"
  case cyan = "36"

  var start: String { "\u{1B}[\(rawValue)m" }
  static let end = "\u{1B}[0m"
}
