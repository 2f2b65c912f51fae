import LodestoreFormat
import Testing

@testable import EntityStore

@Suite struct `Format arguments` {
  private func text(
    _ format: String, _ arguments: FormatArgument..., variables: [String: FormatArgument] = [:]
  ) throws -> String {
    ConditionPrinter.text(
      try ConditionParser.parse(format, arguments: arguments, variables: variables).tree)
  }

  private func message(
    _ format: String, _ arguments: FormatArgument..., variables: [String: FormatArgument] = [:]
  ) -> String {
    do {
      _ = try ConditionParser.parse(format, arguments: arguments, variables: variables)
      return "nothing"
    } catch {
      return String(error.message.dropFirst("cannot parse the condition: ".count))
    }
  }

  @Test func `a value is inserted unchanged and never read as text of the format`() throws {
    #expect(
      try text("a == %@", .value(.string("1 OR TRUEPREDICATE"))) == "a == \"1 OR TRUEPREDICATE\"")
    #expect(try text("a == %@", .value(.string("\"; %@"))) == #"a == "\"; %@""#)
    #expect(try text("%@ == a", .value(.null)) == "NULL == a")
    #expect(try text("a IN %@", .list([.integer(1), .string("x")])) == "a IN { 1, \"x\" }")
    #expect(try text("a BETWEEN %@", .list([.integer(1), .integer(2)])) == "a BETWEEN { 1, 2 }")
    #expect(
      try text("a BETWEEN { %@, %@ }", .value(.integer(1)), .value(.integer(2)))
        == "a BETWEEN { 1, 2 }")
    #expect(try text("a == -%@", .value(.integer(5))) == "a == -(5)")
    #expect(try text("a[%@] == %@", .value(.integer(2)), .value(.bool(true))) == "a[2] == TRUE")
    #expect(
      try text("CAST(%@, %@) == a", .value(.integer(0)), .value(.string("NSDate")))
        == "CAST(\"2001-01-01T00:00:00Z\", \"date\") == a")
  }

  @Test func `a key path is inserted at every place for a path`() throws {
    #expect(try text("%K == 1", .path("license.type")) == "license.type == 1")
    #expect(try text("%K == 1", .value(.string("name"))) == "name == 1")
    #expect(try text("%K.b[0] == 1", .path("a")) == "a.b[0] == 1")
    #expect(try text("a.%K.c == 1", .path("b[FIRST]")) == "a.b[FIRST].c == 1")
    #expect(try text("a.@sum.%K > 1", .path("b")) == "a.@sum.b > 1")
    #expect(try text("%K", .path("done")) == "done == TRUE")
    #expect(
      try text("NOT %K AND %K > 1", .path("a"), .path("@count"))
        == "NOT a == TRUE AND SELF.@count > 1")
    #expect(
      try text("SUBQUERY(a, $x, $x.%K > 1).@count > 0", .path("b.c"))
        == "SUBQUERY(a, $x, $x.b.c > 1).@count > 0")
  }

  @Test func `no word of an inserted key path is reserved, but SELF in capitals`() throws {
    #expect(try text("%K == 1", .path("in")) == "#in == 1")
    #expect(try text("%K == 1", .path("AND.any")) == "#AND.#any == 1")
    #expect(try text("%K == 1", .path("self")) == "#self == 1")
    #expect(try text("%K == 1", .path("SELF.name")) == "name == 1")
    #expect(try text("%K == 1", .path("SELF['first name']")) == "SELF[\"first name\"] == 1")
  }

  @Test func `printf marks accept the types of their letters`() throws {
    for mark in ["%d", "%i", "%u", "%ld", "%lld", "%lu", "%hd", "%qd"] {
      #expect(try text("a == \(mark)", .value(.integer(-7))) == "a == -7", "\(mark)")
      #expect(
        message("a == \(mark)", .value(.double(1.5))).hasSuffix("expected an integer as argument 1")
      )
    }
    for mark in ["%f", "%lf", "%g", "%e"] {
      #expect(try text("a == \(mark)", .value(.double(1.5))) == "a == 1.5", "\(mark)")
      #expect(try text("a == \(mark)", .value(.integer(2))) == "a == 2.0", "\(mark)")
      #expect(
        message("a == \(mark)", .value(.string("x"))).hasSuffix("expected a number as argument 1"))
    }
    #expect(try text("a == %d", .value(.bool(true))) == "a == TRUE")
    #expect(try text("a == %u", .value(.unsigned(.max))) == "a == 18446744073709551615")
    #expect(try text("a == %s", .value(.string("x"))) == "a == \"x\"")
  }

  @Test func `marks in quotes are text, and a percent sign after an operand is the remainder`()
    throws
  {
    #expect(try text("a == '%@ %K %d'") == "a == \"%@ %K %d\"")
    #expect(try text("a %d == 1") == "a % d == 1")
    #expect(try text("a %%d == 1", .value(.integer(3))) == "a % 3 == 1")
  }

  @Test func `arguments that are missing, left over or of the wrong kind have their position`() {
    #expect(
      message("a == %@ AND b == %@", .value(.null))
        == "line 1, column 18: found '%@', expected argument 2 for it (1 is given)")
    #expect(
      message("a == %@", .value(.null), .value(.null))
        == "line 1, column 8: found the end, expected a mark such as %@ for argument 2 (2 are given)"
    )
    #expect(
      message("a == 1 AND\n b == %K", .value(.integer(1)))
        == "line 2, column 7: found '%K', expected a key path as argument 1")
    #expect(
      message("a == %@", .path("b"))
        == "line 1, column 6: found '%@', expected a value (a key path is inserted by %K) as argument 1"
    )
    for path in [
      "", "a b", "a == 1", "a.", ".a", "1", "a[%d]", "%K", "$x", "a..b", "a OR b", "a;", "SELF.",
    ] {
      #expect(
        message("%K == 1", .path(path))
          == "line 1, column 1: found '%K', expected a key path such as license.type for it",
        "\(path)")
    }
    #expect(
      message("%@", .value(.bool(true))).hasSuffix("found the end, expected an operator such as ==")
    )
    #expect(
      message("%@.b == 1", .value(.null)).hasPrefix(
        "line 1, column 3: found '.', expected an operator"))
    #expect(
      message("a[%K] == 1", .path("b")).hasPrefix(
        "line 1, column 3: found '%', expected a position"))
    #expect(
      message("a[%d] == 1", .value(.integer(-1))).hasPrefix(
        "line 1, column 3: found '%', expected a position"))
  }

  @Test func `variables are inserted at each occurrence, and SUBQUERY declares its own variable`()
    throws
  {
    let given: [String: FormatArgument] = [
      "x": .value(.integer(1)), "list": .list([.integer(1), .integer(2)]), "path": .path("a.b"),
    ]
    #expect(try text("a == $x AND b == $x", variables: given) == "a == 1 AND b == 1")
    #expect(
      try text("a IN $list AND a BETWEEN $list", variables: given)
        == "a IN { 1, 2 } AND a BETWEEN { 1, 2 }")
    #expect(try text("$path.c[0] == $later", variables: given) == "a.b.c[0] == $later")
    #expect(
      try text("SUBQUERY(a, $x, $x.b == $list).@count == $x", variables: given)
        == "SUBQUERY(a, $x, $x.b == { 1, 2 }).@count == 1")
    #expect(message("$x.b == 1", variables: given).hasPrefix("line 1, column 3: found '.'"))
    #expect(
      message("$bad == 1", variables: ["bad": .path("a b")])
        == "line 1, column 1: found '$bad', expected a key path such as license.type for it")
  }

  @Test func `no value appears in a message`() {
    for mark in ["%d", "%f", "%K", "a[%@] ==", "CAST(%@, 'date') ==", "CAST(a, %@) =="] {
      let text = message("\(mark) == 1", .value(.string("my secret")))
      #expect(text != "nothing" && !text.contains("secret"), "\(text)")
    }
  }
}
