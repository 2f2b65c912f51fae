import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

@Suite struct `Format string mutation` {
  /// The duration of the test; set `FORMAT_FUZZ_SECONDS=600` for a long run.
  private static let seconds = SeededNumbers.environmentNumber("FORMAT_FUZZ_SECONDS") ?? 2

  private static let fragments = [
    "(", ")", "{", "}", "[", "]", ",", ".", ":", "\"", "'", "\\", "#", "$x", "@count", "%@", "%K",
    "%d", "%", "-", "+", "*", "**", "/", "=", "==", "!", "!=", "<>", "&&", "||", "0", "1", ".5",
    "0x",
    "1e999", "18446744073709551616", "9223372036854775808", "NOT ", " AND ", " OR ", "ANY ",
    "NONE ", "NULL", "SELF", " IN ", " BETWEEN ", " LIKE[cd] ", "CAST(", "TERNARY(",
    "SUBQUERY(a, $x, ", "now()", "abs:(", "FETCH", "UTI-EQUALS", "a", "in", "größe", "\u{0}",
    "\u{FFFD}",
    "“", "é", "😀", "\n", " ", "((((((((", "))))))))", "- - - -", "NOT NOT NOT ", "\\u0041", "\\x",
  ].map { Array($0.utf8) }

  private static let arguments: [FormatArgument] = [
    .value(.string("x")), .list([.integer(1), .null]), .path("license.in[0]"), .value(.integer(-3)),
    .value(.double(.nan)), .path("not a path"), .value(.bool(true)), .value(.date(0.1)),
  ]

  private static let corpus: [[UInt8]] =
    (FormatSentence.all.flatMap { [$0.text, $0.printed] } + RefusedFormat.all.map(\.text)).map {
      Array($0.utf8)
    }

  @Test func `a mutant is refused with its position, or printed and read back, and soon`() throws {
    var random = SeededNumbers(salt: 703)
    var conditions = RandomConditions(salt: 704)
    var pool = Self.corpus
    var count = 0
    var accepted = 0
    var slowest = Duration.zero
    let clock = ContinuousClock()
    let end = clock.now + .seconds(Self.seconds)
    while clock.now < end || count < 1_000 {
      count += 1
      let bytes = mutate(pool, &random)
      let text = String(decoding: bytes, as: UTF8.self)
      let arguments =
        random.oneIn(2)
        ? []
        : Array(
          Self.arguments.shuffled(using: &random).prefix(text.utf8.count(where: { $0 == 0x25 })))
      var tree: ConditionTree?
      let time = processorTime { tree = outcome(of: text, arguments) }
      slowest = max(slowest, time)
      // Parsing takes some milliseconds on an idle machine.
      #expect(time < .seconds(1), "\(time) for \(text.debugDescription)")
      if let tree {
        accepted += 1
        let printed = ConditionPrinter.text(tree)
        let replay: Comment =
          "\(text.debugDescription) printed as \(printed)\n\(SeededNumbers.replay)"
        do {
          let same = try readsBack(tree, as: printed)
          #expect(same, replay)
        } catch {
          Issue.record("\(error)\n\(replay)")
        }
      }
      // Accepted texts, and a few random texts, are kept for further mutations.
      if tree != nil, random.oneIn(20), bytes.count < 400 {
        pool[random.below(pool.count)] = bytes
      } else if random.oneIn(2_000) {
        pool[random.below(pool.count)] = Array(
          ConditionPrinter.text(conditions.condition(depth: 4)).utf8)
      }
      if random.oneIn(50_000) { pool = Self.corpus }
    }
    print("\(count) mutants, \(accepted) accepted, the slowest took \(slowest)")
    #expect(accepted > count / 100, "hardly any mutant parses: the fuzzer tests nothing")
  }

  /// The tree; a refusal must name a position inside the text.
  private func outcome(of text: String, _ arguments: [FormatArgument]) -> ConditionTree? {
    do {
      return try ConditionParser.parse(text, arguments: arguments).tree
    } catch {
      let cause = error.cause as? PredicateSyntaxError
      #expect(error.code == .invalidQuery && cause != nil)
      guard let cause else { return nil }
      let lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
      #expect((1...lines.count).contains(cause.line), "\(text.debugDescription): \(error)")
      if lines.indices.contains(cause.line - 1) {
        let scalars = lines[cause.line - 1].count { $0 & 0xC0 != 0x80 }
        #expect((1...(scalars + 1)).contains(cause.column), "\(text.debugDescription): \(error)")
      }
      #expect(cause.token.utf8.count <= 64 && !cause.expected.isEmpty)
      #expect(!error.message.contains("\n"), "\(text.debugDescription)")
      return nil
    }
  }

  private func mutate(_ pool: [[UInt8]], _ random: inout SeededNumbers) -> [UInt8] {
    var text = pool[random.below(pool.count)]
    for _ in 0..<(1 + random.below(4)) {
      let at = random.below(text.count + 1)
      switch random.below(9) {
      case 0 where at < text.count: text[at] = UInt8(random.below(256))
      case 1 where at < text.count: text[at] ^= 1 << UInt8(random.below(8))
      case 2: text.removeSubrange(at..<min(text.count, at + random.below(9)))
      case 3, 4: text.insert(contentsOf: Self.fragments[random.below(Self.fragments.count)], at: at)
      case 5:
        let other = pool[random.below(pool.count)]
        text.insert(contentsOf: other.suffix(random.below(other.count + 1)), at: at)
      case 6:
        // The mutation inserts a piece of the text several times.
        let piece = text[at..<min(text.count, at + 1 + random.below(12))]
        for _ in 0..<random.below(random.oneIn(50) ? 400 : 4) {
          text.insert(contentsOf: piece, at: at)
        }
      case 7:
        let other = pool[random.below(pool.count)]
        text.insert(contentsOf: " AND (".utf8 + other + Array(")".utf8), at: text.count)
      default: text.removeSubrange(at...)
      }
    }
    return text
  }
}
