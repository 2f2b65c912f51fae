import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

@Suite struct `Format limits` {
  private func message(_ text: String, limits: FormatLimits = FormatLimits()) -> String {
    do {
      _ = try ConditionParser.parse(text, limits: limits)
      return "nothing"
    } catch {
      return String(error.message.dropFirst("cannot parse the condition: ".count))
    }
  }

  private static func repeated(_ piece: String, _ count: Int) -> String {
    String(repeating: piece, count: count)
  }

  /// Nested forms, `count` levels deep.
  private static let nests: [(name: String, text: @Sendable (Int) -> String)] = [
    ("NOT", { repeated("NOT ", $0) + "a" }), ("!", { repeated("!", $0) + "a" }),
    ("(", { repeated("(", $0) + "a" + repeated(")", $0) }),
    ("( of an operand", { "a == " + repeated("(", $0) + "a" + repeated(")", $0) }),
    ("NOT (", { repeated("NOT (", $0) + "a" + repeated(")", $0) }),
    ("-", { "a == " + repeated("- ", $0) + "a" }), ("**", { "a == b" + repeated(" ** b", $0) }),
    ("+", { "a == b" + repeated(" + b", $0) }),
    ("{", { "a == " + repeated("{", $0) + repeated("}", $0) }),
    ("abs", { "a == " + repeated("abs:(", $0) + "a" + repeated(")", $0) }),
    ("CAST", { "a == " + repeated("CAST(", $0) + "a" + repeated(", 'date')", $0) }),
    ("TERNARY", { "a == " + repeated("TERNARY(a, ", $0) + "a" + repeated(", a)", $0) }),
    ("TERNARY conditions", { repeated("TERNARY(", $0) + "a" + repeated(", a, a) == 1", $0) }),
    ("SUBQUERY", { "a == " + repeated("SUBQUERY(a, $x, a == ", $0) + "a" + repeated(")", $0) }),
    (
      "SUBQUERY collections",
      { "a == " + repeated("SUBQUERY(", $0) + "a" + repeated(", $x, a)", $0) }
    ),
    ("sums of calls", { "a == " + repeated("a + b * abs:(", $0) + "a" + repeated(")", $0) }),
    ("AND (", { repeated("a AND (", $0) + "a" + repeated(")", $0) }),
  ]

