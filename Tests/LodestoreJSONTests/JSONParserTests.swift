import LodestoreJSON
import Testing

@Suite struct `JSON parser` {
  @Test(arguments: Accepted.all)
  func `a valid text keeps its value and writes back as its compact form`(_ text: Accepted) throws {
    let value = try JSONValue(parsing: text.text)
    // Bytes, not strings: equivalent spellings must not be exchanged.
    #expect(Array(value.description.utf8) == Array(text.compact.utf8))
    #expect(try JSONValue(parsing: value.description) == value)
  }

  @Test(arguments: [
    Refused.structure, Refused.words, Refused.numbers, Refused.strings, Refused.encoding,
    Refused.keys,
  ])
  func `an invalid text is refused at its first wrong byte`(_ texts: [Refused]) throws {
    for text in texts {
      let error = try #require(throws: JSONError.self, "\(text.testDescription)") {
        try JSONValue(parsing: text.bytes)
      }
      #expect(error.reason == text.reason, "\(text.testDescription)")
      #expect(error.offset == text.offset, "\(text.testDescription)")
      let before = text.bytes.prefix(text.offset)
      #expect(error.line == 1 + before.count { $0 == 0x0A }, "\(text.testDescription)")
      #expect(error.description.contains("found") && !error.expected.isEmpty)
    }
  }

  @Test func `positions of errors count lines, scalars and bytes`() throws {
    let error = try #require(throws: JSONError.self) {
      try JSONValue(parsing: "{\n  \"naïve 😀\": [1,\r\n\t\"日本\", x]\n}")
    }
    #expect(error.line == 3)
    #expect(error.column == 8)
    #expect(error.offset == 35)
    #expect(
      error.description == "cannot read JSON at line 3, column 8 (byte 35): "
        + "found 'x', expected a value")
  }

  @Test func `positions of errors start at the text's position in its file`() throws {
    let error = try #require(throws: JSONError.self) {
      try JSONDocument.parsing(
        Array("[1,\n2 3]".utf8), origin: JSONPosition.Origin(offset: 1000, line: 20))
    }
    #expect(error.position.description == "line 21, column 3 (byte 1006)")
  }

  @Test(arguments: ["[", "{\"a\":", "[{\"a\":[", " \n["])
  func `a million levels are an error`(_ opening: String) throws {
    let text = Array(String(repeating: opening, count: 1_000_000).utf8)
    let error = try #require(throws: JSONError.self) { try JSONDocument.parsing(text) }
    #expect(error.reason == .tooDeep(limit: 128))
  }

  @Test func `128 levels are read, and 129 are refused`() throws {
    for (open, close) in [("[", "]"), ("{\"a\":[", "]}")] {
      let levels = 128 / close.count
      let text = String(repeating: open, count: levels) + String(repeating: close, count: levels)
      #expect(try JSONValue(parsing: text).description == text)
      #expect(throws: JSONError.self) { try JSONValue(parsing: "[\(text)]") }
    }
  }

  @Test func `the limit of depth stops at 512, which values and decoders survive`() throws {
    let limits = JSONLimits(depth: 1_000_000)
    let text = Array((String(repeating: "[", count: 512) + String(repeating: "]", count: 512)).utf8)
    let root = try JSONDocument.parsing(text, limits: limits).root
    #expect(Array(root.jsonValue.description.utf8) == text)
    #expect(try JSONNodeDecoder().decode(JSONValue.self, from: root) == root.jsonValue)
    let error = try #require(throws: JSONError.self) {
      try JSONDocument.parsing([0x5B] + text + [0x5D], limits: limits)
    }
    #expect(error.reason == .tooDeep(limit: 512))
  }

  @Test func `texts beyond a limit are refused`() throws {
    let text = Array("[1,2,3]".utf8)
    #expect(try JSONDocument.parsing(text, limits: JSONLimits(bytes: 7, values: 4)).root.count == 3)
    let long = try #require(throws: JSONError.self) {
      try JSONDocument.parsing(text, limits: JSONLimits(bytes: 6))
    }
    #expect(long.reason == .tooLong(limit: 6))
    let many = try #require(throws: JSONError.self) {
      try JSONDocument.parsing(text, limits: JSONLimits(values: 3))
    }
    #expect(many.reason == .tooManyValues(limit: 3))
    #expect(many.offset == 5)
  }

  @Test(arguments: [24, 25, 26, 100, 5000])
  func `a repeated key is found in an object of any size`(_ count: Int) throws {
    let members = (0..<count).map { "\"key\($0)\":{\"a\":[\($0)]}" }
    let whole = try JSONValue(parsing: "{\(members.joined(separator: ","))}")
    #expect(whole.objectValue?.count == count)
    for (index, spelling) in [(0, "key0"), (count / 2, "k\\u0065y\(count / 2)")] {
      let text = "{\(members.joined(separator: ",")),\"\(spelling)\":0}"
      let error = try #require(throws: JSONError.self) { try JSONValue(parsing: text) }
      #expect(error.reason == .duplicateKey("key\(index)"))
      #expect(error.offset == text.utf8.count - spelling.utf8.count - 5)
    }
  }

  @Test func `every position in a word of eight bytes stops the scan of a string`() throws {
    for length in 0..<24 {
      let run = String(repeating: "x", count: length)
      for tail in ["é", "\\n", "\\u00e9", "😀"] {
        let text = "\"\(run)\(tail)\(run)\""
        let content = tail == "\\n" ? "\n" : tail == "😀" ? "😀" : "é"
        #expect(try JSONValue(parsing: text) == .string(run + content + run))
      }
      for control in 0..<0x20 as Range<UInt8> {
        let text = [0x22] + Array(run.utf8) + [control] + Array(run.utf8) + [0x22]
        let error = try #require(throws: JSONError.self) { try JSONValue(parsing: text) }
        #expect(error.reason == .controlCharacter(control) && error.offset == length + 1)
      }
    }
  }

  @Test func `every Unicode scalar survives, as itself and as an escape`() throws {
    for value in stride(from: 0x20 as UInt32, through: 0x10FFFF, by: 37) {
      guard let scalar = UnicodeScalar(value), value != 0x22, value != 0x5C else { continue }
      let string = "a\(Character(scalar))b"
      let plain = try JSONValue(parsing: "\"\(string)\"").stringValue
      #expect(plain?.utf8.elementsEqual(string.utf8) == true)
      let units = Array(String(Character(scalar)).utf16)
      let escape = units.map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
      let parsed = try JSONValue(parsing: "\"a\(escape.joined())b\"").stringValue
      #expect(parsed?.utf8.elementsEqual(string.utf8) == true)
    }
  }

  @Test func `the parser decides the cases that RFC 8259 leaves open`() throws {
    // Minus zero without a fraction is the integer; as a double it keeps its sign.
    #expect(try JSONValue(parsing: "-0") == 0)
    #expect(try JSONDocument.parsing("-0".utf8).root.double?.sign == .minus)
    // A fraction or an exponent makes a double, whatever the value.
    #expect(try JSONValue(parsing: "1e2") == .double(100))
    #expect(try JSONValue(parsing: "1.0") != 1)
    // Numbers round to the nearest double, subnormal ones too.
    #expect(try JSONValue(parsing: "2.5e-324") == .double(.leastNonzeroMagnitude))
    // Zero by digits is zero with any exponent.
    #expect(try JSONValue(parsing: "0e-999999") == .double(0))
    // NUL, DEL, noncharacters and a byte order mark are ordinary content of a string.
    for text in ["\"\\u0000\"", "\"\u{7F}\"", "\"\u{FFFF}\"", "\"\u{FEFF}\""] {
      #expect(try JSONValue(parsing: text).stringValue?.unicodeScalars.count == 1)
    }
    // Keys are case-sensitive, and not trimmed.
    #expect(try JSONValue(parsing: #"{"a":1,"A":2," a":3}"#).objectValue?.count == 3)
  }
}
