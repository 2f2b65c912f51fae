import Foundation
import LodestoreBytes
import LodestoreFormat
import Testing

/// Compares the format's normalization table with Foundation's and with `String`'s own order.
@Suite struct NormalizationTests {
  /// Whether Foundation's older tables know the scalar.
  ///
  /// The additions of Unicode 16 are tested by `==` of strings.
  private static func isOld(_ scalar: Unicode.Scalar) -> Bool {
    guard let age = scalar.properties.age else { return false }
    return age.major < 16
  }

  @Test func `every assigned scalar has Foundation's normal forms`() {
    var count = 0
    for value in UInt32(0)...0x10ffff {
      guard let scalar = Unicode.Scalar(value), Self.isOld(scalar) else { continue }
      count += 1
      guard agreesWithFoundation(String(scalar)) else { return }
    }
    #expect(count > 280_000)
  }

  @Test func `every scalar is equal to its normal forms`() {
    for value in UInt32(0)...0x10ffff {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = String(scalar)
      let (composed, decomposed) = (String(decoding: nfc(text), as: UTF8.self), nfd(text))
      guard composed == text, String(decoding: decomposed, as: UTF8.self) == text,
        nfc(composed) == Array(composed.utf8), nfd(composed) == decomposed
      else {
        Issue.record("U+\(String(value, radix: 16))")
        return
      }
    }
  }

  @Test func `every Latin and Greek base with every mark has Foundation's normal forms`() throws {
    let bases = [0x41...0x5a, 0x61...0x7a, 0xc0...0x17f, 0x370...0x3ff, 0x1f00...0x1fff]
      .joined().compactMap { Unicode.Scalar(UInt32($0)) }.filter(Self.isOld)
    let marks = [0x300...0x36f].joined().compactMap { Unicode.Scalar(UInt32($0)) }
    for base in bases {
      for mark in marks {
        guard agreesWithFoundation("\(base)\(mark)") else { return }
      }
    }
  }

