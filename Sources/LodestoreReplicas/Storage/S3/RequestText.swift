/// The forms of text in signed requests.
enum RequestText {
  private static let upperDigits = Array("0123456789ABCDEF".utf8)
  private static let lowerDigits = Array("0123456789abcdef".utf8)

  /// Percent-encodes all bytes except unreserved ones (RFC 3986, 2.3) and those of `kept`.
  static func encoded(_ text: String, keeping kept: [UInt8] = []) -> String {
    var encoded: [UInt8] = []
    encoded.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: encoded.append(byte)
      default:
        if kept.contains(byte) {
          encoded.append(byte)
        } else {
          encoded += [0x25, upperDigits[Int(byte >> 4)], upperDigits[Int(byte & 15)]]
        }
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Percent-encodes a path, and keeps its slashes.
  static func encodedPath(_ path: String) -> String { encoded(path, keeping: [0x2F]) }

  static func hex(_ bytes: [UInt8]) -> String {
    let digits = bytes.flatMap { [lowerDigits[Int($0 >> 4)], lowerDigits[Int($0 & 15)]] }
    return String(decoding: digits, as: UTF8.self)
  }

  /// A time as `20130524T000000Z`.
  ///
  /// - Parameter seconds: Seconds since 1970; the range of years is 1970 to 9999.
  static func time(_ seconds: Int) -> String {
    let seconds = min(max(seconds, 0), 253_402_300_799)
    let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
    // Days are counted from March 1 of the year 0, in eras of 400 years.
    let shifted = days + 719_468
    let (era, dayOfEra) = shifted.quotientAndRemainder(dividingBy: 146_097)
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    let date = padded(year, 4) + padded(month, 2) + padded(day, 2)
    let hour = padded(rest / 3_600, 2) + padded(rest / 60 % 60, 2) + padded(rest % 60, 2)
    return "\(date)T\(hour)Z"
  }

  /// Reads a time as `2013-05-24T00:00:00.000Z`, in seconds since 1970; `nil` for other text.
  static func seconds(_ text: String) -> Int? {
    let bytes = Array(text.utf8)
    func number(_ range: Range<Int>) -> Int? {
      let digits = bytes[range]
      guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
    guard bytes.count >= 20, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      bytes[10] == UInt8(ascii: "T"), bytes.last == UInt8(ascii: "Z"),
      let year = number(0..<4), let month = number(5..<7), (1...12).contains(month),
      let day = number(8..<10), let hour = number(11..<13), let minute = number(14..<16),
      let second = number(17..<19)
    else { return nil }
    // Years begin in March, so that leap days are their last days.
    let shifted = month <= 2 ? year - 1 : year
    let monthFromMarch = month <= 2 ? month + 9 : month - 3
    let days =
      365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + (153 * monthFromMarch + 2) / 5
      + day - 1 - 719_468
    return ((days * 24 + hour) * 60 + minute) * 60 + second
  }

  /// Text within an element of XML.
  static func markup(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "&"): bytes += Array("&amp;".utf8)
      case UInt8(ascii: "<"): bytes += Array("&lt;".utf8)
      case UInt8(ascii: ">"): bytes += Array("&gt;".utf8)
      case UInt8(ascii: "\""): bytes += Array("&quot;".utf8)
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(width - text.count, 0)) + text
  }
}
