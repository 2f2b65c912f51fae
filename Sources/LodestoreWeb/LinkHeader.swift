/// The header field `Link`: RFC 8288, 3.
enum LinkHeader {
  /// The target of the first link with a relation; `nil` if no link has it.
  ///
  /// Links with the parameter `anchor` are about another page, and are ignored. Reading ends at
  /// text that is not a link.
  static func target(_ relation: String, in field: String) -> String? {
    var text = Scanner(field)
    while true {
      text.skip { $0 == 0x2C || isSpace($0) }
      guard text.take(0x3C), let target = text.take(until: 0x3E) else { return nil }
      if matches(relation, parameters(&text)) { return target }
    }
  }

  private static func matches(
    _ relation: String, _ parameters: [(name: String, value: String)]
  ) -> Bool {
    // If a link has several parameters `rel`, only the first one is used.
    guard let relations = parameters.first(where: { $0.name == "rel" })?.value else { return false }
    return !parameters.contains { $0.name == "anchor" }
      && relations.split(separator: " ").contains { $0.lowercased() == relation }
  }

  private static func parameters(_ text: inout Scanner) -> [(name: String, value: String)] {
    var parameters: [(name: String, value: String)] = []
    while true {
      text.skip(isSpace)
      guard text.take(0x3B) else { return parameters }
      text.skip(isSpace)
      let name = text.token()
      text.skip(isSpace)
      var value = ""
      if text.take(0x3D) {
        text.skip(isSpace)
        value = text.take(0x22) ? text.quoted() : text.token()
      }
      parameters.append((name.lowercased(), value))
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// Reads bytes without going beyond the last one.
  private struct Scanner {
    private let bytes: [UInt8]
    private var at = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func skip(_ isSkipped: (UInt8) -> Bool) {
      while at < bytes.count, isSkipped(bytes[at]) { at += 1 }
    }

    mutating func take(_ byte: UInt8) -> Bool {
      guard at < bytes.count, bytes[at] == byte else { return false }
      at += 1
      return true
    }

    /// Takes the text before a byte, and the byte; `nil` if the byte does not occur.
    mutating func take(until end: UInt8) -> String? {
      guard let found = bytes[at...].firstIndex(of: end) else { return nil }
      defer { at = found + 1 }
      return String(decoding: bytes[at..<found], as: UTF8.self)
    }

    /// Takes text without space, comma, semicolon and equals sign.
    mutating func token() -> String {
      let start = at
      skip { $0 > 0x20 && $0 != 0x2C && $0 != 0x3B && $0 != 0x3D }
      return String(decoding: bytes[start..<at], as: UTF8.self)
    }

    /// Takes the text up to a quote without a backslash before it.
    mutating func quoted() -> String {
      var text: [UInt8] = []
      while at < bytes.count, bytes[at] != 0x22 {
        if bytes[at] == 0x5C, at + 1 < bytes.count { at += 1 }
        text.append(bytes[at])
        at += 1
      }
      at = min(at + 1, bytes.count)
      return String(decoding: text, as: UTF8.self)
    }
  }
}