  @Test func `every hangul syllable is composed of its letters`() throws {
    for value in UInt32(0xac00)...0xd7a3 {
      let syllable = String(try #require(Unicode.Scalar(value)))
      let letters = String(decoding: nfd(syllable), as: UTF8.self)
      guard (2...3).contains(letters.unicodeScalars.count), nfc(letters) == Array(syllable.utf8),
        agreesWithFoundation(syllable), agreesWithFoundation(letters)
      else {
        Issue.record("U+\(String(value, radix: 16))")
        return
      }
    }
  }

  @Test func `random texts have Foundation's normal forms`() {
    var random = SeededGenerator(salt: 40)
    for _ in 0..<SeededGenerator.caseCount(byDefault: 100_000) {
      // Foundation's composition of Hangul is faulty: it composes U+1176, which is not a vowel of a
      // syllable, and misses some final consonants. Another test covers all syllables.
      var text = random.nastyText(upTo: 8).unicodeScalars
      text.removeAll { (0x1160...0x11ff).contains($0.value) }
      guard agreesWithFoundation(String(text)) else { return }
    }
  }

  @Test func `normal forms are stable under normalization`() {
    var random = SeededGenerator(salt: 41)
    for _ in 0..<SeededGenerator.caseCount(byDefault: 30_000) {
      let text = random.nastyText(upTo: 10, with: NastyText.newScalars)
      let (composed, decomposed) = (nfc(text), nfd(text))
      let again = String(decoding: composed, as: UTF8.self)
      guard nfc(again) == composed, nfd(again) == decomposed, isNFC(composed),
        isNFC(Array(text.utf8)) == (Array(text.utf8) == composed),
        nfc(String(decoding: decomposed, as: UTF8.self)) == composed
      else {
        Issue.record("\(scalars(text)); \(SeededGenerator.replay)")
        return
      }
    }
  }

  @Test func `bytes of NFC are ordered and equal as Swift strings are`() {
    var random = SeededGenerator(salt: 42)
    var equalCount = 0
    for _ in 0..<SeededGenerator.caseCount(byDefault: 100_000) {
      // Swift's `<` gives some texts with the pairs added in Unicode 16 no order, so these are
      // tested separately.
      let isNew = Int.random(in: 0..<4, using: &random) == 0
      let a = random.nastyText(upTo: 4, with: isNew ? NastyText.newScalars : [])
      var b = random.nastyText(upTo: 4, with: isNew ? NastyText.newScalars : [])
      switch Int.random(in: 0..<3, using: &random) {
      case 0: b = String(decoding: nfd(a), as: UTF8.self)
      case 1: b = a + b
      default: break
      }
      if a == b { equalCount += 1 }
      let (left, right) = (nfc(a), nfc(b))
      // If one text starts with the scalars of the other, `<` ignores the rest, even if a mark in
      // the rest is ordered before the common ones. Some texts of which one form starts with the
      // other are ordered wrongly, too.
      let isPrefixed =
        a.utf8.starts(with: b.utf8) || b.utf8.starts(with: a.utf8)
        || left.starts(with: right) || right.starts(with: left)
      guard (left == right) == (a == b),
        isNew || isPrefixed || left.lexicographicallyPrecedes(right) == (a < b)
      else {
        Issue.record("\(scalars(a)) and \(scalars(b)); \(SeededGenerator.replay)")
        return
      }
    }
    #expect(equalCount > 1_000)
  }

  @Test(arguments: [
    ("", ""), ("61", "61"), ("65 cc 81", "c3 a9"), ("c3 a9", "c3 a9"), ("e2 84 aa", "4b"),
    ("cd be", "3b"), ("e1 bf af", "60"), ("61 cc 81 cc a7", "c3 a1 cc a7"),
    ("e1 84 80 e1 85 a1 e1 86 a8", "ea b0 81"), ("e0 a5 98", "e0 a4 95 e0 a4 bc"),
  ])
  func `known texts have their NFC`(text: String, expected: String) {
    #expect(hexadecimal(nfc(bytes(hexadecimal: text))) == expected)
  }

  @Test func `bytes that are not UTF-8 stay unchanged`() {
    var random = SeededGenerator(salt: 43)
    for text in ["ff", "c3", "61 cc", "ed a0 80", "f4 90 80 80", "c0 80", "e2 84", "80 80", "f8"] {
      let broken = bytes(hexadecimal: text)
      #expect(nfc(broken) == broken)
      #expect(nfd(broken) == broken)
      #expect(isNFC(broken))
      let marks: [UInt8] = [0xcc, 0xa7, 0xcc, 0x81]
      #expect(nfc(broken + marks.suffix(2) + marks.prefix(2)) == broken + marks)
    }
    for _ in 0..<SeededGenerator.caseCount(byDefault: 30_000) {
      var text = Array(random.nastyText(upTo: 6).utf8)
      for _ in 0..<2 where !text.isEmpty {
        let index = Int.random(in: text.indices, using: &random)
        text[index] = UInt8.random(in: 0...255, using: &random)
      }
      let composed = nfc(text)
      guard nfc(composed) == composed, nfd(composed) == nfd(text), isNFC(composed) else {
        Issue.record("\(hexadecimal(text)); \(SeededGenerator.replay)")
        return
      }
    }
  }

  @Test func `a hundred thousand marks on one base are sorted without quadratic time`() {
    var text = "a"
    for _ in 0..<50_000 { text += "\u{301}\u{323}" }
    let composed = nfc(text)
    let expected =
      "\u{1ea1}" + String(repeating: "\u{323}", count: 49_999)
      + String(repeating: "\u{301}", count: 50_000)
    #expect(composed == Array(expected.utf8))
  }

  private func agreesWithFoundation(_ text: String) -> Bool {
    let (composed, decomposed) = (
      Array(text.precomposedStringWithCanonicalMapping.utf8),
      Array(text.decomposedStringWithCanonicalMapping.utf8)
    )
    guard nfc(text) == composed, nfd(text) == decomposed,
      isNFC(Array(text.utf8)) == (Array(text.utf8) == composed)
    else {
      Issue.record(
        """
        \(scalars(text)): \(hexadecimal(nfc(text))) must be \(hexadecimal(composed)), \
        \(hexadecimal(nfd(text))) must be \(hexadecimal(decomposed)); \(SeededGenerator.replay)
        """)
      return false
    }
    return true
  }

  private func scalars(_ text: String) -> String {
    text.unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ")
  }

  private func isNFC(_ text: [UInt8]) -> Bool { text._withBytes { Normalization.isNFC($0) } }

  private func nfc(_ text: String) -> [UInt8] { nfc(Array(text.utf8)) }

  private func nfc(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    text._withBytes { Normalization.appendNFC(of: $0, to: &result) }
    return result
  }

  private func nfd(_ text: String) -> [UInt8] { nfd(Array(text.utf8)) }

  private func nfd(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    text._withBytes { Normalization.appendNFD(of: $0, to: &result) }
    return result
  }
}
