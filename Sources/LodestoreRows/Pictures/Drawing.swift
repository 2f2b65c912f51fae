/// A picture that shows values, as shapes without markup.
package struct Drawing: Sendable {
  package typealias Point = SVG.Point

  /// An address to which a shape leads.
  package struct Link: Sendable {
    let text: String

    package init(_ text: String) { self.text = text }
  }

  package enum Shape: Sendable {
    case box(x: Double, y: Double, width: Double, height: Double, Style)
    case line([Point], Style)
    case curve(Point, Point, Point, Point, Style)
    case dot(Point, Style)
    case text(String, Point, Style, Anchor = .start)
    /// Shapes that lead to an address.
    case link(Link, label: String, [Shape])
  }

  /// The part of a picture that a shape is, which decides its colors.
  package enum Style: Sendable {
    case frame, heading, edge, axis, bar, strong, faint
    /// Parts of a map.
    case grid, land, water
    /// An area whose shade grows with a number from 1 to 5.
    case heat(Int)
  }

  package enum Form: Sendable {
    /// Drawn in its size.
    case chart
    /// Drawn in the width of the window. The Tab key does not stop at its links, which are many.
    case map
  }

  package enum Anchor: Sendable {
    case start, middle, end
  }

  /// The subject of the picture, in a few words.
  package var title: String
  /// The essence of the picture, in a sentence.
  package var summary: String
  package var width: Double
  package var height: Double
  package var form = Form.chart
  package var shapes: [Shape] = []

  package init(
    title: String, summary: String, width: Double, height: Double, shapes: [Shape] = []
  ) {
    self.title = title
    self.summary = summary
    self.width = width
    self.height = height
    self.shapes = shapes
  }

  /// The approximate width of a text, in units of the picture.
  package static func width(of text: String) -> Double {
    text.unicodeScalars.reduce(0) { $0 + ($1.value < 0x1100 ? 7.9 : 15.8) }
  }

  /// The beginning of a text that fits a width.
  package static func cut(_ text: String, to width: Double) -> String {
    guard self.width(of: text) > width else { return text }
    var cut = ""
    for character in text {
      if self.width(of: cut) + self.width(of: String(character)) + 8 > width { break }
      cut.append(character)
    }
    return cut + "…"
  }
}
