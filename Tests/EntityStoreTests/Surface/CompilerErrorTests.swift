import Foundation
import Testing

/// Errors of the compiler: the first error of a mistake stands at its line and names the word.
@Suite(.serialized, .enabled(if: CompilerCheck.shared != nil, "the compiler is not found"))
struct `What the compiler says` {
  /// Lets the compiler warn of each expression that takes longer than a second.
  ///
  /// Usual expressions take less than 50 milliseconds.
  private static let warning = ["-Xfrontend", "-warn-long-expression-type-checking=1000"]

  /// All mistakes in one run of the compiler, whose start takes longer than a check.
  private static let told = Result {
    let sources = Mistake.all.map(\.source)
    let results = try CompilerCheck.shared?.check(sources, with: warning) ?? []
    return Dictionary(zip(sources, results)) { first, _ in first }
  }

  /// All summaries in one run.
  private static let summaries = Result {
    let sources = CheckedFilm.summaries.flatMap {
      [summary($0, "try "), summary($0, "try await ")]
    }
    let results = try CompilerCheck.shared?.check(sources, with: warning) ?? []
    return Dictionary(uniqueKeysWithValues: zip(sources, results))
  }

  private func expectTold(_ mistake: Mistake) throws {
    let result = try #require(try Self.told.get()[mistake.source])
    #expect(result.line == mistake.line, "\(result.output)")
    let texts = [mistake.text, mistake.otherText].compactMap(\.self)
    let message = try #require(result.message, "it compiles")
    #expect(texts.contains { message.contains($0) }, "\(result.output)")
    #expect(!result.output.contains("to type-check"), "\(result.output)")
  }

  @Test(arguments: Mistake.inConditions)
  func `the compiler reports a mistake in a condition at its line, by its word and soon`(
    mistake: Mistake
  ) throws {
    try expectTold(mistake)
  }

  @Test(arguments: Mistake.inQueries)
  func `the compiler reports a mistake in a query at its line, by its word and soon`(
    mistake: Mistake
  ) throws {
    try expectTold(mistake)
  }

  @Test(arguments: Mistake.inUpdates)
  func `the compiler reports a mistake in an update at its line, by its word and soon`(
    mistake: Mistake
  ) throws {
    try expectTold(mistake)
  }

  @Test(arguments: Mistake.inCalls)
  func `the compiler reports a mistake in a call at its line, by its word and soon`(
    mistake: Mistake
  ) throws {
    try expectTold(mistake)
  }

  /// A stored snapshot would read pages that no longer exist, so the compiler must refuse it.
  @Test(arguments: [
    "struct Keeper: ReadableTransaction {\n  var access: TransactionAccess\n}",
    "final class Keeper {\n  var kept: Snapshot?\n  func keep(_ store: Store) throws {\n"
      + "    try store.read { self.kept = $0 }\n  }\n}",
  ])
  func `the compiler refuses to store a snapshot or its values beyond the closure`(source: String)
    throws
  {
    let result = try #require(CompilerCheck.shared).check(source)
    #expect(result.line != nil, "it compiles")
  }

  @Test func `the compiler accepts ten correct conditions in little time`() throws {
    let check = try #require(CompilerCheck.shared)
    let empty = try (0..<3).map { _ in try check.check("").seconds }.min() ?? 0
    let results = try (0..<3).map { _ in try check.check(CheckedFilm.tenConditions) }
    #expect(results.allSatisfy { $0.line == nil }, "\(results[0].output)")
    let seconds = results.map(\.seconds).min() ?? .infinity
    // On an idle machine the difference is less than 50 milliseconds.
    #expect(seconds - empty < 0.5, "\(seconds) s, of which \(empty) s are the compiler's start")
  }

  /// A regression test: with overloads for any number of aggregates or attributes, most of these
  /// expressions took 5 to 40 seconds.
  @Test(arguments: CheckedFilm.summaries, ["try ", "try await "])
  func `the compiler accepts groups and values in a longer expression in little time`(
    expression: String, effects: String
  ) throws {
    let result = try #require(try Self.summaries.get()[Self.summary(expression, effects)])
    #expect(result.line == nil, "\(result.output)")
    #expect(!result.output.contains("to type-check"), "\(result.output)")
  }

  private static func summary(_ expression: String, _ effects: String) -> String {
    let isAsynchronous = effects.contains("await")
    return "private func use(_: Bool) {}\n"
      + "private func summary(_ store: Store) \(isAsynchronous ? "async " : "")throws {\n"
      + "  use(\(effects)store.\(expression))\n}"
  }

  @Test func `the import does not slow down the compilation of faulty unrelated code`() throws {
    let check = try #require(CompilerCheck.shared)
    let chains = CheckedFilm.faultyChains.enumerated().map { index, chain in
      "func f\(index)(_ q: Q, _ x: Int) -> Bool { \(chain) }"
    }
    let types = "struct Q { var a: Int?; var b: Int; var c: Int; var d: Int?; var e: Bool }"
    let source = ([types] + chains).joined(separator: "\n")
    let with = try check.check(source)
    let without = try check.check(source, importing: false)
    #expect(with.output.split(separator: ": error: ").count > chains.count, "\(with.output)")
    #expect(!with.output.contains("reasonable time"))
    // Each chain may take half a second. All chains may take twice their time without the import.
    #expect(with.seconds < 0.5 * Double(chains.count))
    #expect(with.seconds < 2 * without.seconds + 1, "\(with.seconds) s, alone \(without.seconds) s")
  }
}
