import Foundation
import LodestoreBytes
import LodestoreFormat
import Testing

/// The case tables of the format must agree with those of the standard library.
@Suite struct `Mapped texts` {
  /// Whether the library's tables are of Unicode 17.0 or later.
  private static let isRecent =
    Unicode.Scalar(0xa7ce as UInt32)?.properties.generalCategory == .uppercaseLetter

  private var scalars: some Sequence<Unicode.Scalar> {
    (UInt32(0x80)...0x2ffff).lazy.compactMap(Unicode.Scalar.init).filter { scalar in
      // The format's tables lack characters that Unicode added after version 17.0.
      guard let age = scalar.properties.age else { return false }
      return age.major <= 17 && scalar.properties.generalCategory != .unassigned
    }
  }

  @Test(.enabled(if: isRecent, "the library has older tables"))
  func `mapped texts have the case of Unicode 17, scalar by scalar`() {
    for scalar in scalars {
      let text = String(Character(scalar))
      let properties = scalar.properties
      #expect(
        TextMapping.uppercase.mapped(text).unicodeScalars.elementsEqual(
          properties.uppercaseMapping.unicodeScalars), "\(scalar.value)")
      #expect(
        TextMapping.lowercase.mapped(text).unicodeScalars.elementsEqual(
          properties.lowercaseMapping.unicodeScalars), "\(scalar.value)")
    }
  }

  @Test(.enabled(if: isRecent, "the library has older tables"))
  func `mapped texts have no marks in the canonical form, whose canonical form is itself`() {
    for scalar in scalars {
      let text = String(Character(scalar))
      let mapped = TextMapping.canonical.mapped(text)
      #expect(TextMapping.canonical.mapped(mapped) == mapped, "\(scalar.value)")
      // The iota subscript (U+0345) is a mark whose upper case is a letter, so texts with it are
      // skipped.
      guard !text.decomposedStringWithCanonicalMapping.unicodeScalars.contains("\u{345}") else {
        continue
      }
      let upper = TextMapping.uppercase.mapped(text)
      #expect(TextMapping.canonical.mapped(upper) == mapped, "\(scalar.value)")
    }
  }

  @Test func `mapped texts keep bytes that are no text`() {
    let bytes: [UInt8] = [0x41, 0xff, 0xc3, 0x89, 0xe2]
    bytes._withBytes { raw in
      #expect(TextMapping.lowercase.mapped(raw) == [0x61, 0xff, 0xc3, 0xa9, 0xe2])
      #expect(TextMapping.canonical.mapped(raw).contains(0xff))
    }
  }
}
