import EntityStore
import Testing

/// A format string and how the condition that it says is printed.
struct FormatSentence: Sendable, CustomTestStringConvertible {
  let text: String
  let printed: String

  /// Makes a sentence whose condition is printed as `printed`, by default as `text`.
  init(_ text: String, _ printed: String? = nil) {
    self.text = text
    self.printed = printed ?? text
  }

  var testDescription: String { text.debugDescription }
}

extension FormatSentence {
  /// Every operator in every spelling.
  static let operators: [FormatSentence] = [
    FormatSentence("a = 1", "a == 1"), FormatSentence("a == 1"),
    FormatSentence("a != 1"), FormatSentence("a <> 1", "a != 1"),
    FormatSentence("a < 1"), FormatSentence("a > 1"),
    FormatSentence("a <= 1"), FormatSentence("a =< 1", "a <= 1"),
    FormatSentence("a >= 1"), FormatSentence("a => 1", "a >= 1"),
    FormatSentence("a=1", "a == 1"), FormatSentence("a<>-1", "a != -1"),
    FormatSentence("a BETWEEN { 1, 10 }"),
    FormatSentence("a between {1,10}", "a BETWEEN { 1, 10 }"),
    FormatSentence("a BETWEEN {lower, upper + 1}", "a BETWEEN { lower, upper + 1 }"),
    FormatSentence("a BETWEEN bounds"), FormatSentence("a BETWEEN $bounds"),
    FormatSentence("a IN { 1, 2 }"), FormatSentence("a in {}", "a IN {}"),
    FormatSentence("'x' IN tags", "\"x\" IN tags"),
    FormatSentence("a CONTAINS \"x\""), FormatSentence("a contains 'x'", "a CONTAINS \"x\""),
    FormatSentence("a BEGINSWITH \"x\""), FormatSentence("a EndsWith \"x\"", "a ENDSWITH \"x\""),
    FormatSentence("a LIKE \"x*\""), FormatSentence("a MATCHES \"x.*\""),
    FormatSentence("a ==[c] \"x\""), FormatSentence("a =[d]\"x\"", "a ==[d] \"x\""),
    FormatSentence("a LIKE [cd] \"x\"", "a LIKE[cd] \"x\""),
    FormatSentence("a MATCHES[DC] \"x\"", "a MATCHES[cd] \"x\""),
    FormatSentence("a IN[n] { \"x\" }"), FormatSentence("a <[cd] b"), FormatSentence("a !=[c] b"),
    FormatSentence("a CONTAINS[cdn] b"), FormatSentence("a BETWEEN[c] { \"a\", \"b\" }"),
    FormatSentence("TRUEPREDICATE"), FormatSentence("falsePredicate", "FALSEPREDICATE"),
    FormatSentence("ANY tags == 1"), FormatSentence("SOME tags == 1", "ANY tags == 1"),
    FormatSentence("all tags.size > 1", "ALL tags.#size > 1"), FormatSentence("NONE tags == 1"),
    FormatSentence("NOT ANY tags == 1", "NONE tags == 1"), FormatSentence("NOT NONE tags == 1"),
    FormatSentence("NOT SOME a IN b", "NONE a IN b"), FormatSentence("NOT ALL a == 1"),
    FormatSentence("ANY items.done", "ANY items.done == TRUE"),
    FormatSentence("NONE items.done", "NONE items.done == TRUE"),
    FormatSentence("ANY (a.b) > 3", "ANY a.b > 3"),
  ]

