import Testing

@testable import KVDumpCommands

@Suite("Table")
struct TableWriterTests {
  private let columns = [Column("name"), Column("stars"), Column("homepage")]
  private let rows: [[Cell]] = [
    [.text("AFNetworking"), .integer(33_000), .text("https://afnetworking.example.org/start")],
    [.text("日本語"), .integer(7), .null],
    [.text(""), .null, .absent],
  ]

  private func table(
    _ columns: [Column]? = nil, _ rows: [[Cell]]? = nil, width: Int?, style: Style = .plain
  ) throws -> String {
    try rendered(rows ?? self.rows) {
      TableWriter(columns ?? self.columns, to: $0, width: width, style: style)
    }
  }

  @Test func `a table shows everything if it fits`() throws {
    #expect(
      try table(width: 80) == """
        name          stars  homepage
        AFNetworking  33000  https://afnetworking.example.org/start
        日本語            7  null
        ""             null

        """)
  }

  @Test func `a table cuts the widest texts and never numbers`() throws {
    #expect(
      try table(width: 40) == """
        name          stars  homepage
        AFNetworking  33000  https://afnetworki…
        日本語            7  null
        ""             null

        """)
    #expect(
      try table(width: 28) == """
        name        stars  homepage
        AFNetwork…  33000  https://…
        日本語          7  null
        ""           null

        """)
  }

  @Test func `a table becomes one field a line if the columns do not fit`() throws {
    #expect(
      try table(width: 20) == """
        name      AFNetwork…
        stars     33000
        homepage  https://a…

        name      日本語
        stars     7
        homepage  null

        name      ""
        stars     null

        """)
  }

  @Test func `a table without a screen cuts nothing`() throws {
    let long = String(repeating: "x", count: 300)
    #expect(try table([Column("a")], [[.text(long)]], width: nil) == "a\n\(long)\n")
  }

  @Test(arguments: [20, 21, 27, 28, 33, 40, 61, 80])
  func `a table keeps every row within the screen`(width: Int) throws {
    let hostile: [[Cell]] = [
      [.text("日本語日本語日本語日本語"), .integer(.min), .text("e\u{301}\u{301}👩‍👩‍👧‍👦🇩🇪 \u{1b}[2J\n\r\t")],
      [.text("a\u{202e}b"), .double(1e-300), .bytes([UInt8](repeating: 0xAB, count: 1000))],
    ]
    let text = try table(nil, hostile, width: width)
    for line in text.split(separator: "\n") {
      #expect(DisplayText(String(line)).width <= width, "\(line)")
    }
    #expect(!text.unicodeScalars.contains { $0 != "\n" && UnsafeScalar.matches($0) })
  }

  @Test func `a table cuts rows after the sample to the widths of the sample`() throws {
    var rows: [[Cell]] = (0..<100).map { [.text("pod\($0)"), .count($0)] }
    rows.append([.text("a name that came late"), .count(5_000_000)])
    let columns = [Column("name"), Column("size")]
    let lines = try table(columns, rows, width: 80).split(separator: "\n")
    #expect(lines.count == 102)
    #expect(lines[1] == "pod0      0")
    #expect(lines[101] == "a na…  5,0…")
  }

  @Test func `a table without rows has a heading`() throws {
    #expect(try table(nil, [], width: 80) == "name  stars  homepage\n")
  }

  @Test func `a table dims null and marks headings only with style`() throws {
    let text = try table(
      [Column("a")], [[.null], [.text("null")]], width: 80, style: Style(isEnabled: true))
    #expect(text == "\u{1b}[1ma\u{1b}[0m\n\u{1b}[2mnull\u{1b}[0m\n\"null\"\n")
  }

  @Test func `a table groups and scales counts`() throws {
    let columns = [Column("records", title: "RECORDS"), Column("size"), Column("fill")]
    let row: [Cell] = [.count(11_028), .byteCount(9_542_041), .share(0.714)]
    #expect(
      try table(columns, [row], width: 80) == """
        RECORDS     size  fill
         11,028  9.1 MiB  71 %

        """)
  }
}
