import ArgumentParser
import LodestoreBytes
import LodestoreFormat

/// `kvdump analyze`: the terms by which a text index lists a text.
struct AnalyzeCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "analyze", abstract: "Show the terms of a text, by which a search finds it.",
    discussion: """
      Examples:
        kvdump analyze 'AFNetworking for iPhone15'
        kvdump analyze --query 'new-hope'
        kvdump analyze < article.txt

      There is a row for each term: its position, the term, the part of the text that it is made \
      of, and the bytes of the part. With --query there is a row for each word: its terms, which \
      a text must have side by side, or the term of the whole word. Format.md says the rules.
      """)

  @Argument(help: "The text; standard input without it.") var text: String?

  @Flag(help: "Show what a search for the text looks up.") var query = false

  @OptionGroup(title: "Selection") var rows: RowOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func failure(for error: any Error) -> CommandFailure {
    error as? CommandFailure ?? .unexpected(error)
  }

  func run(on console: Console) async throws -> ExitStatus {
    let bytes = try text.map { Array($0.utf8) } ?? Self.standardInput()
    if query {
      try showWords(of: bytes, on: console)
    } else {
      try showTerms(of: bytes, on: console)
    }
    return .success
  }

  private static func standardInput() throws -> [UInt8] {
    let file = try InputFile(InputFile.standardInput)
    var bytes: [UInt8] = []
    while let chunk = try file.read() { bytes += chunk }
    return bytes
  }

  private func showTerms(of bytes: [UInt8], on console: Console) throws {
    let shown = ShownRows(["position", "term", "text", "start", "end"], rows, on: console)
    var count = 0
    try bytes._withBytes { text in
      try TextAnalysis.forEachTerm(in: text) { term, position, range in
        count += 1
        _ = try shown.show {
          [
            .integer(Int64(position)), .text(String(decoding: term, as: UTF8.self)),
            .text(String(decoding: text[range], as: UTF8.self)),
            .integer(Int64(range.lowerBound)), .integer(Int64(range.upperBound)),
          ]
        }
      }
    }
    try shown.finish(total: count, noun: "terms")
  }

  private func showWords(of bytes: [UInt8], on console: Console) throws {
    let shown = ShownRows(
      ["position", "terms", "whole", "text", "start", "end"], rows, on: console)
    let words = bytes._withBytes { TextAnalysis.query(words: $0) }
    for word in words {
      let text = String(decoding: bytes[word.range], as: UTF8.self)
      _ = try shown.show {
        [
          .integer(Int64(word.position)),
          .array(word.terms.map { .text(String(decoding: $0, as: UTF8.self)) }),
          word.whole.map { .text(String(decoding: $0, as: UTF8.self)) } ?? .null, .text(text),
          .integer(Int64(word.range.lowerBound)), .integer(Int64(word.range.upperBound)),
        ]
      }
    }
    try shown.finish(total: words.count, noun: "words")
  }
}