  /// NOT binds tighter than AND, and AND tighter than OR; some groups keep their parentheses.
  static let logic: [FormatSentence] = [
    FormatSentence("a == 1 AND b == 2 AND c == 3"), FormatSentence("a == 1 OR b == 2 OR c == 3"),
    FormatSentence("a == 1 && b == 2 || c == 3", "a == 1 AND b == 2 OR c == 3"),
    FormatSentence("a == 1 OR b == 2 AND c == 3"),
    FormatSentence("(a == 1 OR b == 2) AND c == 3"),
    FormatSentence("(a == 1 AND b == 2) OR c == 3", "a == 1 AND b == 2 OR c == 3"),
    FormatSentence("a == 1 AND (b == 2 AND c == 3)"),
    FormatSentence("(a == 1 OR b == 2) OR c == 3"),
    FormatSentence("((a == 1 AND b == 2))", "a == 1 AND b == 2"),
    FormatSentence("NOT a == 1 AND b == 2"), FormatSentence("NOT (a == 1 AND b == 2)"),
    FormatSentence("NOT NOT a == 1"), FormatSentence("!!a", "NOT NOT a == TRUE"),
    FormatSentence("! (a == 1)", "NOT a == 1"), FormatSentence("!a==1", "NOT a == 1"),
    FormatSentence("NOT a OR NOT b", "NOT a == TRUE OR NOT b == TRUE"),
    FormatSentence("a==1 &&!b", "a == 1 AND NOT b == TRUE"),
    FormatSentence("a == 1 and b == 2 or not c == 3", "a == 1 AND b == 2 OR NOT c == 3"),
    FormatSentence("deprecated AND stars > 3", "deprecated == TRUE AND stars > 3"),
    FormatSentence("NOT deprecated", "NOT deprecated == TRUE"),
    FormatSentence("(deprecated)", "deprecated == TRUE"),
    FormatSentence("((deprecated)) OR (a.b[0])", "deprecated == TRUE OR a.b[0] == TRUE"),
    FormatSentence("TRUEPREDICATE OR FALSEPREDICATE AND TRUEPREDICATE"),
    FormatSentence("(TRUEPREDICATE)", "TRUEPREDICATE"),
  ]

  /// The forms that a parenthesis can open.
  static let parentheses: [FormatSentence] = [
    FormatSentence("(a) == 1", "a == 1"), FormatSentence("((a)) == ((1))", "a == 1"),
    FormatSentence("(a + 1) * 2 > 3"), FormatSentence("((a) + 1) > 2", "a + 1 > 2"),
    FormatSentence("(a + 1 > 2)", "a + 1 > 2"), FormatSentence("((a + 1) > 2)", "a + 1 > 2"),
    FormatSentence("((a + 1) > 2 AND (b)) OR (c) < 1", "a + 1 > 2 AND b == TRUE OR c < 1"),
    FormatSentence("(a).b == 1", "a.b == 1"), FormatSentence("(a[0]).b.c == 1", "a[0].b.c == 1"),
    FormatSentence("(a) BETWEEN (b)", "a BETWEEN b"), FormatSentence("(1) < a", "1 < a"),
    FormatSentence("NOT (a) == 1", "NOT a == 1"), FormatSentence("(-a) == 1", "-a == 1"),
    FormatSentence("((a == 1) AND ((b)))", "a == 1 AND b == TRUE"),
    FormatSentence("('x') IN (tags)", "\"x\" IN tags"),
    FormatSentence("(SUBQUERY(a, $x, $x)).@count > 1", "SUBQUERY(a, $x, $x == TRUE).@count > 1"),
  ]

  static let arithmetic: [FormatSentence] = [
    FormatSentence("a + b - c == 1"), FormatSentence("a - (b - c) == 1"),
    FormatSentence("(a - b) - c == 1", "a - b - c == 1"), FormatSentence("a + b * c == 1"),
    FormatSentence("(a + b) * c / d % e == 1"), FormatSentence("a * (b / c) == 1"),
    FormatSentence("a ** b ** c == 1"), FormatSentence("(a ** b) ** c == 1"),
    FormatSentence("a ** (b ** c) == 1", "a ** b ** c == 1"),
    FormatSentence("a*b**c==1", "a * b ** c == 1"),
    FormatSentence("(a * b) ** c == 1"), FormatSentence("-a ** 2 == 1"),
    FormatSentence("-(a ** 2) == 1"), FormatSentence("-a + b == 1"),
    FormatSentence("-(a + b) == 1"),
    FormatSentence("a-1 == 1", "a - 1 == 1"), FormatSentence("a - -1 == 1"),
    FormatSentence("a--1 == 1", "a - -1 == 1"), FormatSentence("- -a == 1", "--a == 1"),
    FormatSentence("--1 == a", "-(-1) == a"), FormatSentence("-(1) == a"),
    FormatSentence("- 1 == a", "-1 == a"), FormatSentence("+1 == a", "1 == a"),
    FormatSentence("2 ** -1 == a"), FormatSentence("a%b == 1", "a % b == 1"),
    FormatSentence("a %d == 1", "a % d == 1"), FormatSentence("-{ 1 } == -'x'", "-{ 1 } == -\"x\""),
  ]

