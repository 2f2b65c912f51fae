import Foundation
import Testing

@testable import EntityStore

@Suite struct `Random separated values` {
  private static let rounds = SeededNumbers.environmentNumber("LODESTORE_CSV_ROUNDS") ?? 300
  private static let alphabet = ["a", "7", ",", ";", "\"", "\n", "\r", "\r\n", "é", "🌠", " ", "\0"]

  private func field(_ random: inout SeededNumbers) -> String {
    (0..<random.below(6)).map { _ in Self.alphabet[random.below(Self.alphabet.count)] }.joined()
  }

  /// Quotes a field if needed, and sometimes without need.
  private func written(_ field: String, _ random: inout SeededNumbers) -> String {
    let needs = field.unicodeScalars.contains { ",\"\r\n".unicodeScalars.contains($0) }
    guard needs || random.oneIn(3) else { return field }
    var doubled = ""
    for scalar in field.unicodeScalars {
      doubled.unicodeScalars.append(scalar)
      if scalar == "\"" { doubled.unicodeScalars.append(scalar) }
    }
    return "\"\(doubled)\""
  }

  private func cuts(_ count: Int, _ random: inout SeededNumbers) -> [Int] {
    (0..<random.below(8)).map { _ in random.below(count + 1) }.sorted()
  }

  @Test func `random separated values are read back unchanged`() throws {
    var random = SeededNumbers(salt: 0xC5F1)
    var options = CSVOptions()
    options.header = .absent
    for _ in 0..<Self.rounds {
      let width = 1 + random.below(5)
      let rows = (0..<random.below(6)).map { _ in (0..<width).map { _ in field(&random) } }
      var text = ""
      for row in rows {
        let end = random.oneIn(2) ? "\n" : "\r\n"
        // The rows are joined as scalars, because a return before a feed would become one
        // `Character`.
        text += row.map { written($0, &random) }.joined(separator: ",") + end
      }
      let bytes = Array(text.utf8)
      // Detection by the first bytes would take zero bytes at the beginning for UTF-16 or UTF-32.
      options.encoding = bytes.prefix(4).contains(0) ? .utf8 : .automatic
      let read = CSVReading.rows(bytes, options, pieces: cuts(bytes.count, &random))
      guard case .success(let found) = read else {
        Issue.record("\(read) for \(text.debugDescription), \(SeededNumbers.replay)")
        continue
      }
      // The bytes are compared, because equal strings may have different scalars.
      let isEqual =
        found.map { $0.map { Array($0.utf8) } } == rows.map { $0.map { Array($0.utf8) } }
      #expect(isEqual, "\(text.debugDescription), \(SeededNumbers.replay)")
      try expectPagesHold(rows, bytes, options.encoding)
    }
  }

  /// Expects that the pages of the same text, read by the JSON parser, have the same fields.
  private func expectPagesHold(
    _ rows: [[String]], _ bytes: [UInt8], _ encoding: TextEncoding
  ) throws {
    var options = CSVOptions()
    options.encoding = encoding
    options.header = .names((0..<(rows.first?.count ?? 1)).map { "c\($0)" })
    let pages = try CSVReading.pages(bytes, options, of: 2).get()
    let records = try pages.flatMap { try Array(JSONDocument.parsing($0.utf8).root.elements) }
    let found = records.map { $0.members.map { $0.value.string ?? "" } }
    #expect(found == rows, SeededNumbers.comment)
  }

  @Test func `separated values of any bytes never trap, and do not depend on the cuts`() {
    var random = SeededNumbers(salt: 0xC5F2)
    let bytes: [UInt8] = [
      0x22, 0x22, 0x2C, 0x0A, 0x0D, 0x61, 0xC3, 0xA9, 0xEF, 0xBB, 0xBF, 0xFF, 0,
    ]
    for _ in 0..<(Self.rounds * 5) {
      let text = (0..<random.below(24)).map { _ in
        random.oneIn(8)
          ? UInt8.random(in: 0...255, using: &random) : bytes[random.below(bytes.count)]
      }
      var options = CSVOptions()
      options.header = random.oneIn(2) ? .absent : .firstRow
      options.raggedRows = [.refuse, .fill, .fit][random.below(3)]
      options.skipsBlankLines = random.oneIn(2)
      let whole = CSVReading.rows(text, options)
      let pieces = cuts(text.count, &random)
      #expect(CSVReading.rows(text, options, pieces: pieces) == whole, "\(text) \(pieces)")
      let pages = CSVReading.pages(text, options, of: 3)
      #expect(CSVReading.pages(text, options, of: 3, pieces: pieces) == pages, "\(text) \(pieces)")
    }
  }
}

extension SeededNumbers {
  fileprivate static var comment: Comment { Comment(rawValue: replay) }
}
