import EntityStore
import Testing

@Suite struct `Separated values` {
  private static let absent = options { $0.header = .absent }

  private static func options(_ change: (inout CSVOptions) -> Void) -> CSVOptions {
    var options = CSVOptions()
    change(&options)
    return options
  }

  static let accepted: [(text: String, rows: [[String]])] = [
    ("", []),
    ("a", [["a"]]),
    ("a\n", [["a"]]),
    ("a\r\n", [["a"]]),
    ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]),
    ("a,b\nc,d", [["a", "b"], ["c", "d"]]),
    ("a,b\r\nc,d\ne,f", [["a", "b"], ["c", "d"], ["e", "f"]]),
    (",", [["", ""]]),
    (",\n,", [["", ""], ["", ""]]),
    ("\"a\"", [["a"]]),
    ("\"\"", [[""]]),
    ("\"\",\"\"\n", [["", ""]]),
    ("\"a,b\",c", [["a,b", "c"]]),
    ("\"a\"\"b\"", [["a\"b"]]),
    ("\"\"\"\"", [["\""]]),
    ("\"\"\"\"\"\"", [["\"\""]]),
    ("\"a\nb\"\n\"c\r\nd\"\r\n\"e\rf\"", [["a\nb"], ["c\r\nd"], ["e\rf"]]),
    (" a , b ", [[" a ", " b "]]),
    ("a\n\nb\n", [["a"], [""], ["b"]]),
    ("\u{FEFF}a\n\u{FEFF}b", [["a"], ["\u{FEFF}b"]]),
    ("\u{FEFF}\"a\"\n", [["a"]]),
    ("\u{FEFF}", []),
    ("naïve,日本,🌠\n", [["naïve", "日本", "🌠"]]),
    ("a\u{0},b\u{1}", [["a\u{0}", "b\u{1}"]]),
  ]

  @Test(arguments: accepted) func `separated values are read as RFC 4180 specifies`(
    _ text: String, _ rows: [[String]]
  ) {
    #expect(CSVReading.rows(Array(text.utf8), Self.absent) == .success(rows))
  }

  static let refused: [(text: [UInt8], CSVError.Reason, line: Int, column: Int, offset: Int)] = [
    (Array("a\"b".utf8), .quoteInField, 1, 2, 1),
    (Array("é,a \"b\"".utf8), .quoteInField, 1, 5, 5),
    (Array("a\n\"b\"c".utf8), .textAfterQuote, 2, 4, 5),
    (Array("\"x\ny\"\na\nb\"c".utf8), .quoteInField, 4, 2, 9),
    (Array("\"a\" ,b".utf8), .textAfterQuote, 1, 4, 3),
    (Array("a,\"b\nc".utf8), .unclosedQuote, 1, 3, 2),
    (Array("\"a\"\"".utf8), .unclosedQuote, 1, 1, 0),
    (Array("a\rb".utf8), .loneCarriageReturn, 1, 2, 1),
    (Array("\"a\"\rb".utf8), .loneCarriageReturn, 1, 4, 3),
    (Array("a\nb\r".utf8), .loneCarriageReturn, 2, 2, 3),
    (Array("a,b\nc\n".utf8), .fieldCount(found: 1, expected: 2), 2, 2, 5),
    (Array("a,b\nc,d,e\n".utf8), .fieldCount(found: 3, expected: 2), 2, 5, 8),
    (Array("a,b\n\"x\ny\",\"c\n\",d\n".utf8), .fieldCount(found: 3, expected: 2), 4, 3, 15),
    (Array("a\n".utf8) + [0xFF], .invalidUTF8, 2, 1, 2),
    (Array("ab".utf8) + [0xC3], .invalidUTF8, 1, 3, 2),
    (Array("a".utf8) + [0xC0, 0x80], .invalidUTF8, 1, 2, 1),
    ([0xED, 0xA0, 0x80], .invalidUTF8, 1, 1, 0),
    ([0xEF, 0xBB], .invalidUTF8, 1, 1, 0),
    ([0xEF, 0xBB, 0xBF, 0x61, 0x0A, 0x80], .invalidUTF8, 2, 1, 5),
  ]

  @Test(arguments: refused.indices)
  func `malformed separated values are refused with their position`(
    _ number: Int
  ) {
    let (text, reason, line, column, offset) = Self.refused[number]
    switch CSVReading.rows(text, Self.absent) {
    case .success(let rows): Issue.record("\(text) gave \(rows)")
    case .failure(let error):
      #expect(error.reason == reason)
      #expect(error.position.line == line && error.position.column == column, "\(error)")
      #expect(error.position.offset == offset, "\(error)")
    }
  }

  @Test func `separated values are equal wherever the bytes are cut`() {
    let texts = Self.accepted.map { Array($0.text.utf8) } + Self.refused.map(\.text)
    for text in texts {
      let whole = CSVReading.rows(text, Self.absent)
      for cut in 0...text.count {
        #expect(CSVReading.rows(text, Self.absent, pieces: [cut]) == whole, "\(text) at \(cut)")
      }
      let bytewise = CSVReading.rows(text, Self.absent, pieces: Array(0...text.count))
      #expect(bytewise == whole, "\(text) byte by byte")
    }
  }

  @Test func `separated values have names from the first row, from the caller, or no names`() {
    let text = Array("a,b\n1,2\n".utf8)
    #expect(CSVReading.pages(text) == .success([#"[{"a":"1","b":"2"}]"#]))
    let named = Self.options { $0.header = .names(["x", "\"y\""]) }
    #expect(
      CSVReading.pages(text, named)
        == .success([#"[{"x":"a","\"y\"":"b"},{"x":"1","\"y\"":"2"}]"#]))
    #expect(CSVReading.pages(text, Self.absent) == .success([#"[["a","b"],["1","2"]]"#]))
    #expect(CSVReading.pages(Array("a,b\n".utf8)) == .success([]))
  }

  @Test func `separated values need a header with each name once, and columns for their types`() {
    func reason(_ text: String, _ options: CSVOptions = CSVOptions()) -> CSVError.Reason? {
      if case .failure(let error) = CSVReading.rows(Array(text.utf8), options) {
        return error.reason
      }
      return nil
    }
    #expect(reason("") == .noHeader)
    #expect(reason("a,b,a\n") == .duplicateName("a"))
    // For a decoder, a letter in two scalars is the same key as the letter in one scalar.
    #expect(reason("é,e\u{301}\n") == .duplicateName("e\u{301}"))
    let typed = Self.options { $0.types = ["z": .integer] }
    #expect(reason("a\n", typed) == .unknownColumn("z"))
    let typedAbsent = Self.options {
      $0.types = ["z": .integer]
      $0.header = .absent
    }
    #expect(reason("a\n", typedAbsent) == .unknownColumn("z"))
  }

  @Test func `rows of another length are filled or cut on request`() {
    let text = Array("a,b\n1\n1,2,3\n".utf8)
    let fit = Self.options { $0.raggedRows = .fit }
    #expect(CSVReading.pages(text, fit) == .success([#"[{"a":"1","b":null},{"a":"1","b":"2"}]"#]))
    let fill = Self.options { $0.raggedRows = .fill }
    guard case .failure(let error) = CSVReading.rows(text, fill) else {
      Issue.record("a long row was taken")
      return
    }
    #expect(error.reason == .fieldCount(found: 3, expected: 2) && error.position.line == 3)
  }

  @Test func `separated values continue after a row with an error of its own`() throws {
    var reader = CSVReader()
    reader.append(Array("a,b\n1\n2,\u{E9}\n".utf8) + [0xFF, 0x2C, 0x0A] + Array("5,6".utf8))
    reader.finish()
    #expect(throws: CSVError.self) { try reader.next() }
    #expect(try reader.next()?.fields == ["2", "é"])
    #expect(throws: CSVError.self) { try reader.next() }
    let last = try #require(try reader.next())
    #expect(last.fields == ["5", "6"] && last.line == 5 && last.byteOffset == 14)
    #expect(try reader.next() == nil)
  }

  @Test func `separated values continue after a wrong quote, except in the column names`() throws {
    var reader = CSVReader()
    reader.append(Array("a,b\nb\",\"x\ny\"\nc,d\n".utf8))
    #expect(throws: CSVError.self) { try reader.next() }
    #expect(!reader.hasFailed)
    let row = try #require(try reader.next())
    #expect(row.fields == ["c", "d"] && row.line == 4 && row.byteOffset == 13)
    var nameless = CSVReader()
    nameless.append(Array("a\"\nb\nc\n".utf8))
    for _ in 0..<3 { #expect(throws: CSVError.self) { try nameless.next() } }
    #expect(nameless.hasFailed)
  }

  @Test func `separated values end after an unclosed quote with following rows`() throws {
    func rows(_ text: String) -> [[String]?] {
      var reader = CSVReader()
      reader.append(Array(text.utf8))
      reader.finish()
      var found: [[String]?] = []
      while found.count < 20 {
        do throws(CSVError) {
          guard let row = try reader.next() else { break }
          found.append(row.fields)
        } catch {
          #expect(error.reason == .unclosedQuote && error.position.line == 3)
          found.append(nil)
        }
      }
      return found
    }
    #expect(rows("a,b\n1,x\n2,\"y\n3,z\n4,\n") == [["1", "x"], nil, ["3", "z"], ["4", ""]])
    // Without fields to count, the reader cannot find the next row after a missing quote: in lines
    // of prose, or in one column.
    #expect(rows("a,b\n1,x\n2,\"y\nthe end\n3,z\n") == [["1", "x"], nil])
    #expect(rows("a\n1\n\"y\n3\n") == [["1"], nil])
    #expect(rows("a,b\n1,x\n2,\"y") == [["1", "x"], nil])
  }

  @Test func `separated values have null for an empty field and a text for empty quotes`() throws {
    let text = Array("a,b,c\n,\"\",x\n".utf8)
    #expect(CSVReading.pages(text) == .success([#"[{"a":null,"b":"","c":"x"}]"#]))
    var reader = CSVReader()
    reader.append(text)
    let row = try #require(try reader.next())
    #expect(row[0] == nil && row[1] == "" && row[2] == "x" && row[3] == nil && row[-1] == nil)
  }

  @Test func `separated values omit blank lines on request`() {
    let options = Self.options { $0.skipsBlankLines = true }
    let text = Array("\n\r\na,b\n\n1,2\n\r\n\n".utf8)
    #expect(CSVReading.rows(text, options) == .success([["1", "2"]]))
  }

  @Test(arguments: [";", "|", "\t", " "] as [Character])
  func `separated values take another delimiter`(
    _ character: Character
  ) throws {
    let delimiter = try #require(CSVDelimiter(character))
    let options = Self.options {
      $0.delimiter = delimiter
      $0.header = .absent
    }
    let text = "a,1\(character)\"b\(character)\"\n"
    #expect(CSVReading.rows(Array(text.utf8), options) == .success([["a,1", "b\(character)"]]))
  }

  @Test(arguments: ["\"", "\n", "\r", "\r\n", "é", "🌠"] as [Character])
  func `separated values refuse an ambiguous delimiter`(_ character: Character) {
    #expect(CSVDelimiter(character) == nil)
  }
}