  static let paths: [FormatSentence] = [
    FormatSentence("license.type == 1"), FormatSentence("SELF.name == 1", "name == 1"),
    FormatSentence("self == 1", "SELF == 1"), FormatSentence("authors[0] == 1"),
    FormatSentence("a[FIRST] == 1"), FormatSentence("a[last].b == 1", "a[LAST].b == 1"),
    FormatSentence("a[SIZE] > 1"), FormatSentence("a [ 1 ] . b == 1", "a[1].b == 1"),
    FormatSentence("SELF[0] == 1"), FormatSentence("authors.@count > 1"),
    FormatSentence("items.@sum.price > 1"),
    FormatSentence("items.@MIN.price > 1", "items.@min.price > 1"),
    FormatSentence("@count > 1", "SELF.@count > 1"), FormatSentence("items.@max.a.@avg.b > 1"),
    FormatSentence("#in == 1"), FormatSentence("#In.#OR == 1"),
    FormatSentence("#name == 1", "name == 1"),
    FormatSentence("license.in == 1", "license.#in == 1"),
    FormatSentence("a.self == 1", "a.#self == 1"),
    FormatSentence("size > 1 AND first < last", "#size > 1 AND #first < #last"),
    FormatSentence("cast == ternary", "#cast == #ternary"), FormatSentence("count == length"),
    FormatSentence("SELF[\"first name\"] == 1"), FormatSentence("SELF[\"name\"] == 1", "name == 1"),
    FormatSentence("a[\"first name\"]['x'] == 1", "a[\"first name\"].x == 1"),
    FormatSentence("größe == 1"), FormatSentence("名前.a == 1"), FormatSentence("_a1 == 1"),
    FormatSentence("UTI == 1"), FormatSentence("uti-a == 1", "uti - a == 1"),
    FormatSentence("a[0x10] == 1", "a[16] == 1"),
    FormatSentence("$x == $y"), FormatSentence("android > 1 OR order < 2"),
    FormatSentence("notes == 1 AND innings == 2"),
  ]

