internal import EntityStore
internal import LodestoreJSON
internal import LodestoreRows

/// Values as markup.
///
/// Each text stands in a `bdi` element, so that the direction of its letters does not affect the
/// text around it.
enum ItemMarkup {
  /// The number of characters of a text that a cell of a table shows.
  static let longestInTable = 90

  /// The value on one line, cut to the width of a column.
  ///
  /// - Parameter highlighter: marks words in a text, which is then cut so that they are shown.
  static func short(_ item: Item, marking highlighter: SearchHighlighter? = nil) -> HTML {
    let marked = highlighter.flatMap { Self.marked(item.cell, by: $0) }
    return linked(item.link, marked ?? short(item.cell))
  }

  /// The number of characters of a text in which words are marked.
  private static let longestMarked = 16_384
  /// The number of characters that a cell of the usual width certainly shows.
  private static let shownInCell = 40

  /// A text with marked words; `nil` if no word is found.
  private static func marked(_ cell: Cell, by highlighter: SearchHighlighter) -> HTML? {
    let (whole, element): (String, ElementName)
    switch cell {
    case .text(let text): (whole, element) = (text, .bdi)
    case .json(let text): (whole, element) = (text, .code)
    default: return nil
    }
    let text = String(whole.prefix(longestMarked))
    var part = text[...]
    var ranges = highlighter.ranges(in: text)
    if let first = ranges.first, text.count > shownInCell {
      let isShown = text.distance(from: text.startIndex, to: first.upperBound) <= shownInCell
      let length = isShown ? longestInTable : shownInCell
      let snippet = highlighter.snippet(of: text, length: length)
      (part, ranges) = (snippet.text, snippet.ranges)
    }
    guard !ranges.isEmpty else { return nil }
    var content = HTML(text: part.startIndex > text.startIndex ? "…" : "")
    var end = part.startIndex
    for range in ranges {
      content.append(HTML(text: String(text[end..<range.lowerBound])))
      content.append(HTML(.mark) { String(text[range]) })
      end = range.upperBound
    }
    content.append(HTML(text: String(text[end..<part.endIndex])))
    let isCut = part.endIndex < text.endIndex || text.utf8.count < whole.utf8.count
    content.append(HTML(text: isCut ? "…" : ""))
    return HTML(element, [], content)
  }

  /// The complete value: lines stay, and nested values can be folded.
  static func full(_ field: Field) -> HTML {
    if let numbers = field.numbers {
      return HTML(.details) {
        HTML(.summary) { NumberText.counted(numbers.count, "number") }
        HTML(.code, .class("numbers")) { numbers.map { "\($0)" }.joined(separator: ", ") }
      }
    }
    if case .json(let text) = field.item.cell {
      guard let root = try? JSONDocument.parsing(text.utf8).root else {
        return HTML(.code) { text }
      }
      return NestedMarkup(field: field).tree(root)
    }
    return full(field.item) + equal(field, [], nil)
  }

  /// The link to the records with an equal value at a path inside a field.
  static func equal(_ field: Field, _ path: [String], _ value: JSONNode?) -> HTML {
    guard let route = field.equal?(path, value) else { return HTML() }
    let name = ([field.name] + path).joined(separator: ".")
    return HTML(text: " ")
      + HTML(
        .a, .class("equal"), .href(route.address),
        .text(.ariaLabel, "Find equal: records with this value of \(name)")
      ) { "find equal" }
  }

  private static func full(_ item: Item) -> HTML {
    switch item.cell {
    case .text(let text) where !text.isEmpty:
      return linked(
        item.link,
        HTML(.bdi, .class("text")) { HTML(text: text, keepsLines: true) })
    case .bytes(let bytes): return HTML(.code, .class("bytes")) { hexadecimal(bytes, most: 4_096) }
    default: return linked(item.link, short(item.cell))
    }
  }

  private static func linked(_ link: Route?, _ content: HTML) -> HTML {
    guard let link else { return content }
    return HTML(.a, .href(link.address)) { content }
  }

