/// A path and a query of this server, decoded.
///
/// `Address(address.text)` equals `address`, whatever the parts contain.
struct Address: Hashable, Sendable {
  /// One name and value of a query.
  struct Item: Hashable, Sendable {
    var name: String
    var value: String
  }

  /// The parts of the path between slashes; empty for the root.
  var path: [String]
  var query: [Item]

  init(_ path: [String], _ query: [Item] = []) {
    self.path = path
    self.query = query
  }

  /// The maximum number of bytes of an address.
  static let longest = 16 << 10

  /// Parses the target of a request; `nil` for text that is no address.
  ///
  /// An address begins with a slash, and no part of its path is empty: `//host` would be a link to
  /// another server. Its escapes must be complete and the decoded bytes valid UTF-8.
  init?(_ text: String) {
    guard text.utf8.count <= Self.longest, text.utf8.first == UInt8(ascii: "/") else { return nil }
    let halves = text.utf8.split(
      separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    let parts = halves[0].dropFirst().split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    path = []
    query = []
    if parts.count > 1 || parts.first?.isEmpty == false {
      for part in parts {
        guard !part.isEmpty, let decoded = PercentText.decoded(part, plusIsSpace: false)
        else { return nil }
        path.append(decoded)
      }
    }
    guard halves.count == 2 else { return }
    for item in halves[1].split(separator: UInt8(ascii: "&")) {
      let sides = item.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentText.decoded(sides[0], plusIsSpace: true),
        let value = PercentText.decoded(sides.dropFirst().first ?? "".utf8[...], plusIsSpace: true)
      else { return nil }
      query.append(Item(name: name, value: value))
    }
  }

  /// The address as text for a request or a link.
  var text: String {
    var text = ""
    for part in path { text += "/" + PercentText.encoded(part, keeping: PercentText.pathPart) }
    if path.isEmpty { text = "/" }
    for (index, item) in query.enumerated() {
      text += index == 0 ? "?" : "&"
      text += PercentText.encoded(item.name, keeping: PercentText.queryPart)
      text += "=" + PercentText.encoded(item.value, keeping: PercentText.queryPart)
    }
    return text
  }
}

/// Percent escapes of addresses.
enum PercentText {
  /// The characters that a part of a path needs no escape for.
  static let pathPart = Set("-._~!$'()*+,;=:@".utf8)
  /// The characters that a name or a value of a query needs no escape for.
  static let queryPart = Set("-._~!$'()*,;:@/?".utf8)

  static func encoded(_ text: String, keeping kept: Set<UInt8>) -> String {
    var encoded = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      case _ where kept.contains(byte): encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        encoded += byte < 16 ? "%0" : "%"
        encoded += String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded
  }

  /// Returns the text; `nil` for an incomplete escape, or for bytes that are not UTF-8.
  static func decoded(_ bytes: some Sequence<UInt8>, plusIsSpace: Bool) -> String? {
    var decoded: [UInt8] = []
    var iterator = bytes.makeIterator()
    while let byte = iterator.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = iterator.next().flatMap(digit), let low = iterator.next().flatMap(digit)
        else { return nil }
        decoded.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
      default: decoded.append(byte)
      }
    }
    return String(validating: decoded, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
