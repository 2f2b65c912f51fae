/// A position in the write-ahead log of a server.
///
/// The text form is that of PostgreSQL: two hexadecimal numbers, as in `16/B374D848`.
public struct LogPosition: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
  /// The number of bytes of log before the position.
  public let rawValue: UInt64

  /// Creates a position from its number.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// Reads the text form; `nil` for any other text.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let high = Self.number(parts[0]), let low = Self.number(parts[1]) else {
      return nil
    }
    rawValue = UInt64(high) << 32 | UInt64(low)
  }

  private static func number(_ text: Substring) -> UInt32? {
    text.utf8.allSatisfy { $0 != UInt8(ascii: "+") } ? UInt32(text, radix: 16) : nil
  }

  /// Returns whether a position is before another one in the same log.
  public static func < (first: LogPosition, second: LogPosition) -> Bool {
    first.rawValue < second.rawValue
  }

  /// The text form.
  public var description: String {
    let high = String(UInt32(rawValue >> 32), radix: 16, uppercase: true)
    let low = String(UInt32(truncatingIfNeeded: rawValue), radix: 16, uppercase: true)
    return "\(high)/\(low)"
  }
}
