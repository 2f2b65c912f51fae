import Foundation
import LodestoreFormat
import Testing

/// The examples of Format.md about the analysis of texts are executed.
@Suite struct `Examples of the analysis` {
  private static func text(_ line: FormatExamples.Line) throws -> String {
    var parser = ExampleParser(line.left)
    guard case .string(let text) = try parser.json(), parser.isAtEnd else {
      throw ExampleError("\(line): no text")
    }
    return text
  }

  @Test func `the examples of terms hold`() throws {
    let lines = FormatExamples.lines("terms")
    try #require(!lines.isEmpty)
    for line in lines {
      #expect(AnalyzedText(try Self.text(line)).summary == line.right, "\(line)")
    }
  }

  @Test func `the examples of ranges of terms hold`() throws {
    let lines = FormatExamples.lines("term-ranges")
    try #require(!lines.isEmpty)
    for line in lines {
      let terms = AnalyzedText(try Self.text(line)).terms.map {
        "\($0.text) \($0.range.lowerBound)-\($0.range.upperBound)"
      }
      #expect(terms.joined(separator: " ") == line.right, "\(line)")
    }
  }

  @Test func `the examples of queries hold`() throws {
    let lines = FormatExamples.lines("query")
    try #require(!lines.isEmpty)
    func text(_ term: [UInt8]) -> String { String(decoding: term, as: UTF8.self) }
    for line in lines {
      let words = AnalyzedText.query(try Self.text(line)).map { word in
        let terms = word.terms.map(text).joined(separator: "+")
        return "\(word.position):" + terms + (word.whole.map { "|" + text($0) } ?? "")
      }
      #expect(words.joined(separator: " ") == line.right, "\(line)")
    }
  }
}

extension `Examples of the analysis` {
  @Test func `the examples of the article about analysis hold`() throws {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Sources/EntityStore/EntityStore.docc/Analysis.md")
    let article = try String(contentsOf: path, encoding: .utf8)
    let rows = article.split(separator: "\n").compactMap {
      $0.prefixMatch(of: /\| `([^`]+)` \| `([^`]+)` \|/)
    }
    #expect(rows.count >= 15)
    for row in rows {
      let found = AnalyzedText(String(row.1)).summary.replacing("|", with: "/")
      #expect(found == String(row.2), "\(row.1)")
    }
  }
}
