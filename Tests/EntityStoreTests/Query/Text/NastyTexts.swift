import Foundation
import LodestoreBytes

@testable import EntityStore

/// Texts in which characters, scalars and bytes are not the same.
enum NastyTexts {
  /// Texts that are critical for folding, normalization and segmentation, by the frequency of their
  /// use.
  static let common = "abcABC KSks;`\r\n\t0_é"
  static let scalars: [Unicode.Scalar] = {
    let ranges: [ClosedRange<UInt32>] = [
      0x60...0x65, 0xc0...0xc6, 0xdf...0xe6, 0x130...0x131, 0x17f...0x17f, 0x1e9e...0x1e9e,
      0x300...0x308, 0x323...0x328, 0x345...0x345, 0x37e...0x37e, 0x3a3...0x3a3, 0x3b1...0x3b1,
      0x3c2...0x3c3, 0x430...0x432, 0x5b0...0x5b4, 0x5d0...0x5d2, 0x600...0x600, 0x915...0x916,
      0x93c...0x93c, 0x94d...0x94d, 0xad...0xad, 0xa9...0xa9, 0x1100...0x1100, 0x1161...0x1161,
      0x11a8...0x11a8, 0x1e69...0x1e69, 0x1fef...0x1fef, 0x200b...0x200d, 0x212a...0x212b,
      0xac00...0xac01, 0xfb01...0xfb01, 0xfe0f...0xfe0f, 0x1f1e6...0x1f1e8, 0x1f468...0x1f469,
      0x1f3fb...0x1f3fb,
    ]
    return ranges.joined().compactMap { Unicode.Scalar($0) }
  }()
}

extension SeededNumbers {
  /// A text of few different scalars, so that texts often share parts.
  mutating func nastyText(upTo limit: Int) -> String {
    var text = String.UnicodeScalarView()
    let pool = oneIn(3) ? Array(NastyTexts.common.unicodeScalars) : NastyTexts.scalars
    let few = (0..<3).compactMap { _ in pool.randomElement(using: &self) }
    for _ in 0..<below(limit + 1) {
      let scalar =
        oneIn(4)
        ? NastyTexts.common.unicodeScalars.randomElement(using: &self)
        : few.randomElement(using: &self)
      if let scalar { text.append(scalar) }
    }
    return String(text)
  }

  /// A part of `text`, sometimes in another normalization.
  mutating func part(of text: String) -> String {
    let scalars = Array(text.unicodeScalars)
    let start = below(scalars.count + 1)
    let end = start + below(min(5, scalars.count - start) + 1)
    var part = String.UnicodeScalarView()
    part.append(contentsOf: scalars[start..<end])
    return oneIn(2) ? String(part) : String(part).decomposedStringWithCanonicalMapping
  }
}

/// The result of `operation` with `operand` for `text`.
func admits(
  _ operation: TextTest.Operation, _ operand: String, _ text: String, _ options: TextOptions = []
) throws -> Bool {
  let test = try TextTest(operation, operand, options: options)
  return Array(text.utf8)._withBytes { test.admits($0) }
}

/// `text` folded, as a string.
func folded(_ text: String, _ options: TextOptions) -> String {
  var bytes: [UInt8] = []
  Array(text.utf8)._withBytes { TextFolding.folded($0, options: options, to: &bytes) }
  return String(decoding: bytes, as: UTF8.self)
}

func scalars(_ text: String) -> String {
  text.unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ")
}
