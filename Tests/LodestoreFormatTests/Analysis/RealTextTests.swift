import Foundation
import LodestoreFormat
import Testing

/// Texts that people wrote, in several scripts: the summaries and descriptions of CocoaPods.
@Suite struct `Terms of real texts` {
  /// The texts with Chinese, Japanese, Korean or Thai characters; `nil` without the real data.
  private static let texts: Set<String>? = {
    let repository = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let folder =
      ProcessInfo.processInfo.environment["LODESTORE_DATA"] ?? "/\(repository)/../shared/data"
    let path = folder + "/cocoapods/specs-trunk.jsonl"
    guard let data = FileManager.default.contents(atPath: path) else {
      print("skipped: no \(path); LODESTORE_DATA names the folder with the real data")
      return nil
    }
    var texts: Set<String> = []
    for line in data.split(separator: UInt8(ascii: "\n")) where line.contains(where: { $0 >= 0xe0 })
    {
      let page = try? JSONSerialization.jsonObject(with: line) as? [String: Any]
      for spec in page?["result"] as? [[String: Any]] ?? [] {
        for member in ["summary", "description"] {
          guard let text = spec[member] as? String,
            text.unicodeScalars.contains(where: { $0.value >= 0x3040 || 0xe00..<0xe80 ~= $0.value })
          else { continue }
          texts.insert(text)
        }
      }
    }
    return texts
  }()

  @Test func `each word of a real text, and each two words side by side, find the text`() {
    guard let texts = Self.texts else { return }
    #expect(texts.count > 10)
    for text in texts {
      let analyzed = AnalyzedText(text)
      let words = AnalyzedText.query(text)
      let utf8 = Array(text.utf8)
      for (index, word) in words.enumerated() {
        for last in words[index...].prefix(2) {
          let taken = String(
            decoding: utf8[word.range.lowerBound..<last.range.upperBound], as: UTF8.self)
          #expect(analyzed.hasPhrase(AnalyzedText.query(taken)), "'\(taken)' of '\(text)'")
        }
      }
    }
  }

  @Test func `each two characters side by side in a real text find the text`() {
    guard let texts = Self.texts else { return }
    for text in texts {
      let analyzed = AnalyzedText(text)
      let characters = Array(text)
      for (first, second) in zip(characters, characters.dropFirst())
      where "\u{3041}"..."\u{9fff}" ~= first && "\u{3041}"..."\u{9fff}" ~= second {
        let query = AnalyzedText.query(String([first, second]))
        #expect(analyzed.hasPhrase(query), "'\(first)\(second)' of '\(text)'")
      }
    }
  }
}
