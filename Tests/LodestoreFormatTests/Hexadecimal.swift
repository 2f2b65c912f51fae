/// The bytes that pairs of hexadecimal digits stand for; blanks between pairs are ignored.
///
/// The result is empty for any other text, which no test expects.
func bytes(hexadecimal text: some StringProtocol) -> [UInt8] {
  let digits = text.filter { $0 != " " }.compactMap(\.hexDigitValue)
  guard digits.count.isMultiple(of: 2), digits.count == text.filter({ $0 != " " }).count else {
    return []
  }
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
}

/// `bytes` as Format.md writes them: two digits each, with blanks between.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
}
