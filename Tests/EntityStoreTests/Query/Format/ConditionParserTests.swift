import LodestoreFormat
import Testing

@testable import EntityStore

@Suite struct `Format string` {
  @Test(arguments: FormatSentence.all)
  func `every spelling is read and printed in its canonical form`(_ sentence: FormatSentence) throws
  {
    let tree = try ConditionParser.parse(sentence.text).tree
    #expect(ConditionPrinter.text(tree) == sentence.printed)
    #expect(try readsBack(tree, as: sentence.printed))
  }

  @Test(arguments: FormatSentence.all)
  func `keywords are equal in upper and lower case, and white space is free`(
    _ sentence: FormatSentence
  ) throws {
    let tree = try ConditionParser.parse(sentence.text).tree
    let spaced = " \t\n\r\u{0B}\u{0C}\(sentence.text)\n "
    #expect(try ConditionParser.parse(spaced).tree == tree || sentence.text.contains("NaN"))
  }

  private static func condition(_ name: String) -> ConditionTree {
    .comparison(Comparison(path(.member(name)), .equal, .value(.integer(1))))
  }

  private static func path(_ steps: ValuePath.Step...) -> Operand {
    .path(ValuePath(.record, steps))
  }

  private static let logic: [(String, ConditionTree)] = {
    let (a, b, c) = (condition("a"), condition("b"), condition("c"))
    return [
      ("a == 1 AND b == 1 AND c == 1", .all([a, b, c])),
      ("a == 1 OR b == 1 OR c == 1", .any([a, b, c])),
      ("a == 1 OR b == 1 AND c == 1", .any([a, .all([b, c])])),
      ("a == 1 AND b == 1 OR c == 1", .any([.all([a, b]), c])),
      ("(a == 1 OR b == 1) AND c == 1", .all([.any([a, b]), c])),
      ("(a == 1 AND b == 1) AND c == 1", .all([.all([a, b]), c])),
      ("a == 1 OR (b == 1 OR c == 1)", .any([a, .any([b, c])])),
      ("((a == 1 AND b == 1))", .all([a, b])),
      ("NOT a == 1 AND b == 1", .all([.not(a), b])),
      ("NOT a == 1 OR NOT b == 1", .any([.not(a), .not(b)])),
      ("NOT (a == 1 OR b == 1) AND c == 1", .all([.not(.any([a, b])), c])),
      ("!!a == 1", .not(.not(a))),
      ("TRUEPREDICATE AND a == 1", .all([.constant(true), a])),
    ]
  }()

  @Test(arguments: logic)
  func `NOT binds before AND before OR, and groups stay groups`(
    _ text: String, _ tree: ConditionTree
  ) throws {
    #expect(try ConditionParser.parse(text).tree == tree)
  }

  private static let (a, b) = (path(.member("a")), path(.member("b")))

  private static let operands: [(String, Operand)] = [
    ("-5", .value(.integer(-5))), ("- 5", .value(.integer(-5))), ("+5", .value(.integer(5))),
    ("-(5)", .negative(.value(.integer(5)))), ("--5", .negative(.value(.integer(-5)))),
    ("-a", .negative(a)), ("-a ** b", .arithmetic(.power, .negative(a), b)),
    ("a - b - 1", .arithmetic(.subtract, .arithmetic(.subtract, a, b), .value(.integer(1)))),
    ("a - (b - 1)", .arithmetic(.subtract, a, .arithmetic(.subtract, b, .value(.integer(1))))),
    ("a + b * 2", .arithmetic(.add, a, .arithmetic(.multiply, b, .value(.integer(2))))),
    ("(a + b) * 2", .arithmetic(.multiply, .arithmetic(.add, a, b), .value(.integer(2)))),
    ("a ** b ** 2", .arithmetic(.power, a, .arithmetic(.power, b, .value(.integer(2))))),
    ("a / b % 2", .arithmetic(.remainder, .arithmetic(.divide, a, b), .value(.integer(2)))),
    ("{ 1, 'x' }", .values([.integer(1), .string("x")])), ("{}", .values([])),
    ("{ 1, a }", .list([.value(.integer(1)), a])),
    ("{ {1}, 2 }", .list([.values([.integer(1)]), .value(.integer(2))])),
    ("$later", .variable("later")), ("now()", .call(.now, [])), ("abs:(a)", .call(.abs, [a])),
    ("CAST(a, 'date')", .cast(a, .date)), ("CAST('3', 'integer')", .value(.integer(3))),
    ("CAST(0, 'NSDate')", .value(.date(0))), ("CAST('NaN', 'decimal')", .value(.decimal(.nan))),
    (
      "CAST('00000000-0000-0001-0000-000000000002', 'uuid')",
      .value(.uuid(UUIDBytes(high: 1, low: 2)))
    ),
    ("CAST('AQI=', 'data')", .value(.data([1, 2]))),
    (
      "a.in[0].@sum.b",
      path(.member("a"), .member("in"), .element(0), .aggregate(.sum), .member("b"))
    ),
    ("SELF", path()), ("SELF[FIRST][LAST][SIZE]", path(.first, .last, .size)),
    ("#and", path(.member("and"))), ("a['x y']", path(.member("a"), .member("x y"))),
    ("TERNARY(a, 1, b)", .conditional(truth(a), .value(.integer(1)), b)),
    (
      "SUBQUERY(a, $x, $x.b).@count",
      .subquery(
        a, variable: "x", truth(.path(ValuePath(.variable("x"), [.member("b")]))),
        [.aggregate(.count)])
    ),
    ("'a' \"b\"", .value(.string("ab"))), ("9223372036854775808", .value(.unsigned(1 << 63))),
  ]

