import Foundation
import Testing

@testable import EntityStore

/// Documents with an index over elements, and an attribute derived from a member, of names that
/// have two forms.
private struct Form: Entity {
  var id = RecordID<Form>()
  var text: String
  var json: JSONValue
  private(set) var member: String?

  struct Attributes: Sendable {
    var text: Attribute<Form, String> { .init(0) }
    var json: Attribute<Form, JSONValue> { .init(1) }
    var member: Attribute<Form, String?> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Form>(
    "Form",
    attributes: [
      .init("text", \.text), .init("json", \.json),
      .derived("member", \.member, .member(\.json, composed)),
    ], indexes: [[\.member]], elementIndexes: [.init(\.json, composed)])

  static let composed = "\u{e9}"
  static let decomposed = "e\u{301}"

  init(_ text: String, _ json: JSONValue = .null) {
    self.text = text
    self.json = json
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    text = try reader.read()
    json = try reader.read()
    member = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(text)
    writer.write(json)
  }
}

/// Texts that are equal in Swift but differ in their bytes, in calls for which the bytes matter.
@Suite struct `Equal texts of other bytes` {
  /// ASCII texts are compared by bytes without making strings; other texts are compared as strings.
  @Test func `equal texts of other bytes are equal in upper and lower case`() throws {
    let texts = [
      "", "abc", "ABC", "aBc", "ab", "a-b_9", "stra\u{df}e", "STRASSE", "k", "\u{212a}", ";",
      "\u{37e}", Form.composed, Form.decomposed, "\u{c9}", "\u{130}", "i", "@[`{",
    ]
    try withTemporaryStore([Form.self]) { store in
      try store.insert(texts.map { Form($0) })
      for constant in texts + texts.map({ $0.uppercased() }) + ["abcd", "AB", "\u{3c3}"] {
        for (function, change) in [
          ("uppercase", { $0.uppercased() }), ("lowercase", { $0.lowercased() }),
        ] as [(String, (String) -> String)] {
          let equal = try store.fetch(Form.where(format: "\(function):(text) == %@", constant))
          #expect(equal.map(\.text) == texts.filter { change($0) == constant }, "\(constant)")
          let other = try store.fetch(Form.where(format: "\(function):(text) != %@", constant))
          #expect(other.map(\.text) == texts.filter { change($0) != constant }, "\(constant)")
        }
      }
    }
  }

  @Test func `equal texts of other bytes are different branches of an OR`() throws {
    try withTemporaryStore([Form.self]) { store in
      try store.insert([Form(Form.composed, ["x": 1]), Form(Form.decomposed, ["x": 2]), Form("e")])
      let pair = [Form.composed, Form.decomposed]
      for format in [
        "text IN[n] %@", "text ==[n] %@[0] OR text ==[n] %@[1]",
        "text MATCHES %@[0] OR text MATCHES %@[1]", "text LIKE[n] %@[0] OR text LIKE[n] %@[1]",
        "text BEGINSWITH[n] %@[0] OR text BEGINSWITH[n] %@[1]",
        "text CONTAINS[n] %@[1] OR text CONTAINS[n] %@[0]",
        "(text ==[n] %@[0] AND json.x == 1) OR (text ==[n] %@[1] AND json.x == 2)",
      ] {
        let parts = format.components(separatedBy: "%@")
        var arguments: [any Sendable] = []
        var text = parts[0]
        for part in parts.dropFirst() {
          if part.hasPrefix("[0]") || part.hasPrefix("[1]") {
            arguments.append(pair[part.hasPrefix("[0]") ? 0 : 1])
            text += "%@" + part.dropFirst(3)
          } else {
            arguments.append(pair)
            text += "%@" + part
          }
        }
        let query = Form.where(try Condition(format: text, arguments: arguments))
        #expect(try store.fetch(query).map(\.id.rawValue) == [1, 2], "\(format)")
      }
    }
  }

  @Test func `members with equal names of other bytes are different, also in indexes`() throws {
    try withTemporaryStore([Form.self]) { store in
      try store.insert([
        Form("composed", [Form.composed: "x"]), Form("decomposed", [Form.decomposed: "x"]),
        Form("composed list", [Form.composed: ["x"]]),
        Form("decomposed list", [Form.decomposed: ["x"]]),
      ])
      for (name, text) in [(Form.composed, "composed"), (Form.decomposed, "decomposed")] {
        let member = try Condition<Form>(format: "json.%K == 'x'", arguments: [name])
        #expect(try store.fetch(Form.where(member)).map(\.text) == [text])
        let element = try Condition<Form>(format: "ANY json.%K == 'x'", arguments: [name])
        #expect(try store.fetch(Form.where(element)).map(\.text).last == text + " list")
      }
    }
  }
}
