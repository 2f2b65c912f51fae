extension RefusedFormat {
  private static let escapes = #"an escape: \n \t \r \" \' \\ \ooo (to \377) \xhh or \uhhhh"#
  private static let functions =
    "a function: uppercase, lowercase, canonical, length, abs, floor, ceiling, trunc, sqrt, "
    + "onesComplement, count, sum, min, max, average, now, add:to, from:subtract, multiply:by, "
    + "divide:by, modulus:by, raise:toPower, bitwiseAnd:with, bitwiseOr:with, bitwiseXor:with, "
    + "leftshift:by, rightshift:by or a part of a date such as year or startOfMonth"
  private static let types = "a type: integer, double, decimal, string, date, uuid, data or json"
  private static let elements =
    "a position from 0, FIRST, LAST, SIZE or a member's name in quotes"
  private static let marks = "%@, %K, %d, %i, %u, %ld, %f, %lf or %s"
  private static let bound =
    "a variable that a SUBQUERY declares, or that is given, in front of its members"

  /// Operators, conditions, groups and lists.
  static let structure: [RefusedFormat] = [
    RefusedFormat("#", "line 1, column 1: found '#', expected a word after '#'"),
    RefusedFormat(
      "stars > 3 ADN b == 1",
      "line 1, column 11: found 'ADN', expected AND, OR or the end; did you mean AND?"),
    RefusedFormat(
      #"name BEGINWITH "x""#,
      "line 1, column 6: found 'BEGINWITH', "
        + "expected an operator, AND, OR or the end; did you mean BEGINSWITH?"),
    RefusedFormat(
      #"name CONTAIN "x""#,
      "line 1, column 6: found 'CONTAIN', "
        + "expected an operator, AND, OR or the end; did you mean CONTAINS?"),
    RefusedFormat(
      #"name LIEK "x""#,
      "line 1, column 6: found 'LIEK', "
        + "expected an operator, AND, OR or the end; did you mean LIKE?"),
    RefusedFormat("a == 1 a == 2", "line 1, column 8: found 'a', expected AND, OR or the end"),
    RefusedFormat(
      "a == 1 NAD b",
      "line 1, column 8: found 'NAD', expected AND, OR or the end; did you mean AND?"),
    RefusedFormat(
      "a === 1",
      "line 1, column 3: found '===', expected an operator, AND, OR or the end; did you mean ==?"),
    RefusedFormat(
      "a !== 1",
      "line 1, column 3: found '!==', expected an operator, AND, OR or the end; did you mean !=?"),
    RefusedFormat(
      "a =! 1",
      "line 1, column 3: found '=!', expected an operator, AND, OR or the end; did you mean !=?"),
    RefusedFormat(
      "a >< 1",
      "line 1, column 3: found '><', expected an operator, AND, OR or the end; did you mean !=?"),
    RefusedFormat(
      "a & b",
      "line 1, column 6: found the end, expected an operator such as ==; did you mean && before?"),
    RefusedFormat(
      "a == 1 | b == 2",
      "line 1, column 12: found '==', expected AND, OR or the end; did you mean || before?"),
    RefusedFormat(
      "a ~ 1",
      "line 1, column 3: found '~', expected an operator, AND, OR or the end; did you mean LIKE?"),
    RefusedFormat("a == ", "line 1, column 6: found the end, expected a value or a key path"),
    RefusedFormat("AND", "line 1, column 1: found 'AND', expected a condition"),
    RefusedFormat("a AND", "line 1, column 6: found the end, expected a condition"),
    RefusedFormat("a == 1 AND", "line 1, column 11: found the end, expected a condition"),
    RefusedFormat("a OR OR b", "line 1, column 6: found 'OR', expected a condition"),
    RefusedFormat("NOT", "line 1, column 4: found the end, expected a condition"),
    RefusedFormat("NOT AND", "line 1, column 5: found 'AND', expected a condition"),
    RefusedFormat("== 1", "line 1, column 1: found '==', expected a condition"),
    RefusedFormat("a == == 1", "line 1, column 6: found '==', expected a value or a key path"),
    RefusedFormat("a == AND", "line 1, column 6: found 'AND', expected a value or a key path"),
    RefusedFormat(
      "in == 1",
      "line 1, column 1: found 'in', expected a condition; did you mean #in?"),
    RefusedFormat(
      "any > 3",
      "line 1, column 1: found 'any', expected a condition; did you mean #any?"),
    RefusedFormat("a == in", "line 1, column 6: found 'in', expected a value or a key path"),
    RefusedFormat("no.x == 1", "line 1, column 3: found '.', expected an operator such as =="),
    RefusedFormat("1", "line 1, column 2: found the end, expected an operator such as =="),
    RefusedFormat("1 == ", "line 1, column 6: found the end, expected a value or a key path"),
    RefusedFormat("'x'", "line 1, column 4: found the end, expected an operator such as =="),
    RefusedFormat("1 AND a", "line 1, column 3: found 'AND', expected an operator such as =="),
    RefusedFormat("a + 1", "line 1, column 6: found the end, expected an operator such as =="),
    RefusedFormat("a + 1 AND b", "line 1, column 7: found 'AND', expected an operator such as =="),
    RefusedFormat(
      "(a + 1) AND b",
      "line 1, column 9: found 'AND', expected an operator such as =="),
    RefusedFormat("NOT 5", "line 1, column 6: found the end, expected an operator such as =="),
    RefusedFormat("(a", "line 1, column 3: found the end, expected an operator, AND, OR or ')'"),
    RefusedFormat("(a == 1", "line 1, column 8: found the end, expected AND, OR or ')'"),
    RefusedFormat("(a == 1 b", "line 1, column 9: found 'b', expected AND, OR or ')'"),
    RefusedFormat("(a b)", "line 1, column 4: found 'b', expected an operator, AND, OR or ')'"),
    RefusedFormat("(1 b)", "line 1, column 4: found 'b', expected an operator or ')'"),
    RefusedFormat("(1", "line 1, column 3: found the end, expected an operator or ')'"),
    RefusedFormat("()", "line 1, column 2: found ')', expected a condition"),
    RefusedFormat("a == ()", "line 1, column 7: found ')', expected a value or a key path"),
    RefusedFormat("a == 1)", "line 1, column 7: found ')', expected AND, OR or the end"),
    RefusedFormat(
      "a IN (1, 2)",
      "line 1, column 8: found ',', "
        + "expected an operator or ')' (a list is written in braces, { a, b })"),
    RefusedFormat(
      "(a, b) == 1",
      "line 1, column 3: found ',', "
        + "expected an operator, AND, OR or ')' (a list is written in braces, { a, b })"),
    RefusedFormat("a == {1, 2", "line 1, column 11: found the end, expected ',' or '}'"),
    RefusedFormat("a == {1 2}", "line 1, column 9: found '2', expected ',' or '}'"),
    RefusedFormat("a == {1,}", "line 1, column 9: found '}', expected a value or a key path"),
    RefusedFormat("a == {,1}", "line 1, column 7: found ',', expected a value or a key path"),
    RefusedFormat("a == {", "line 1, column 7: found the end, expected a value or a key path"),
    RefusedFormat(
      "a BETWEEN 1 AND 2",
      "line 1, column 11: found '1', expected a list of two, { lower, upper }, after BETWEEN"),
    RefusedFormat(
      "a BETWEEN {1}",
      "line 1, column 11: found '{', expected a list of two, { lower, upper }, after BETWEEN"),
    RefusedFormat(
      "a BETWEEN {1, 2, 3}",
      "line 1, column 11: found '{', expected a list of two, { lower, upper }, after BETWEEN"),
    RefusedFormat(
      "a BETWEEN {}",
      "line 1, column 11: found '{', expected a list of two, { lower, upper }, after BETWEEN"),
    RefusedFormat("a LIKE[x] 'b'", "line 1, column 8: found 'x', expected c, d, cd or n"),
    RefusedFormat("a LIKE[c 'b'", "line 1, column 10: found ''b'', expected ']'"),
    RefusedFormat("a LIKE[] 'b'", "line 1, column 8: found ']', expected c, d, cd or n"),
    RefusedFormat("a LIKE[cl] 'b'", "line 1, column 8: found 'cl', expected c, d, cd or n"),
    RefusedFormat("a LIKE['c'] 'b'", "line 1, column 8: found ''c'', expected c, d, cd or n"),
    RefusedFormat(
      "a == 'x",
      "line 1, column 6: found ''x', expected a string that ends with its quote"),
    RefusedFormat(
      #"a == "x'"#,
      #"line 1, column 6: found '"x'', expected a string that ends with its quote"#),
  ]

  /// Strings, numbers and key paths.
  static let tokens: [RefusedFormat] = [
    RefusedFormat(
      #"a == "x\""#,
      #"line 1, column 6: found '"x\"', expected a string that ends with its quote"#),
    RefusedFormat(#"a == '\q'"#, #"line 1, column 7: found '\q', expected "# + escapes),
    RefusedFormat(
      #"a == '\"#,
      #"line 1, column 6: found ''\', expected a string that ends with its quote"#),
    RefusedFormat(#"a == '\x4'"#, #"line 1, column 7: found '\x4', expected "# + escapes),
    RefusedFormat(#"a == '\u12'"#, #"line 1, column 7: found '\u12', expected "# + escapes),
    RefusedFormat(#"a == '\ud83d'"#, #"line 1, column 7: found '\ud83d', expected "# + escapes),
    RefusedFormat(
      #"a == '\ud83d\u0041'"#,
      #"line 1, column 7: found '\ud83d\u0041', expected "# + escapes),
    RefusedFormat(#"a == '\ude00'"#, #"line 1, column 7: found '\ude00', expected "# + escapes),
    RefusedFormat(#"a == '\400'"#, #"line 1, column 7: found '\400', expected "# + escapes),
    RefusedFormat(#"a == '\é'"#, #"line 1, column 7: found '\é', expected "# + escapes),
    RefusedFormat(
      "a == 5x",
      "line 1, column 6: found '5x', expected a number such as 12, 1.5, 2e10 or 0x1F"),
    RefusedFormat(
      "a == 1.",
      "line 1, column 6: found '1.', expected a number such as 12, 1.5, 2e10 or 0x1F"),
    RefusedFormat(
      "a == 1..2",
      "line 1, column 6: found '1.', expected a number such as 12, 1.5, 2e10 or 0x1F"),
    RefusedFormat(
      "a == 1e",
      "line 1, column 6: found '1e', expected a number such as 12, 1.5, 2e10 or 0x1F"),
    RefusedFormat(
      "a == 1e+",
      "line 1, column 6: found '1e+', expected a number such as 12, 1.5, 2e10 or 0x1F"),
    RefusedFormat(
      "a == 0x",
      "line 1, column 6: found '0x', expected a number such as 12, 1.5, 2e10 or 0x1F"),
    RefusedFormat(
      "a == 0xG",
      "line 1, column 6: found '0xG', expected digits of the number's base"),
    RefusedFormat(
      "a == 0o8",
      "line 1, column 6: found '0o8', expected digits of the number's base"),
    RefusedFormat(
      "a == 0b2",
      "line 1, column 6: found '0b2', expected digits of the number's base"),
    RefusedFormat(
      "a == 12abc",
      "line 1, column 6: found '12abc', expected a number such as 12, 1.5, 2e10 or 0x1F"),
    RefusedFormat(
      "a == 1e400",
      "line 1, column 6: found '1e400', expected a number that a double can hold"),
    RefusedFormat(
      "a == 1e-400",
      "line 1, column 6: found '1e-400', expected a number that a double can hold"),
    RefusedFormat(
      "a == 18446744073709551616",
      "line 1, column 6: found '18446744073709551616', "
        + #"expected an integer of 64 bits, or CAST("…", "decimal")"#),
    RefusedFormat(
      "a == -9223372036854775809",
      "line 1, column 7: found '9223372036854775809', "
        + #"expected an integer of 64 bits, or CAST("…", "decimal")"#),
    RefusedFormat("a == - ", "line 1, column 8: found the end, expected a value or a key path"),
    RefusedFormat("a == +", "line 1, column 7: found the end, expected a number after '+'"),
    RefusedFormat("a == +b", "line 1, column 7: found 'b', expected a number after '+'"),
    RefusedFormat("a == + -1", "line 1, column 8: found '-', expected a number after '+'"),
    RefusedFormat(
      "a == b.",
      "line 1, column 8: found the end, expected a name or a collection operator after '.'"),
    RefusedFormat("a == b.5", "line 1, column 7: found '.5', expected AND, OR or the end"),
    RefusedFormat(
      "a == b.1x",
      "line 1, column 7: found '.1x', expected a number such as 12, 1.5, 2e10 or 0x1F"),
    RefusedFormat(
      "a..b == 1",
      "line 1, column 3: found '.', expected a name or a collection operator after '.'"),
    RefusedFormat(
      "a.[0] == 1",
      "line 1, column 3: found '[', expected a name or a collection operator after '.'"),
    RefusedFormat("a[ == 1", "line 1, column 4: found '==', expected " + elements),
    RefusedFormat("a[] == 1", "line 1, column 3: found ']', expected " + elements),
    RefusedFormat("a[-1] == 1", "line 1, column 3: found '-', expected " + elements),
    RefusedFormat("a[b] == 1", "line 1, column 3: found 'b', expected " + elements),
    RefusedFormat("a[1.5] == 1", "line 1, column 3: found '1.5', expected " + elements),
    RefusedFormat(
      "a[18446744073709551615] == 1",
      "line 1, column 3: found '18446744073709551615', expected " + elements),
    RefusedFormat("a[0 == 1", "line 1, column 5: found '==', expected ']'"),
    RefusedFormat("a[FIRST LAST] == 1", "line 1, column 9: found 'LAST', expected ']'"),
    RefusedFormat(
      "a.@cuont == 1",
      "line 1, column 3: found '@cuont', "
        + "expected @count, @sum, @min, @max or @avg; did you mean @count?"),
    RefusedFormat(
      "a.@distinctUnionOfObjects.b == 1",
      "line 1, column 3: found '@distinctUnionOfObjects', "
        + "expected @count, @sum, @min, @max or @avg"),
    RefusedFormat("a.@ == 1", "line 1, column 3: found '@', expected a word after '@'"),
    RefusedFormat(
      "a.UTI-EQUALS == 1",
      "line 1, column 3: found 'UTI-EQUALS', expected a name or a collection operator after '.'"),
    RefusedFormat("#5 == 1", "line 1, column 1: found '#', expected a word after '#'"),
    RefusedFormat("$ == 1", "line 1, column 1: found '$', expected a name after '$'"),
    RefusedFormat("$5 == 1", "line 1, column 1: found '$', expected a name after '$'"),
    RefusedFormat("@ == 1", "line 1, column 1: found '@', expected a word after '@'"),
    RefusedFormat("$x.y == 1", "line 1, column 1: found '$x', expected " + bound),
    RefusedFormat("$x[0] == 1", "line 1, column 1: found '$x', expected " + bound),
    RefusedFormat(
      "“x” == a",
      "line 1, column 1: found '“', expected a name, a number, an operator or straight quotes"),
    RefusedFormat(
      "a == “x”",
      "line 1, column 6: found '“', expected a name, a number, an operator or straight quotes"),
    RefusedFormat(
      "a == b€",
      "line 1, column 7: found '€', expected a name, a number, an operator or straight quotes"),
    RefusedFormat("a ? b", "line 1, column 3: found '?', expected an operator, AND, OR or the end"),
    RefusedFormat("a ; b", "line 1, column 3: found ';', expected an operator, AND, OR or the end"),
    RefusedFormat("a == b; c == d", "line 1, column 7: found ';', expected AND, OR or the end"),
    RefusedFormat(#"a == \n"#, #"line 1, column 6: found '\', expected a value or a key path"#),
    RefusedFormat(
      "uti UTI-CONFORMS-TO 'public.image'",
      "line 1, column 5: found 'UTI-CONFORMS-TO', "
        + "expected an operator other than UTI-CONFORMS-TO, which is not supported"),
    RefusedFormat(
      "uti uti-equals 'public.image'",
      "line 1, column 5: found 'uti-equals', "
        + "expected an operator other than UTI-EQUALS, which is not supported"),
    RefusedFormat(
      "FETCH(a, b, NO) == 1",
      "line 1, column 1: found 'FETCH', "
        + "expected a value or a key path: FETCH is not supported (an attribute of this name is written #FETCH)"
    ),
    RefusedFormat(
      "ANYKEY == 1",
      "line 1, column 1: found 'ANYKEY', "
        + "expected a value or a key path: ANYKEY is not supported (an attribute of this name is written #ANYKEY)"
    ),
    RefusedFormat(
      "fetch == 1",
      "line 1, column 1: found 'fetch', "
        + "expected a value or a key path: FETCH is not supported (an attribute of this name is written #fetch)"
    ),
    RefusedFormat("foo(a) == 1", "line 1, column 1: found 'foo', expected " + functions),
    RefusedFormat(
      "lenght:(a) == 1",
      "line 1, column 1: found 'lenght', expected " + functions + "; did you mean length?"),
    RefusedFormat("lowercase(a == 1", "line 1, column 13: found '==', expected an operator or ')'"),
    RefusedFormat(
      "lowercase() == 1",
      "line 1, column 11: found ')', expected a value or a key path"),
  ]

  /// Functions, CAST, SUBQUERY, quantifiers, arguments and positions.
  static let calls: [RefusedFormat] = [
    RefusedFormat("lowercase:a == 1", "line 1, column 11: found 'a', expected '('"),
    RefusedFormat(
      "lowercase(a, b) == 1",
      "line 1, column 12: found ',', expected an operator or ')'"),
    RefusedFormat("now(1) == 1", "line 1, column 5: found '1', expected ')'"),
    RefusedFormat("CAST(a) == 1", "line 1, column 7: found ')', expected an operator or ','"),
    RefusedFormat(
      "CAST(a, date) == 1",
      #"line 1, column 9: found 'date', expected a type's name in quotes, such as "date""#),
    RefusedFormat(
      "CAST(a, 'dtae') == 1",
      "line 1, column 9: found ''dtae'', expected " + types + #"; did you mean "date"?"#),
    RefusedFormat("CAST(a, 'blob') == 1", "line 1, column 9: found ''blob'', expected " + types),
    RefusedFormat(
      "CAST('x', 'date') == 1",
      "line 1, column 6: found ''x'', "
        + "expected a date as ISO 8601 text, or seconds since 2001-01-01"),
    RefusedFormat(
      "CAST('2024-02-30', 'NSDate') == 1",
      "line 1, column 6: found ''2024-02-30'', "
        + "expected a date as ISO 8601 text, or seconds since 2001-01-01"),
    RefusedFormat(
      "CAST('x', 'integer') == 1",
      "line 1, column 6: found ''x'', expected an integer of 64 bits or its text"),
    RefusedFormat(
      "CAST(CAST('NaN', 'double'), 'integer') == 1",
      "line 1, column 6: found 'CAST('NaN', 'double')', "
        + "expected an integer of 64 bits or its text"),
    RefusedFormat(
      "CAST('x', 'double') == 1",
      "line 1, column 6: found ''x'', expected a number or its text"),
    RefusedFormat(
      "CAST('x', 'decimal') == 1",
      "line 1, column 6: found ''x'', expected a decimal number of at most 38 digits or its text"),
    RefusedFormat(
      "CAST('x', 'uuid') == 1",
      "line 1, column 6: found ''x'', expected a UUID as text"),
    RefusedFormat(
      "CAST('x!', 'data') == 1",
      "line 1, column 6: found ''x!'', expected Base64 text"),
    RefusedFormat(
      #"CAST('{"a":}', 'json') == 1"#,
      #"line 1, column 6: found ''{"a":}'', expected JSON text"#),
    RefusedFormat(
      "CAST({1, 2}, 'integer') == 1",
      "line 1, column 6: found '{', expected one value to convert"),
    RefusedFormat("CAST(a, 'date' == 1", "line 1, column 16: found '==', expected ')'"),
    RefusedFormat(
      "TERNARY(a, b) == 1",
      "line 1, column 13: found ')', expected an operator or ','"),
    RefusedFormat(
      "TERNARY(1, b, c) == 1",
      "line 1, column 10: found ',', expected an operator such as =="),
    RefusedFormat(
      "TERNARY(a > 1 b, c) == 1",
      "line 1, column 15: found 'b', expected AND, OR or ','"),
    RefusedFormat(
      "TERNARY(a > 1, b, c, d) == 1",
      "line 1, column 20: found ',', expected an operator or ')'"),
    RefusedFormat(
      "SUBQUERY(a, x, b) == 1",
      "line 1, column 13: found 'x', expected a variable such as $x"),
    RefusedFormat("SUBQUERY(a, $x) == 1", "line 1, column 15: found ')', expected ','"),
    RefusedFormat(
      "SUBQUERY(a, $x, 1) == 1",
      "line 1, column 18: found ')', expected an operator such as =="),
    RefusedFormat(
      "SUBQUERY(a, $x, $x == 1 == 1",
      "line 1, column 25: found '==', expected AND, OR or ')'"),
    RefusedFormat(
      "SUBQUERY(a, $x, $x == 1).@count.foo( == 1",
      "line 1, column 36: found '(', expected an operator such as =="),
    RefusedFormat(
      "a NOT IN {1}",
      "line 1, column 3: found 'NOT', "
        + "expected an operator, AND, OR or the end; did you mean NOT in front of the comparison?"),
    RefusedFormat("ANY 5", "line 1, column 6: found the end, expected an operator such as =="),
    RefusedFormat(
      "ANY == 1",
      "line 1, column 1: found 'ANY', expected a condition; did you mean #ANY?"),
    RefusedFormat(
      "ANY ANY a == 1",
      "line 1, column 5: found 'ANY', expected a value or a key path"),
    RefusedFormat("a == ANY b", "line 1, column 6: found 'ANY', expected a value or a key path"),
    RefusedFormat("ANY (a == 1)", "line 1, column 8: found '==', expected an operator or ')'"),
    RefusedFormat("a == 1 == 2", "line 1, column 8: found '==', expected AND, OR or the end"),
    RefusedFormat("a < b < c", "line 1, column 7: found '<', expected AND, OR or the end"),
    RefusedFormat(
      "TRUEPREDICATE == 1",
      "line 1, column 15: found '==', expected AND, OR or the end"),
    RefusedFormat(
      "a == TRUEPREDICATE",
      "line 1, column 6: found 'TRUEPREDICATE', expected a value or a key path"),
    RefusedFormat("(a == 1) + 2 == 3", "line 1, column 10: found '+', expected AND, OR or the end"),
    RefusedFormat("(a == 1) == TRUE", "line 1, column 10: found '==', expected AND, OR or the end"),
    RefusedFormat(
      "a == %@",
      "line 1, column 6: found '%@', expected argument 1 for it (0 are given)"),
    RefusedFormat("a == %", "line 1, column 6: found '%', expected " + marks),
    RefusedFormat(
      "a %@ b",
      "line 1, column 3: found '%', expected an operator, AND, OR or the end"),
    RefusedFormat("a == %z", "line 1, column 6: found '%z', expected " + marks),
    RefusedFormat("a == %ld5", "line 1, column 6: found '%ld5', expected " + marks),
    RefusedFormat("a == %dx", "line 1, column 6: found '%dx', expected " + marks),
    RefusedFormat(
      "a.%@ == 1",
      "line 1, column 3: found '%', expected a name or a collection operator after '.'"),
    RefusedFormat(
      "a == 1 AND %@",
      "line 1, column 12: found '%@', expected argument 1 for it (0 are given)"),
    RefusedFormat(
      "a == 'é' ADN b",
      "line 1, column 10: found 'ADN', expected AND, OR or the end; did you mean AND?"),
    RefusedFormat("  ", "line 1, column 3: found the end, expected a condition"),
    RefusedFormat(
      "a == 1\n AND b\n  ADN c",
      "line 3, column 3: found 'ADN', expected an operator, AND, OR or the end; did you mean AND?"),
    RefusedFormat("\n\n  é == 'ü' x", "line 3, column 12: found 'x', expected AND, OR or the end"),
    RefusedFormat(
      "a éüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü",
      "line 1, column 3: found 'éüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü', "
        + "expected an operator, AND, OR or the end"),
    RefusedFormat(
      "a\0b",
      #"line 1, column 2: found '\x00', expected an operator, AND, OR or the end"#),
    RefusedFormat("a == \u{1}", #"line 1, column 6: found '\x01', expected a value or a key path"#),
  ]

  static let all = structure + tokens + calls
}
