import Foundation
import LodestoreBytes
import LodestoreFormat
import Testing

/// The reader in Python, which was written from Format.md, analyzes texts as the library does.
@Suite struct `The analysis in another language` {
  private static let program = """
    import sys
    sys.path.insert(0, sys.argv[1])
    from lodestore import analysis
    for line in sys.stdin:
        text = bytes.fromhex(line).decode()
        terms = [f"{term.text.encode().hex()} {term.position} {term.range[0]} {term.range[1]}"
                 for term in analysis.terms(text)]
        words = [f"{word.position} {word.range[0]} {word.range[1]} "
                 + "+".join(term.encode().hex() for term in word.terms) + "|" + (word.whole or "").encode().hex()
                 for word in analysis.query(text)]
        print(",".join(terms) + ";" + ",".join(words))
    """

  private static func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// The terms and the words of a query, in the form in which the program prints them.
  private static func line(_ text: String) -> String {
    let terms = AnalyzedText(text).terms.map {
      "\(hex($0.text.utf8)) \($0.position) \($0.range.lowerBound) \($0.range.upperBound)"
    }
    let words = AnalyzedText.query(text).map { word in
      "\(word.position) \(word.range.lowerBound) \(word.range.upperBound) "
        + word.terms.map { hex($0) }.joined(separator: "+") + "|" + hex(word.whole ?? [])
    }
    return terms.joined(separator: ",") + ";" + words.joined(separator: ",")
  }

  private static var texts: [String] {
    var generator = SeededGenerator(salt: 4904)
    var texts = (0..<SeededGenerator.caseCount(byDefault: 3_000)).map { round in
      round % 2 == 0 ? RandomTexts.text(&generator) : RandomTexts.wildText(&generator)
    }
    // Texts beyond the limits of parts, pieces, words, characters and terms.
    for piece in [
      "a", "aB", "a1", "a'", "a-", "1.", "A", "e\u{93e}", "か\u{3099}", "か", "🙂\u{200d}", "ß",
    ] {
      for count in [40, 120, 513, 1_100] {
        texts.append(String(repeating: piece, count: count) + "z")
        texts.append("x\(String(repeating: piece, count: count))\u{93f}-y")
      }
    }
    return texts
  }

  @Test func `the reader in Python has the same terms and words for random texts`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let texts = Self.texts
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", "-B", "-c", Self.program, root.path + "/tools/readers/python",
    ]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    guard (try? process.run()) != nil else { return print("no python3: its reader was not tried") }
    let lines = texts.map { Self.hex($0.utf8) + "\n" }.joined()
    let writer = Thread {
      try? input.fileHandleForWriting.write(contentsOf: Data(lines.utf8))
      try? input.fileHandleForWriting.close()
    }
    writer.start()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    if process.terminationStatus == 127 { return print("no python3: its reader was not tried") }
    let printed = String(decoding: data, as: UTF8.self).split(separator: "\n")
    #expect(printed.count == texts.count)
    for (text, printed) in zip(texts, printed) where Self.line(text) != printed {
      Issue.record(
        "'\(text)' \(text.unicodeScalars.map(\.value)) \(Self.line(text)), Python: \(printed); \(SeededGenerator.replay)"
      )
      return
    }
  }
}
