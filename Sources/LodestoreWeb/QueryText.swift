internal import Foundation

/// The query of an address as text.
///
/// `URLQueryItem` is not used, because it leaves `+` unchanged, which many services read as a
/// space.
enum QueryText {
  /// The parts between ampersands, as written in the address.
  static func pairs(_ url: URL) -> [String] {
    (url.query(percentEncoded: true) ?? "").split(separator: "&").map(String.init)
  }

  /// The decoded name of a part.
  static func name(_ pair: String) -> String { decoded(pair.prefix { $0 != "=" }) }

  /// The decoded value of a part.
  static func value(_ pair: String) -> String { decoded(pair.drop { $0 != "=" }.dropFirst()) }

  /// The decoded value of the first part with a name.
  static func value(of name: String, in url: URL) -> String? {
    pairs(url).first { self.name($0) == name }.map(value)
  }

  /// Returns the parts with a new value in place of the first part with the name, or at the end.
  ///
  /// Further parts with the name are removed.
  static func setting(_ name: String, _ value: String, in pairs: [String]) -> [String] {
    let pair = "\(encoded(name))=\(encoded(value))"
    guard let index = pairs.firstIndex(where: { self.name($0) == name }) else {
      return pairs + [pair]
    }
    let behind = pairs[(index + 1)...].filter { self.name($0) != name }
    return pairs[..<index] + [pair] + behind
  }

  private static func decoded(_ text: Substring) -> String {
    let text = text.replacing("+", with: " ")
    return text.removingPercentEncoding ?? String(text)
  }

  /// Percent-encodes everything except letters, digits and `-._~`.
  private static func encoded(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default: encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded
  }
}
