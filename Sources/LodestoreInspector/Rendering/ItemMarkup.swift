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
  static func short(_ item: Item) -> HTML {
    linked(item.link, short(item.cell))
  }

  /// The complete value: lines stay, and nested values can be folded.
  static func full(_ item: Item) -> HTML {
    switch item.cell {
    case .json(let text):
      guard let root = try? JSONDocument.parsing(text.utf8).root else {
        return HTML(.code) { text }
      }
      return NestedMarkup.tree(root)
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
enum NestedMarkup {
  /// The number of elements of one list that are shown.
  private static let most = 200
  /// The nesting level below which lists are closed.
  private static let openLevels = 1

  static func tree(_ root: JSONNode) -> HTML { value(root, level: 0) }

  private static func value(_ node: JSONNode, level: Int) -> HTML {
    switch node.kind {
    case .null: HTML(.span, .class("null")) { "null" }
    case .bool: HTML(.span, .class("word")) { node.bool == true ? "true" : "false" }
    case .integer, .double: HTML(.span, .class("number")) { node.numberText ?? "" }
    case .string:
      HTML(.bdi, .class("text")) { HTML(text: node.string ?? "", keepsLines: true) }
    case .array: list(node, level)
    case .object: members(node, level)
    }
  }

  private static func list(_ node: JSONNode, _ level: Int) -> HTML {
    if node.count == 0 { return HTML(.code) { "[]" } }
    return folded(level, NumberText.counted(node.count, "element")) {
      HTML(.ol, .class("nested")) {
        for element in node.elements.prefix(most) {
          HTML(.li) { value(element, level: level + 1) }
        }
        rest(node)
      }
    }
  }

  private static func members(_ node: JSONNode, _ level: Int) -> HTML {
    if node.count == 0 { return HTML(.code) { "{}" } }
    return folded(level, NumberText.counted(node.count, "member")) {
      HTML(.dl, .class("nested")) {
        for (name, member) in node.members.prefix(most) {
          HTML(.div) {
            HTML(.dt) { HTML(.bdi) { name } }
            HTML(.dd) { value(member, level: level + 1) }
          }
        }
        rest(node)
      }
    }
  }

  private static func rest(_ node: JSONNode) -> HTML {
    guard node.count > most else { return HTML() }
    return HTML(.p, .class("faint")) { "and \(NumberText.grouped(node.count - most)) more" }
  }

  private static func folded(_ level: Int, _ summary: String, content: () -> HTML) -> HTML {
    let content = HTML(.summary) { summary } + content()
    return level < openLevels
      ? HTML(.details, [.flag(.open)], content) : HTML(.details, [], content)
  }
}
