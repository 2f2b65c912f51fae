internal import LodestoreRows

/// Markup in which text cannot become markup.
///
/// A value is made of elements and text only. The names of elements and attributes are cases of
/// enumerations, and the initializer for text escapes. No initializer takes finished markup.
///
///     HTML(.p, .class("note")) {
///       "Records with <script> are text."
///       HTML(.a, .href(route.address)) { "Back" }
///     }
struct HTML: Sendable {
  private(set) var bytes: [UInt8] = []

  /// Makes no markup at all.
  init() {}

  /// Makes an element with its content.
  init(
    _ name: ElementName, _ attributes: HTMLAttribute..., @HTMLBuilder content: () -> HTML
  ) {
    self.init(name, attributes, content())
  }

  /// Makes an element without content.
  init(_ name: ElementName, _ attributes: HTMLAttribute...) {
    self.init(name, attributes, HTML())
  }

  init(_ name: ElementName, _ attributes: [HTMLAttribute], _ content: HTML) {
    bytes.reserveCapacity(content.bytes.count + 64)
    bytes.append(UInt8(ascii: "<"))
    bytes.append(contentsOf: name.rawValue.utf8)
    for attribute in attributes { attribute.append(to: &bytes) }
    bytes.append(UInt8(ascii: ">"))
    guard !name.isVoid else { return }
    bytes.append(contentsOf: content.bytes)
    bytes.append(contentsOf: "</".utf8)
    bytes.append(contentsOf: name.rawValue.utf8)
    bytes.append(UInt8(ascii: ">"))
  }

  /// Makes text, in which invisible characters are shown as marks.
  ///
  /// - Parameter keepsLines: whether line ends and tabs stay, for preformatted text. Otherwise they
  ///   are marks too.
  init(text: String, keepsLines: Bool = false) {
    bytes.reserveCapacity(text.utf8.count)
    VisibleText.append(text, keepsLines: keepsLines, to: &bytes)
  }

  /// Makes the text of a field of several lines, with all its characters.
  static func area(_ attributes: [HTMLAttribute], text: String) -> HTML {
    var content = HTML()
    // Browsers leave out a line end at the beginning.
    content.bytes = [UInt8(ascii: "\n")]
    VisibleText.appendExactly(text, to: &content.bytes)
    return HTML(.textarea, attributes, content)
  }

  /// Makes a picture.
  init(_ picture: SVG) { bytes = picture.bytes }

  /// Makes an element that runs the script at an address of this server; it has no content.
  init(scriptAt address: Address) {
    bytes = Array("<script defer".utf8)
    HTMLAttribute.source(address).append(to: &bytes)
    bytes.append(contentsOf: "></script>".utf8)
  }

  /// Makes a complete document with the element `html`.
  static func document(_ root: HTML) -> [UInt8] {
    Array("<!DOCTYPE html>\n".utf8) + root.bytes + Array("\n".utf8)
  }

  var isEmpty: Bool { bytes.isEmpty }

  mutating func append(_ other: HTML) { bytes.append(contentsOf: other.bytes) }

  static func + (left: HTML, right: HTML) -> HTML {
    var sum = left
    sum.append(right)
    return sum
  }
}

/// The names of elements that pages use.
enum ElementName: String, Sendable {
  case a, article, aside, b, bdi, body, br, button, caption, code, datalist, dd, details, div, dl
  case dt, em, fieldset, figcaption, figure, footer, form, h1, h2, head, header, hr, html, input
  case label, legend, li, link, main, mark, meta, nav, ol, option, p, pre, section, select, small
  case span, strong, summary, table, tbody, td, textarea, th, thead, time, title, tr, ul, wbr

  var isVoid: Bool {
    switch self {
    case .br, .hr, .input, .link, .meta, .wbr: true
    default: false
    }
  }
}

/// Joins markup and text; a text is escaped.
@resultBuilder
enum HTMLBuilder {
  static func buildExpression(_ part: HTML) -> HTML { part }
  static func buildExpression(_ text: String) -> HTML { HTML(text: text) }

  static func buildBlock(_ parts: HTML...) -> HTML { joined(parts) }
  static func buildArray(_ parts: [HTML]) -> HTML { joined(parts) }
  static func buildOptional(_ part: HTML?) -> HTML { part ?? HTML() }
  static func buildEither(first: HTML) -> HTML { first }
  static func buildEither(second: HTML) -> HTML { second }

  private static func joined(_ parts: [HTML]) -> HTML {
    var all = HTML()
    for part in parts { all.append(part) }
    return all
  }
}
