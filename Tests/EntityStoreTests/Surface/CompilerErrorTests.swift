import Foundation
import Testing

/// What the compiler says of mistakes in the use of the public interface, in which line, and how soon.
///
/// The texts are of Swift 6.3; one that has become better is changed here.
@Suite(
  "The compiler", .serialized,
  .enabled(
    if: SwiftCompiler.found != nil, "no swiftc in the search path, or no modules beside the tests"))
struct CompilerErrorTests {
  let compiler: SwiftCompiler

  /// What checking a program without a mistake takes.
  static let base = Result {
    var seconds: [Double] = []
    for _ in 0..<3 {
      let source = program("func tried() { _ = Film.all }")
      seconds.append(
        try SwiftCompiler.found?.check(source, entity: FilmProgram.entity).seconds ?? 0)
    }
    return seconds.min() ?? 0
  }

  init() throws { compiler = try #require(SwiftCompiler.found) }

  /// In one line, so that those of `source` keep their numbers.
  static func program(_ source: String) -> String {
    "import EntityStore; import Foundation; \(source)\n"
  }

  func expectTold(_ mistake: Mistake) throws {
    let bound = try Self.base.get() + 1
    let answer = try compiler.check(
      Self.program(mistake.source), entity: FilmProgram.entity, atMost: bound)
    let first = try #require(answer.errors.first, "it compiles: \(answer.output)")
    #expect(first.line == mistake.line, "\(answer.output)")
    let texts = [mistake.text, mistake.otherText].compactMap(\.self)
    #expect(texts.contains { first.text.contains($0) }, "\(answer.output)")
    #expect(answer.seconds < bound)
  }

  @Test(arguments: Mistake.inConditions)
  func `says in its line what is wrong with a condition`(mistake: Mistake) throws {
    try expectTold(mistake)
  }

  @Test(arguments: Mistake.inQueries)
  func `says in its line what is wrong with a query`(mistake: Mistake) throws {
    try expectTold(mistake)
  }

  @Test(arguments: Mistake.inUpdates)
  func `says in its line what is wrong with an update`(mistake: Mistake) throws {
    try expectTold(mistake)
  }

  @Test(arguments: Mistake.inCalls)
  func `says in its line what is wrong with a call`(mistake: Mistake) throws {
    try expectTold(mistake)
  }

  @Test func `checks ten conditions within fifty milliseconds`() throws {
    var quickest = Double.infinity
    for _ in 0..<8 where quickest >= 50 {
      let answer = try compiler.check(
        FilmProgram.tenConditions, entity: FilmProgram.entity,
        with: ["-Xfrontend", "-debug-time-function-bodies"])
      try #require(answer.errors.isEmpty, "\(answer.output)")
      let line = try #require(
        answer.output.split(separator: "\n").first { $0.contains(").tenConditions") },
        "\(answer.output)")
      quickest = min(
        quickest, try #require(line.split(separator: "ms").first.flatMap { Double($0) }))
    }
    #expect(quickest < 50)
  }

  @Test(arguments: UnrelatedChains.all)
  func `takes no longer for a faulty chain of unrelated code with the import`(
    chain: String
  ) throws {
    let without = try compiler.check(UnrelatedChains.program(chain, importing: "Foundation"))
    try #require(!without.errors.isEmpty, "it compiles")
    let bound = without.seconds + 0.5
    let with = try compiler.check(
      UnrelatedChains.program(chain, importing: "EntityStore"), atMost: bound)
    #expect(with.seconds < bound, "\(with.output)")
    #expect(with.errors.first?.line == without.errors.first?.line, "\(with.output)")
  }
}
