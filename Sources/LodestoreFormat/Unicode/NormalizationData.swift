import LodestoreBytes

/// The Unicode data for normalization, as text in the files of this directory.
///
/// The data is frozen: it was taken from Unicode 17.0 and must not be updated, because index keys
/// depend on it. See Format.md, "Index keys".
enum NormalizationData {}

/// Reads the numbers and signs of ``NormalizationData``.
struct NormalizationDataReader {
  private var rest: ByteView

  init(_ text: StaticString) { rest = ByteView(text) }

  /// Skips spaces and returns whether an entry follows.
  mutating func hasEntry() -> Bool {
    rest = rest.drop { $0 == 0x20 || $0 == 0x0a }
    return !rest.isEmpty
  }

  mutating func take(_ sign: Unicode.Scalar) -> Bool {
    guard let first = rest.first, UInt32(first) == sign.value else { return false }
    rest = rest.dropFirst()
    return true
  }

  /// Reads the next number in base 36; 0 if there is none.
  mutating func number() -> UInt32 {
    var value: UInt32 = 0
    while let digit = rest.first {
      switch digit {
      case 0x30...0x39: value = value &* 36 &+ UInt32(digit &- 0x30)
      case 0x61...0x7a: value = value &* 36 &+ UInt32(digit &- 0x61 &+ 10)
      default: return value
      }
      rest = rest.dropFirst()
    }
    return value
  }
}