  private static func truth(_ operand: Operand) -> ConditionTree {
    .comparison(Comparison(operand, .equal, .value(.bool(true))))
  }

  @Test(arguments: operands)
  func `every operand becomes the node that it means`(_ text: String, _ operand: Operand) throws {
    let expected = ConditionTree.comparison(Comparison(operand, .less, operand))
    let tree = try ConditionParser.parse("\(text) < \(text)").tree
    #expect(tree == expected)
    #expect(ConditionPrinter.text(tree).hasPrefix(ConditionPrinter.text(operand)))
  }

  @Test func `ANY and SOME are one quantifier, and NONE negates it`() throws {
    let any = Comparison(Self.a, .like, Self.b, options: [.caseInsensitive], quantifier: .any)
    #expect(try ConditionParser.parse("ANY a LIKE[c] b").tree == .comparison(any))
    #expect(try ConditionParser.parse("some a like[C] b").tree == .comparison(any))
    #expect(try ConditionParser.parse("NONE a LIKE[c] b").tree == .not(.comparison(any)))
    var all = any
    all.quantifier = .all
    #expect(try ConditionParser.parse("ALL a LIKE[c] b").tree == .comparison(all))
  }

  @Test func `the position of a path is that of its first occurrence`() throws {
    let text = "größe > 1 AND (license.type == größe OR\n  ANY SELF.#in[0] == $x) AND a[SIZE] > 0"
    let positions = try ConditionParser.parse(text).positions
    #expect(
      positions == [
        "größe": FormatPosition(line: 1, column: 1, offset: 0),
        "license.type": FormatPosition(line: 1, column: 16, offset: 17),
        "#in[0]": FormatPosition(line: 2, column: 7, offset: 50),
        "$x": FormatPosition(line: 2, column: 22, offset: 65),
        "a[SIZE]": FormatPosition(line: 2, column: 30, offset: 73),
      ])
  }

  @Test(arguments: RefusedFormat.all)
  func `an invalid condition is refused with its position and the expected token`(
    _ refused: RefusedFormat
  ) {
    let error = #expect(throws: StoreError.self) { try ConditionParser.parse(refused.text) }
    #expect(error?.code == .invalidQuery)
    #expect(error?.message == "cannot parse the condition: \(refused.message)")
  }

  @Test func `the cause has line, column, token, expectation and suggestion`() throws {
    let error = #expect(throws: StoreError.self) {
      try ConditionParser.parse("größe > 1\n  ADN b")
    }
    let cause = try #require(error?.cause as? PredicateSyntaxError)
    #expect(cause.line == 2 && cause.column == 3 && cause.token == "ADN")
    #expect(cause.expected == "AND, OR or the end" && cause.suggestion == "AND")
  }

  @Test func `a long token is cut between letters`() throws {
    let text = "a é" + String(repeating: "ü", count: 50)
    let error = #expect(throws: StoreError.self) { try ConditionParser.parse(text) }
    let cause = try #require(error?.cause as? PredicateSyntaxError)
    #expect(cause.token == "é" + String(repeating: "ü", count: 31))
    let odd = #expect(throws: StoreError.self) {
      try ConditionParser.parse("a x" + text.dropFirst(3))
    }
    #expect((odd?.cause as? PredicateSyntaxError)?.token.utf8.count == 63)
  }
}