  @Test(arguments: nests.indices)
  func `30 levels of any nesting are read, and 65 or a thousand are refused`(_ index: Int) {
    let nest = Self.nests[index]
    #expect(message(nest.text(15)) == "nothing", "\(nest.name)")
    for count in [65, 1_000, 2_500] {
      let text = message(nest.text(count))
      #expect(
        text.hasSuffix("expected at most 64 levels of nesting (limit: depth)"),
        "\(nest.name) \(count): \(text)")
    }
  }

  @Test(arguments: nests.indices)
  func `an unclosed text beyond the limit of depth is refused for its depth`(_ index: Int) {
    let text = Self.nests[index].text(2_500)
    #expect(message(String(text.prefix(text.utf8.count / 2))).contains("(limit: depth)"))
  }

  @Test func `exactly 64 levels are read, and one more is refused`() {
    // The comparison and its operand count as levels of nesting too.
    #expect(message(Self.repeated("NOT ", 62) + "a") == "nothing")
    #expect(
      message(Self.repeated("NOT ", 63) + "a")
        == "line 1, column 1: found 'NOT', expected at most 64 levels of nesting (limit: depth)")
    #expect(message(Self.repeated("(", 64) + "a" + Self.repeated(")", 64)) == "nothing")
    #expect(
      message(Self.repeated("(", 65) + "a" + Self.repeated(")", 65))
        == "line 1, column 65: found '(', expected at most 64 levels of nesting (limit: depth)")
    #expect(message("a == b" + Self.repeated(" + b", 62)) == "nothing")
    #expect(
      message("a == b" + Self.repeated(" + b", 64))
        == "line 1, column 260: found '+', expected at most 64 levels of nesting (limit: depth)")
  }

  @Test(arguments: nests.indices)
  func `reading the deepest text, and refusing a deeper one, need only a small stack`(
    _ index: Int
  ) async {
    let done = await withCheckedContinuation { continuation in
      let thread = Thread {
        var accepted = 0
        for count in 20...64 {
          let text = Self.nests[index].text(count)
          guard let tree = try? ConditionParser.parse(text).tree else { continue }
          accepted += 1
          if (try? readsBack(tree, as: ConditionPrinter.text(tree))) != true { accepted = -1_000 }
        }
        _ = try? ConditionParser.parse(Self.nests[index].text(2_500))
        continuation.resume(returning: accepted > 0)
      }
      // Threads of dispatch queues have this stack size on some systems.
      thread.stackSize = 512 << 10
      thread.start()
    }
    #expect(done, "\(Self.nests[index].name)")
  }

  @Test func `a thousand nodes are read, and more are refused`() throws {
    let text = Self.repeated("a > 1 OR ", 333)
    #expect(
      message(text + "TRUEPREDICATE").contains(
        "at most 1000 conditions, operands and steps (limit: nodes); write many values as a list, "
          + "a IN { b, c } or a IN %@"))
    #expect(message(Self.repeated("a OR ", 199) + "a") == "nothing")
    #expect(message("a" + Self.repeated(".a", 990)) == "nothing")
    #expect(
      message("a" + Self.repeated(".a", 1_000))
        == "line 1, column 1: found 'a', expected at most 1000 conditions, operands and steps (limit: nodes); "
        + "write many values as a list, a IN { b, c } or a IN %@"
    )
    #expect(message("a" + Self.repeated("[0]", 2_500)).contains("(limit: nodes)"))
  }

  @Test func `an OR of many equalities is a list, and counts as one`() throws {
    let path = { (name: String) in Operand.path(ValuePath(attribute: name)) }
    let many = (0..<2_000).map { "a == \($0)" }.joined(separator: " OR ")
    #expect(
      try ConditionParser.parse(many).tree
        == .comparison(
          Comparison(path("a"), .in, .values((0..<2_000).map { .integer(Int64($0)) }))))
    // The OR has equalities of two paths, another comparison and a comparison with null, and is
    // inside an AND.
    let mixed =
      (0..<600).map { "a == \($0) OR b.c == 't\($0)'" }.joined(separator: " OR ")
      + " OR c > 1 OR a == NULL"
    let tree = try ConditionParser.parse("d == 1 AND (\(mixed))").tree
    let expected = ConditionTree.all([
      .comparison(Comparison(path("d"), .equal, .value(.integer(1)))),
      .any([
        .comparison(
          Comparison(path("a"), .in, .values((0..<600).map { .integer(Int64($0)) } + [.null]))),
        .comparison(
          Comparison(
            .path(ValuePath(.record, [.member("b"), .member("c")])), .in,
            .values((0..<600).map { .string("t\($0)") }))),
        .comparison(Comparison(path("c"), .greater, .value(.integer(1)))),
      ]),
    ])
    #expect(tree == expected)
    // A list written by the user stays separate from the list made of equalities.
    let beside = try ConditionParser.parse(
      "a IN {-1, -2} OR b == 1 OR "
        + (0..<40).map { "a == \($0) OR b == \($0)" }.joined(separator: " OR ")
    ).tree
    guard case .any(let parts) = beside else {
      Issue.record("\(beside)")
      return
    }
    #expect(
      parts.map { ConditionPrinter.text($0) } == [
        "a IN { -1, -2 }", "b IN { 1, \((0..<40).map(String.init).joined(separator: ", ")) }",
        "a IN { \((0..<40).map(String.init).joined(separator: ", ")) }",
      ])
    // Only many equalities of a path with a constant become a list. A few of them, and all other
    // comparisons, stay as written.
    let few = "a == 1 OR a == 2 OR b == 1"
    #expect(ConditionPrinter.text(try ConditionParser.parse(few).tree) == few)
    #expect(
      message((0..<400).map { "a == b\($0)" }.joined(separator: " OR ")).contains("a IN %@"))
  }

  @Test func `a list counts one node for a hundred constants, an argument none`() throws {
    let list = "a IN {" + Self.repeated("1,", 9_999) + "1}"
    #expect(message(list, limits: FormatLimits(nodes: 105)) == "nothing")
    #expect(message(list, limits: FormatLimits(nodes: 100)).contains("(limit: nodes)"))
    let values = [Value](repeating: .integer(1), count: 100_000)
    let condition = try ConditionParser.parse("a IN %@", arguments: [.list(values)])
    #expect(
      condition.tree
        == .comparison(Comparison(.path(ValuePath(attribute: "a")), .in, .values(values))))
    #expect(message("a IN {" + Self.repeated("b,", 999) + "b}").contains("(limit: nodes)"))
  }

  @Test func `a text of 64 KiB is read, and a longer one is refused`() {
    let text = "a == '" + Self.repeated("x", 65_536 - 7) + "'"
    #expect(message(text) == "nothing")
    #expect(
      message(text + " ")
        == "line 1, column 1: found '65537 bytes', expected at most 65536 bytes (limit: bytes)")
    #expect(message("a == 1", limits: FormatLimits(bytes: 5)).contains("(limit: bytes)"))
  }

  @Test func `limits can be set, and the depth to 128 at most`() {
    #expect(message("NOT NOT a", limits: FormatLimits(depth: 3)).contains("at most 3 levels"))
    #expect(FormatLimits(depth: 1 << 40).depth == 128)
    #expect(
      FormatLimits(depth: -1, nodes: -1, bytes: -1) == FormatLimits(depth: 0, nodes: 0, bytes: 0))
    #expect(message("TRUEPREDICATE", limits: FormatLimits(depth: 0)).contains("at most 0 levels"))
  }
}