  static let literals: [FormatSentence] = [
    FormatSentence("a == TRUE AND a == YES", "a == TRUE AND a == TRUE"),
    FormatSentence("a == false AND a == No", "a == FALSE AND a == FALSE"),
    FormatSentence("a == NULL AND a == nil", "a == NULL AND a == NULL"),
    FormatSentence("a == 12"), FormatSentence("a == 007", "a == 7"), FormatSentence("a == 1.5"),
    FormatSentence("a == 1.0"), FormatSentence("a == .5", "a == 0.5"),
    FormatSentence("a == 1e3", "a == 1000.0"),
    FormatSentence("a == 2.5E-3", "a == 0.0025"), FormatSentence("a == 1e+16"),
    FormatSentence("a == -0.0"),
    FormatSentence("a == 0x1F", "a == 31"), FormatSentence("a == 0o17", "a == 15"),
    FormatSentence("a == 0B101", "a == 5"), FormatSentence("a == -0xff", "a == -255"),
    FormatSentence("a == 9223372036854775807"), FormatSentence("a == -9223372036854775808"),
    FormatSentence("a == 9223372036854775808"), FormatSentence("a == 18446744073709551615"),
    FormatSentence("a == 0xFFFFFFFFFFFFFFFF", "a == 18446744073709551615"),
    FormatSentence("a == 5e-324"),
    FormatSentence("a == 1.7976931348623157e308", "a == 1.7976931348623157e+308"),
    FormatSentence("a == 0.1000000000000000055511151231257827", "a == 0.1"),
    FormatSentence("a == \"it's\""), FormatSentence("a == 'say \"so\"'", #"a == "say \"so\"""#),
    FormatSentence(#"a == 'it\'s'"#, #"a == "it's""#), FormatSentence(#"a == "\n\t\r\"\\""#),
    FormatSentence(#"a == "\101\7\0""#, #"a == "A\x07\x00""#),
    FormatSentence(#"a == "\377\x41\x7f""#, #"a == "ÿA\x7f""#),
    FormatSentence(#"a == "\u0041\u00e9""#, #"a == "Aé""#),
    FormatSentence(#"a == "\ud83d\ude00""#, #"a == "😀""#),
    FormatSentence(#"a == "\1234""#, #"a == "S4""#),
    FormatSentence("a == 'x' \"y\"\n'z'", "a == \"xyz\""),
    FormatSentence("a == ''", "a == \"\""), FormatSentence("a == '%@ %K $x'", "a == \"%@ %K $x\""),
    FormatSentence("a == 'two\nlines'", #"a == "two\nlines""#), FormatSentence("a == \"é😀\""),
    FormatSentence("a IN {1, 2.5, 'x', NULL, TRUE}", "a IN { 1, 2.5, \"x\", NULL, TRUE }"),
    FormatSentence("a IN { 1, b, { 2, 3 } }"), FormatSentence("a IN { -1, -b }"),
  ]

  static let calls: [FormatSentence] = [
    FormatSentence("lowercase:(name) == 1"),
    FormatSentence("Lowercase(name) == 1", "lowercase:(name) == 1"),
    FormatSentence("length : ( name ) > 1", "length:(name) > 1"), FormatSentence("abs:(a - b) > 1"),
    FormatSentence("created < now()"), FormatSentence("created < now:()", "created < now()"),
    FormatSentence("uppercase:(canonical:(a)) == floor:(ceiling:(trunc:(b)))"),
    FormatSentence("sqrt:(a) > 1"),
    FormatSentence("modulus:by:(a, 3) == 1", "a % 3 == 1"),
    FormatSentence("Modulus : By : (a + 1, b) == 1", "(a + 1) % b == 1"),
    FormatSentence(
      "raise:toPower:(add:to:(a, b), from:subtract:(c, d)) == 1", "(a + b) ** (c - d) == 1"),
    FormatSentence("multiply:by:(a, divide:by:(b, -2)) == 1", "a * (b / -2) == 1"),
    FormatSentence("add == from.by AND modulus > 1"),
    FormatSentence("sum:({ a, 1 }) > average:(b)"), FormatSentence("count:(a) > min:(b) - max:(c)"),
    FormatSentence("TERNARY(a > 1, b, 2) == 3"),
    FormatSentence("ternary(a, b, c) == 3", "TERNARY(a == TRUE, b, c) == 3"),
    FormatSentence(
      "TERNARY(a OR NOT b, (c), d + 1) == 3", "TERNARY(a == TRUE OR NOT b == TRUE, c, d + 1) == 3"),
    FormatSentence("SUBQUERY(items, $x, $x.price > 3).@count > 0"),
    FormatSentence(
      "SUBQUERY(items, $x, $x.a AND $x.b == c)[SIZE] > 0",
      "SUBQUERY(items, $x, $x.a == TRUE AND $x.b == c)[SIZE] > 0"),
    FormatSentence(
      "subquery(a, $x, subquery($x.b, $y, $y == $x.c).@count > 0).@sum.d > 0",
      "SUBQUERY(a, $x, SUBQUERY($x.b, $y, $y == $x.c).@count > 0).@sum.d > 0"),
    FormatSentence(
      "SUBQUERY(tags, $t, $t)[0].name == $t", "SUBQUERY(tags, $t, $t == TRUE)[0].name == $t"),
    FormatSentence("CAST(a, \"integer\") == 1"),
    FormatSentence("CAST(a, 'NSDate') == 1", "CAST(a, \"date\") == 1"),
    FormatSentence("cast(a + 1, 'Double') == 1", "CAST(a + 1, \"double\") == 1"),
    FormatSentence(
      "CAST(a, 'NSNumber') == CAST(b, 'NSString')", "CAST(a, \"double\") == CAST(b, \"string\")"),
  ]

  /// Uses of CAST with a constant, which the parser replaces by the result.
  static let casts: [FormatSentence] = [
    FormatSentence(
      "a == CAST(\"2024-01-01\", \"date\")", "a == CAST(\"2024-01-01T00:00:00Z\", \"date\")"),
    FormatSentence("a == CAST(0, 'NSDate')", "a == CAST(\"2001-01-01T00:00:00Z\", \"date\")"),
    FormatSentence("a == CAST(-1.5, 'date')", "a == CAST(\"2000-12-31T23:59:58.500Z\", \"date\")"),
    FormatSentence("a == CAST(1e300, \"date\")", "a == CAST(1e+300, \"date\")"),
    FormatSentence("a == CAST(CAST(\"NaN\", \"double\"), \"date\")"),
    FormatSentence("a == CAST('5', 'integer')", "a == 5"),
    FormatSentence("a == CAST('-5', 'int64')", "a == -5"),
    FormatSentence("a == CAST(5.9, 'integer')", "a == 5"),
    FormatSentence("a == CAST(TRUE, 'integer')", "a == 1"),
    FormatSentence("a == CAST('18446744073709551615', 'integer')", "a == 18446744073709551615"),
    FormatSentence("a == CAST(CAST('-12e2', 'decimal'), 'integer')", "a == -1200"),
    FormatSentence("a == CAST(CAST('12.9', 'decimal'), 'integer')", "a == 12"),
    FormatSentence("a == CAST('5', 'double')", "a == 5.0"),
    FormatSentence("a == CAST(5, 'double')", "a == 5.0"),
    FormatSentence("a == CAST('5', 'NSNumber')", "a == 5"),
    FormatSentence("a == CAST('5.5', 'NSNumber')", "a == 5.5"),
    FormatSentence("a == CAST(\"Infinity\", \"double\")"),
    FormatSentence("a == CAST(\"-Infinity\", \"double\")"),
    FormatSentence("a == CAST('-NaN', 'double')", "a == CAST(\"NaN\", \"double\")"),
    FormatSentence("a == CAST('1.50', 'decimal')", "a == CAST(\"1.5\", \"decimal\")"),
    FormatSentence("a == CAST(0.1, 'NSDecimalNumber')", "a == CAST(\"0.1\", \"decimal\")"),
    FormatSentence("a == CAST(\"NaN\", \"decimal\")"),
    FormatSentence("a == CAST(5, 'string')", "a == \"5\""),
    FormatSentence("a == CAST(CAST(0, 'date'), 'string')", "a == \"2001-01-01T00:00:00Z\""),
    FormatSentence("a == CAST(CAST(0, 'date'), 'double')", "a == 0.0"),
    FormatSentence(
      "a == CAST('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'NSUUID')",
      "a == CAST(\"6BA7B810-9DAD-11D1-80B4-00C04FD430C8\", \"uuid\")"),
    FormatSentence("a == CAST(\"aGk=\", \"data\")"),
    FormatSentence(
      "a == CAST('{\"b\":[1,2.5],\"a\":\"it\\'s\"}', \"json\")",
      "a == CAST('{\"a\":\"it\\'s\",\"b\":[1,2.5]}', \"json\")"),
    FormatSentence("a == CAST(5, 'json')", "a == CAST('5', \"json\")"),
    FormatSentence("a == CAST(NULL, 'date')", "a == NULL"),
    FormatSentence("a == CAST('x' 'y', 'str' 'ing')", "a == \"xy\""),
    FormatSentence("a == CAST(-(1), 'integer')", "a == CAST(-(1), \"integer\")"),
  ]

  static let all = operators + logic + parentheses + arithmetic + paths + literals + calls + casts
}