  private static func short(_ cell: Cell) -> HTML {
    switch cell {
    case .absent: HTML()
    case .null: HTML(.span, .class("null")) { "null" }
    case .bool(let flag): HTML(.span, .class("word")) { flag ? "true" : "false" }
    case .integer(let number): HTML(text: "\(number)")
    case .unsigned(let number): HTML(text: "\(number)")
    case .double(let number): HTML(text: "\(number)")
    case .number(let text): HTML(text: text)
    case .text(let text):
      text.isEmpty
        ? HTML(.span, .class("null")) { "empty" } : HTML(.bdi) { cut(text) }
    case .date(let text):
      HTML(.time, .text(.datetime, text), .text(.title, text)) { readable(date: text) }
    case .bytes(let bytes): HTML(.code) { hexadecimal(bytes, most: 16) }
    case .json(let text): HTML(.code) { cut(text) }
    case .count(let count): HTML(text: NumberText.grouped(count))
    case .byteCount(let count): HTML(text: NumberText.byteCount(count))
    case .share(let share): HTML(text: NumberText.share(share))
    }
  }

  /// The date with a space before the time, and without parts of a millisecond.
  private static func readable(date text: String) -> String {
    guard let time = text.firstIndex(of: "T") else { return text }
    var readable = text[..<time] + " " + text[text.index(after: time)...]
    if let dot = readable.firstIndex(of: "."), readable.last == "Z",
      let end = readable.index(
        dot, offsetBy: 4, limitedBy: readable.index(before: readable.endIndex))
    {
      readable = readable[..<end] + "Z"
    }
    return String(readable)
  }

  private static func cut(_ text: String) -> String {
    guard
      let end = text.index(
        text.startIndex, offsetBy: longestInTable, limitedBy: text.endIndex), end < text.endIndex
    else { return text }
    return text[..<end] + "…"
  }

  private static func hexadecimal(_ bytes: [UInt8], most: Int) -> String {
    let digits = bytes.prefix(most).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    let rest = bytes.count > most ? " … \(NumberText.counted(bytes.count, "byte"))" : ""
    return digits.joined(separator: " ") + rest
  }
}

/// Nested values as lists that can be folded without a script.
struct NestedMarkup {
  let field: Field

  /// The number of elements of one list that are shown.
  private static let most = 200
  /// The nesting level below which lists are closed.
  private static let openLevels = 1

  func tree(_ root: JSONNode) -> HTML { value(root, at: [], level: 0) }

  private func value(_ node: JSONNode, at path: [String]?, level: Int) -> HTML {
    let content = content(node, at: path, level: level)
    return path.map { content + ItemMarkup.equal(field, $0, node) } ?? content
  }

  /// The value without a link to equal ones.
  ///
  /// - Parameter path: the members that lead to the value; `nil` inside an array.
  private func content(_ node: JSONNode, at path: [String]?, level: Int) -> HTML {
    switch node.kind {
    case .null: HTML(.span, .class("null")) { "null" }
    case .bool: HTML(.span, .class("word")) { node.bool == true ? "true" : "false" }
    case .integer, .double: HTML(.span, .class("number")) { node.numberText ?? "" }
    case .string:
      HTML(.bdi, .class("text")) { HTML(text: node.string ?? "", keepsLines: true) }
    case .array: list(node, level)
    case .object: members(node, at: path, level)
    }
  }

  private func list(_ node: JSONNode, _ level: Int) -> HTML {
    if node.count == 0 { return HTML(.code) { "[]" } }
    return folded(level, NumberText.counted(node.count, "element")) {
      HTML(.ol, .class("nested")) {
        for element in node.elements.prefix(Self.most) {
          HTML(.li) { value(element, at: nil, level: level + 1) }
        }
        rest(node)
      }
    }
  }

  private func members(_ node: JSONNode, at path: [String]?, _ level: Int) -> HTML {
    if node.count == 0 { return HTML(.code) { "{}" } }
    return folded(level, NumberText.counted(node.count, "member")) {
      HTML(.dl, .class("nested")) {
        for (name, member) in node.members.prefix(Self.most) {
          HTML(.div) {
            HTML(.dt) { HTML(.bdi) { name } }
            HTML(.dd) { value(member, at: path.map { $0 + [name] }, level: level + 1) }
          }
        }
        rest(node)
      }
    }
  }

  private func rest(_ node: JSONNode) -> HTML {
    guard node.count > Self.most else { return HTML() }
    return HTML(.p, .class("faint")) { "and \(NumberText.grouped(node.count - Self.most)) more" }
  }

  private func folded(_ level: Int, _ summary: String, content: () -> HTML) -> HTML {
    let content = HTML(.summary) { summary } + content()
    return level < Self.openLevels
      ? HTML(.details, [.flag(.open)], content) : HTML(.details, [], content)
  }
}
