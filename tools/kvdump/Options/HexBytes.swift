import ArgumentParser

/// Bytes written in hexadecimal: `01 00 00 2a` or `0100002a`.
struct HexBytes: ExpressibleByArgument, Equatable, Sendable {
  let bytes: [UInt8]

  /// Fails for anything other than pairs of digits and spaces between them.
  init?(argument: String) {
    var bytes: [UInt8] = []
    var high: Int?
    for character in argument {
      if character == " ", high == nil { continue }
      // `hexDigitValue` also accepts full-width digits, which nobody types on purpose.
      guard character.isASCII, let digit = character.hexDigitValue else { return nil }
      if let first = high {
        bytes.append(UInt8(first << 4 | digit))
        high = nil
      } else {
        high = digit
      }
    }
    guard high == nil else { return nil }
    self.bytes = bytes
  }
}
