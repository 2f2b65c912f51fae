import Testing

@testable import KVDumpCommands

@Suite("CSV")
struct CSVWriterTests {
  private func csv(_ cells: [Cell], nullValue: String = "", escapes: Bool = false) throws -> String
  {
    let columns = cells.indices.map { Column("c\($0)") }
    let text = try rendered([cells]) {
      CSVWriter(columns, to: $0, nullValue: nullValue, escapesControls: escapes)
    }
    let heading = columns.map(\.name).joined(separator: ",") + "\r\n"
    #expect(text.hasPrefix(heading))
    return String(text.unicodeScalars.dropFirst(heading.unicodeScalars.count))
  }

  @Test(arguments: [
    (Cell.text("plain"), "plain"), (.text("a,b"), "\"a,b\""),
    (.text("say \"hi\""), "\"say \"\"hi\"\"\""),
    (.text("two\nlines"), "\"two\nlines\""), (.text("two\r\nlines"), "\"two\r\nlines\""),
    (.text(" edge"), "\" edge\""), (.text(""), "\"\""), (.null, ""), (.absent, ""),
    (.integer(.min), "-9223372036854775808"), (.unsigned(.max), "18446744073709551615"),
    (.double(0.1), "0.1"), (.double(.infinity), "Infinity"), (.double(.nan), "NaN"),
    (.bool(true), "true"), (.bytes([0, 255]), "AP8="), (.count(11_028), "11028"),
    (.json("{\"a\":[1,2]}"), "\"{\"\"a\"\":[1,2]}\""), (.text("Ångström"), "Ångström"),
  ])
  func `CSV quotes a field only if necessary`(cell: Cell, expected: String) throws {
    #expect(try csv([cell]) == expected + "\r\n")
  }

  @Test func `CSV distinguishes null from a text that reads like null`() throws {
    #expect(
      try csv([.null, .text("NULL"), .text("")], nullValue: "NULL") == "NULL,\"NULL\",\"\"\r\n")
  }

  @Test func `CSV escapes control characters on a terminal alone`() throws {
    #expect(try csv([.text("a\u{1b}b")], escapes: true) == "a\\u{1b}b\r\n")
    #expect(try csv([.text("a\u{1b}b")], escapes: false) == "a\u{1b}b\r\n")
  }

  @Test func `CSV without rows has a heading`() throws {
    let text = try rendered([]) {
      CSVWriter([Column("a,b"), Column("c")], to: $0, nullValue: "", escapesControls: false)
    }
    #expect(text == "\"a,b\",c\r\n")
  }

  @Test func `CSV names columns unchanged, and safely on a terminal`() throws {
    let columns = ["\u{FEFF}id", "", "two\nlines", "a\u{1b}b"].map { Column($0) }
    let file = try rendered([]) {
      CSVWriter(columns, to: $0, nullValue: "", escapesControls: false)
    }
    #expect(file == "\"\u{FEFF}id\",\"\",\"two\nlines\",a\u{1b}b\r\n")
    let terminal = try rendered([]) {
      CSVWriter(columns, to: $0, nullValue: "", escapesControls: true)
    }
    #expect(terminal.contains("a\\u{1b}b") && !terminal.contains("\u{1b}"))
  }
}

