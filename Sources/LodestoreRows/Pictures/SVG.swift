/// A picture as markup, made of elements and text only.
///
/// Elements of HTML cannot be inside, because a browser would end the picture at them.
package struct SVG: Sendable {
  package private(set) var bytes: [UInt8] = []

  /// The names of elements that pictures use.
  package enum Element: String {
    case a, circle, desc, path, rect, style, svg, text, title
  }

  /// Attributes whose values are numbers.
  package enum Number: String {
    case cx, cy, height, r, rx, width, x, y
  }

  /// An attribute of an element, whose name comes from the source code.
  package enum Attribute {
    case number(Number, Double)
    /// The classes of the element, with spaces between them.
    case `class`(StaticString)
    case constant(StaticString, StaticString)
    case href(Drawing.Link)
    case label(String)
    /// The commands of a path: `M` and the first point, then `L` or `C` and further points.
    case path([(command: StaticString, points: [Point])])
    case viewBox(width: Double, height: Double)
  }

  /// A point, in units of the picture.
  package struct Point: Sendable, Hashable {
    package var x: Double
    package var y: Double

    package init(_ x: Double, _ y: Double) {
      self.x = x
      self.y = y
    }
  }

  package init() {}

  package init(_ element: Element, _ attributes: [Attribute], _ content: SVG = SVG()) {
    bytes.append(UInt8(ascii: "<"))
    bytes.append(contentsOf: element.rawValue.utf8)
    for attribute in attributes { append(attribute) }
    bytes.append(UInt8(ascii: ">"))
    bytes.append(contentsOf: content.bytes)
    bytes.append(contentsOf: "</\(element.rawValue)>".utf8)
  }

  package init(text: String) { VisibleText.appendPlainly(text, to: &bytes) }

  package mutating func append(_ other: SVG) { bytes.append(contentsOf: other.bytes) }

  private mutating func append(_ attribute: Attribute) {
    switch attribute {
    case .number(let name, let value): append(name.rawValue, Self.text(value))
    case .class(let names): append("class", names.description)
    case .constant(let name, let value): append(name.description, value.description)
    case .href(let link): append("href", link.text)
    case .label(let text): append("aria-label", text)
    case .path(let parts):
      let texts = parts.map { part in
        part.command.description
          + part.points.map { "\(Self.text($0.x)) \(Self.text($0.y))" }.joined(separator: " ")
      }
      append("d", texts.joined())
    case .viewBox(let width, let height):
      append("viewBox", "0 0 \(Self.text(width)) \(Self.text(height))")
    }
  }

  private mutating func append(_ name: String, _ value: String) {
    bytes.append(contentsOf: " \(name)=\"".utf8)
    VisibleText.appendPlainly(value, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  /// The number with at most two digits after the point; 0 for a number that is not finite.
  private static func text(_ number: Double) -> String {
    let rounded = (number * 100).rounded() / 100
    guard rounded.isFinite, abs(rounded) < 1e9 else { return "0" }
    return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
  }
}
