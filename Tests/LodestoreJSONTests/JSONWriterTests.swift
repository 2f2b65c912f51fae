import LodestoreJSON
import Testing

@Suite struct `JSON writer` {
  private func text(_ layout: JSONWriter.Layout, _ value: JSONValue) throws -> String {
    var writer = JSONWriter(layout)
    try writer.write(value)
    return writer.text
  }

  @Test func `the pretty layout indents content and keeps empty containers short`() throws {
    let value: JSONValue = ["b": [1, [], [:], ["x": nil]], "a": "s"]
    #expect(
      try text(.pretty, value) == """
        {
          "a": "s",
          "b": [
            1,
            [],
            {},
            {
              "x": null
            }
          ]
        }
        """)
    #expect(try JSONValue(parsing: text(.pretty, value)) == value)
  }

  @Test func `written keys are ordered by their UTF-8 bytes`() throws {
    let value: JSONValue = ["\u{FFFD}": 1, "😀": 2, "z": 3, "Z": 4, "": 5, "ab": 6, "a": 7]
    let expected =
      "{\"\":5,\"Z\":4,\"a\":7,\"ab\":6,\"z\":3,\"\u{FFFD}\":1,\"😀\":2}"
    #expect(try text(.compact, value) == expected)
  }

  @Test func `a stream of calls writes the text of the value`() throws {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("a")
    writer.beginArray()
    writer.integer(.min)
    writer.unsigned(.max)
    try writer.double(1)
    writer.endArray()
    writer.key("b\n")
    writer.null()
    writer.key("c")
    writer.bool(true)
    writer.endObject()
    #expect(writer.isComplete)
    writer.startNext()
    writer.string("next")
    let lines = [
      #"{"a":[-9223372036854775808,18446744073709551615,1.0],"b\n":null,"c":true}"#, #""next""#,
    ]
    #expect(writer.text == lines.joined(separator: "\n"))
    writer.removeAll()
    #expect(writer.bytes.isEmpty && !writer.isComplete)
  }

  @Test func `every character that needs an escape has one, at every offset in a word`() throws {
    for scalar in (0..<0x80).compactMap({ UnicodeScalar($0 as UInt32) }) {
      for before in 0..<10 {
        let string = String(repeating: "é", count: before) + "\(Character(scalar))tail of it"
        let written = try text(.compact, .string(string))
        #expect(try JSONValue(parsing: written) == .string(string))
        let needsEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
        #expect((written.utf8.count == string.utf8.count + 2) == !needsEscape)
      }
    }
    #expect(
      try text(.compact, "\u{8}\u{C}\n\r\t\u{1}\u{1F}/\u{7F}")
        == #""\b\f\n\r\t\u0001\u001f/"# + "\u{7F}\"")
  }

  @Test func `written doubles keep their kind and their value in the fewest digits`() throws {
    let texts: [(Double, String)] = [
      (1, "1.0"), (-0.0, "-0.0"), (0.1, "0.1"), (0.1 + 0.2, "0.30000000000000004"),
      (1e16, "1e+16"), (.leastNonzeroMagnitude, "5e-324"),
      (.greatestFiniteMagnitude, "1.7976931348623157e+308"),
    ]
    for (value, expected) in texts { #expect(try text(.compact, .double(value)) == expected) }
  }

  @Test func `a double that is not finite is refused with its path`() throws {
    let value: JSONValue = ["a": [0, ["b": .double(.infinity)]]]
    let error = try #require(throws: JSONWriteError.self) { try text(.compact, value) }
    #expect(error.reason == .notFinite(.infinity))
    #expect(error.path == "a.1.b")
    #expect(
      error.description
        == "cannot write JSON at a.1.b: inf is not a finite number; store null or a string instead")
  }

  @Test func `a value nested deeper than 512 levels is refused and displayed cut`() throws {
    var value: JSONValue = 1
    for _ in 0..<512 { value = [value] }
    #expect(try text(.compact, value).utf8.count == 1025)
    let deeper: JSONValue = [value]
    let error = try #require(throws: JSONWriteError.self) { try text(.compact, deeper) }
    #expect(error.reason == .tooDeep(limit: 512))
    #expect(deeper.description.contains("…"))
  }
}