@Suite("Markdown")
struct MarkdownWriterTests {
  @Test func `Markdown output escapes characters with a meaning in Markdown`() throws {
    let cells: [Cell] = [
      .text("a|b\\c"), .text("*x* _y_ `z` [l](u) ~s~"), .text("<b>&\r\nnext"), .null, .absent,
      .integer(3), .text("\u{1b}[m"),
    ]
    let text = try rendered([cells]) { output in
      MarkdownWriter(cells.indices.map { Column("c\($0)") }, to: output)
    }
    #expect(
      text == #"""
        | c0 | c1 | c2 | c3 | c4 | c5 | c6 |
        | --- | --- | --- | --- | --- | ---: | --- |
        | a\|b\\c | \*x\* \_y\_ \`z\` \[l\](u) \~s\~ | &lt;b&gt;&amp;<br>next | *null* |  | 3 | \u{1b}\[m |

        """#)
  }
}

@Suite("JSON")
struct JSONRowWriterTests {
  private let columns = [Column("a"), Column("b\"")]

  private func json(_ rows: [[Cell]], _ layout: JSONRowWriter.Layout) throws -> String {
    try rendered(rows) { JSONRowWriter(columns, to: $0, layout: layout) }
  }

  @Test func `JSON Lines output has an object a line and omits only absent keys`() throws {
    #expect(
      try json([[.null, .text("x")], [.absent, .integer(1)], [.absent, .absent]], .lines)
        == "{\"a\":null,\"b\\\"\":\"x\"}\n{\"b\\\"\":1}\n{}\n")
  }

  @Test func `JSON output is one array`() throws {
    #expect(try json([], .array) == "[]\n")
    #expect(
      try json([[.integer(1), .absent], [.integer(2), .absent]], .array)
        == "[\n{\"a\":1},\n{\"a\":2}\n]\n")
  }

  @Test(arguments: [
    (Cell.text("\"\\/\n\r\t\u{8}"), #""\"\\/\n\r\t\u0008""#),
    (.text("\u{7f}\u{9b}\u{2028}\u{202e}\u{61c}"), #""\u007f\u009b\u2028\u202e\u061c""#),
    (.text("Å日👍\u{a0}…؀"), "\"Å日👍\u{a0}…؀\""), (.json("[1,\n\"\u{9b}\"]"), #"[1, "\u009b"]"#),
    (.unsigned(.max), "18446744073709551615"), (.integer(.min), "-9223372036854775808"),
    (.double(0.1), "0.1"), (.double(.leastNonzeroMagnitude), "5e-324"),
    (.double(-.infinity), "\"-Infinity\""),
    (.double(.nan), "\"NaN\""), (.bytes([0, 255]), "\"AP8=\""), (.bool(false), "false"),
    (.number("12345678901234567890.5"), "12345678901234567890.5"),
    (.date("2026-05-10"), "\"2026-05-10\""),
    (.share(0.5), "0.5"), (.byteCount(2048), "2048"),
  ])
  func `JSON output keeps every value and escapes control characters`(cell: Cell, expected: String)
  {
    #expect(CellJSON.array([cell]) == "[\(expected)]")
  }
}

@Suite("Number text")
struct NumberTextTests {
  @Test(arguments: [
    (0, "0"), (999, "999"), (1000, "1,000"), (11_028, "11,028"), (-1_234_567, "-1,234,567"),
    (Int.min, "-9,223,372,036,854,775,808"),
  ])
  func `number texts separate thousands`(number: Int, expected: String) {
    #expect(NumberText.grouped(number) == expected)
  }

  @Test(arguments: [
    (0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (12_288, "12 KiB"), (1536, "1.5 KiB"),
    (172_032, "168 KiB"), (1_048_575, "1 MiB"), (40_265_318, "38.4 MiB"), (1 << 30, "1 GiB"),
    (Int.max, "8 EiB"),
  ])
  func `number texts scale bytes to binary units`(bytes: Int, expected: String) {
    #expect(NumberText.byteCount(bytes) == expected)
  }

  @Test(arguments: [(0.0, "0 %"), (0.022, "2.2 %"), (0.714, "71 %"), (1, "100 %"), (.nan, "–")])
  func `number texts write shares as per cent`(share: Double, expected: String) {
    #expect(NumberText.share(share) == expected)
  }
}

@Suite("Row summary")
struct RowSummaryTests {
  @Test func `a row summary reports the omitted rows`() {
    #expect(
      ShownRows.summary(shown: 20, total: 11_028) == "20 of 11,028 records; --limit 0 for all")
    #expect(ShownRows.summary(shown: 20, total: 20) == nil)
    #expect(ShownRows.summary(shown: 0, total: 0) == nil)
    #expect(
      ShownRows.summary(shown: 20, offset: 40, total: 11_028)
        == "records 41 to 60 of 11,028; --limit 0 for all")
    #expect(
      ShownRows.summary(shown: 8, offset: 11_020, total: 11_028)
        == "records 11,021 to 11,028 of 11,028")
    #expect(
      ShownRows.summary(shown: 0, offset: 30, total: 20) == "0 of 20 records after the first 30")
    #expect(
      ShownRows.summary(shown: 20, total: nil, hasMore: true, noun: "keys")
        == "the first 20 keys; --limit 0 for all")
    #expect(ShownRows.summary(shown: 7, total: nil) == nil)
  }
}
