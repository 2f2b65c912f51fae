import Foundation

/// An SVG drawing without references to other files.
///
/// The texts must not contain characters that XML escapes.
struct SVG {
  /// A white outline that makes a text readable on top of lines.
  static let halo = "paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round"

  private var lines: [String]

  init(width: Double, height: Double) {
    let size = "\(Self.number(width)) \(Self.number(height))"
    lines = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(size)\""
        + " width=\"\(Self.number(width))\" height=\"\(Self.number(height))\""
        + " font-family=\"system-ui, Helvetica, Arial, sans-serif\" font-size=\"13\">",
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>",
    ]
  }

  var text: String { lines.joined(separator: "\n") + "\n</svg>\n" }

  mutating func text(
    _ text: String, x: Double, y: Double, style: String, turned: Bool = false
  ) {
    let place = "x=\"\(Self.number(x))\" y=\"\(Self.number(y))\""
    let turn = turned ? " transform=\"rotate(-90 \(Self.number(x)) \(Self.number(y)))\"" : ""
    lines.append("<text \(place)\(turn) style=\"\(style)\">\(text)</text>")
  }

  mutating func line(
    _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, style: String
  ) {
    path([(x1, y1), (x2, y2)], style: "stroke-width:1;" + style)
  }

  mutating func path(_ points: [(x: Double, y: Double)], style: String) {
    let places = points.map { "\(Self.number($0.x)),\(Self.number($0.y))" }
    lines.append(
      "<polyline points=\"\(places.joined(separator: " "))\""
        + " style=\"fill:none;stroke-width:2;\(style)\"/>")
  }

  mutating func dot(_ x: Double, _ y: Double, style: String) {
    lines.append(
      "<circle cx=\"\(Self.number(x))\" cy=\"\(Self.number(y))\" r=\"4\" style=\"\(style)\"/>")
  }

  private static func number(_ number: Double) -> String { String(format: "%.1f", number) }
}
