import LodestoreBytes

/// A mapping from a source text to the text of a derived attribute.
///
/// The mapping uses tables of Unicode 17.0 that never change. See Format.md, "Derived attributes".
package enum TextMapping: Sendable {
  /// The text in NFC, without case and without nonspacing marks.
  case canonical
  case uppercase
  case lowercase

  /// Returns the mapped text.
  package func mapped(_ text: String) -> String {
    var text = text
    return text.withUTF8 { utf8 in String(decoding: mapped(ByteView(utf8)), as: UTF8.self) }
  }

  /// Returns the mapped text in UTF-8.
  ///
  /// Bytes that are not UTF-8 stay unchanged.
  package func mapped(_ utf8: ByteView) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count)
    if utf8.allSatisfy({ $0 < 0x80 }) {
      for byte in utf8 { bytes.append(mapped(ascii: byte)) }
      return bytes
    }
    switch self {
    case .uppercase: CaseTable.upper.append(utf8, to: &bytes)
    case .lowercase: CaseTable.lower.append(utf8, to: &bytes)
    case .canonical:
      var decomposed: [UInt8] = []
      Normalization.appendNFD(of: utf8, to: &decomposed)
      var folded: [UInt8] = []
      decomposed._withBytes { CaseTable.canonical.append($0, to: &folded) }
      folded._withBytes { Normalization.appendNFC(of: $0, to: &bytes) }
    }
    return bytes
  }

  private func mapped(ascii byte: UInt8) -> UInt8 {
    switch self {
    case .uppercase: (0x61...0x7a).contains(byte) ? byte &- 0x20 : byte
    case .lowercase, .canonical: (0x41...0x5a).contains(byte) ? byte &+ 0x20 : byte
    }
  }
}

/// The mapping of single scalars.
struct CaseTable: Sendable {
  static let lower = CaseTable(CaseData.lowercase)
  static let upper = CaseTable(CaseData.uppercase)
  /// The lower case of the upper case of the lower case, without marks.
  ///
  /// The mapping turns "ß" into "ss", and a final sigma into a sigma.
  static let canonical = CaseTable(foldingWith: lower, upper, without: CaseTable(CaseData.marks))

  /// The replacement of each scalar that the mapping changes; an empty list for a removed mark.
  private(set) var results: [UInt32: [UInt32]] = [:]

  init(_ text: StaticString) {
    var reader = NormalizationDataReader(text)
    var next: UInt32 = 0
    while reader.hasEntry() {
      next += reader.number()
      let isEverySecond = reader.take("/")
      let count = isEverySecond || reader.take("*") ? reader.number() : 1
      let step: UInt32 = isEverySecond ? 2 : 1
      let scalars = (0..<count).map { next + $0 * step }
      if reader.take("+") {
        let distance = reader.number()
        for scalar in scalars { results[scalar] = [scalar + distance] }
      } else if reader.take("-") {
        let distance = reader.number()
        for scalar in scalars { results[scalar] = [scalar - distance] }
      } else if reader.take("=") {
        var made = [reader.number()]
        while reader.take(".") { made.append(reader.number()) }
        for scalar in scalars { results[scalar] = made }
      } else {
        for scalar in scalars { results[scalar] = [] }
      }
      next += (count - 1) * step + 1
    }
  }

  private init(foldingWith lower: CaseTable, _ upper: CaseTable, without marks: CaseTable) {
    for scalar in Set(lower.results.keys).union(upper.results.keys) {
      let folded = lower[scalar].flatMap { upper[$0] }.flatMap { lower[$0] }
      if folded != [scalar] { results[scalar] = folded }
    }
    for mark in marks.results.keys { results[mark] = [] }
  }

  /// The scalars that take the place of `scalar`.
  subscript(scalar: UInt32) -> [UInt32] { results[scalar] ?? [scalar] }

  func append(_ utf8: ByteView, to bytes: inout [UInt8]) {
    var offset = 0
    while offset < utf8.count {
      let (scalar, length) = UTF8Scalar.decode(utf8, at: offset)
      defer { offset += length }
      guard scalar != UTF8Scalar.invalid else {
        bytes.append(utf8[offset])
        continue
      }
      guard let made = results[scalar] else {
        UTF8Scalar.append(scalar, to: &bytes)
        continue
      }
      for scalar in made { UTF8Scalar.append(scalar, to: &bytes) }
    }
  }
}
