/// The secret of one server, which opens its pages.
struct AccessKey: Sendable {
  /// 32 hexadecimal digits.
  let text: String

  /// Makes a random key of 128 bits.
  init() {
    var random = SystemRandomNumberGenerator()
    text = (0..<2).map { _ in
      let digits = String(random.next() as UInt64, radix: 16)
      return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }.joined()
  }

  /// Returns whether `candidate` is the key, in a time that does not depend on its letters.
  func matches(_ candidate: some StringProtocol) -> Bool {
    let (mine, theirs) = (Array(text.utf8), Array(candidate.utf8))
    guard mine.count == theirs.count else { return false }
    var difference: UInt8 = 0
    for (left, right) in zip(mine, theirs) { difference |= left ^ right }
    return difference == 0
  }
}
