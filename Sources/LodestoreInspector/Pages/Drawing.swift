/// A picture that shows values of a page.
///
/// The table below the picture has the values, for people who do not see it and for programs.
struct Drawing: Sendable {
  typealias Point = SVG.Point

  enum Shape: Sendable {
    case box(x: Double, y: Double, width: Double, height: Double, Style)
    case line([Point], Style)
    case curve(Point, Point, Point, Point, Style)
    case dot(Point, Style)
    case text(String, Point, Style, Anchor = .start)
    /// Shapes that lead to a page.
    case link(Route, label: String, [Shape])
  }

  /// The part of a picture that a shape is, which decides its colors.
  enum Style: Sendable {
    case frame, heading, edge, axis, bar, strong, faint
  }

  enum Anchor: Sendable {
    case start, middle, end
  }

  /// The subject of the picture, in a few words.
  var title: String
  /// The essence of the picture, in a sentence.
  var summary: String
  var width: Double
  var height: Double
  var shapes: [Shape] = []
  var table: Table

  /// The approximate width of a text, in units of the picture.
  static func width(of text: String) -> Double {
    text.unicodeScalars.reduce(0) { $0 + ($1.value < 0x1100 ? 7.9 : 15.8) }
  }

  /// The beginning of a text that fits a width.
  static func cut(_ text: String, to width: Double) -> String {
    guard self.width(of: text) > width else { return text }
    var cut = ""
    for character in text {
      if self.width(of: cut) + self.width(of: String(character)) + 8 > width { break }
      cut.append(character)
    }
    return cut + "…"
  }
}
