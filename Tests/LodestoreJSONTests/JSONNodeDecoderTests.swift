import Foundation
import LodestoreJSON
import Testing

private enum License: String, Codable { case mit = "MIT", apache = "Apache 2.0" }

private struct Source: Codable, Equatable {
  var git: String
  var tag: String?
}

private struct Sample: Codable, Equatable {
  var name: String
  var count: Int
  var ratio: Double
  var small: Float?
  var isOpen: Bool
  var tags: [String]
  var authors: [String: String]?
  var sources: [Source]
  var byName: [String: Source]?
  var license: License?
  var bytes: [UInt8]?
  var matrix: [[Int?]]?
  var byNumber: [Int: Bool]?
  var site: URL?
  var id: UUID?
  var price: Decimal?
}

private class Animal: Codable {
  var name: String
}

private final class Dog: Animal {
  var breed: String

  private enum CodingKeys: String, CodingKey { case breed }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    breed = try container.decode(String.self, forKey: .breed)
    try super.init(from: container.superDecoder())
  }
}

private struct Nested: Decodable, Equatable {
  var first: Int
  var rest: [String]
  var flag: Bool?

  private enum Outer: String, CodingKey { case box }
  private enum Inner: String, CodingKey { case list, flag }

  init(from decoder: any Decoder) throws {
    let outer = try decoder.container(keyedBy: Outer.self)
    let inner = try outer.nestedContainer(keyedBy: Inner.self, forKey: .box)
    var list = try inner.nestedUnkeyedContainer(forKey: .list)
    first = try list.decode(Int.self)
    // An element that cannot be decoded stays the next element.
    #expect(throws: DecodingError.self) { try list.decode(Int.self) }
    #expect(list.currentIndex == 1 && list.count == 3)
    var rest: [String] = []
    while !list.isAtEnd { rest.append(try list.decode(String.self)) }
    #expect(list.currentIndex == 3)
    #expect(throws: DecodingError.self) { try list.decode(String.self) }
    self.rest = rest
    flag = try inner.decodeIfPresent(Bool.self, forKey: .flag)
  }
}

@Suite struct `JSON node decoder` {
  private func decode<T: Decodable>(_ type: T.Type = T.self, _ text: String) throws -> T {
    try JSONNodeDecoder().decode(type, from: JSONDocument.parsing(text.utf8).root)
  }

  private func fault(_ type: (some Decodable).Type, _ text: String) throws -> (
    error: DecodingError, node: JSONNode
  ) {
    let root = try JSONDocument.parsing(text.utf8).root
    let error = try #require(throws: DecodingError.self) {
      try JSONNodeDecoder().decode(type, from: root)
    }
    return (error, JSONNodeDecoder.offendingNode(of: error, in: root))
  }

  private static let samples = [
    #"""
    {"name":"a\u00e9\n","count":-5,"ratio":0.1,"small":1.5,"isOpen":true,"tags":["x","y"],
     "authors":{"A":"1","B":"2"},"sources":[{"git":"u","tag":"1"},{"git":"v"}],
     "byName":{"k":{"git":"g","tag":null}},"license":"MIT","bytes":[0,255],
     "matrix":[[1,null],[],[3]],"byNumber":{"1":true,"-2":false},
     "site":"https://example.org/a?b=c","id":"6BA7B810-9DAD-11D1-80B4-00C04FD430C8","price":12.30}
    """#,
    #"{"tags":[],"sources":[],"isOpen":false,"ratio":1,"count":5.0,"name":""}"#,
    #"{"name":"n","count":1e2,"ratio":-1E-5,"isOpen":true,"tags":["é"],"sources":[],"license":null}"#,
  ]

  @Test(arguments: samples)
  func `a struct decodes as with Foundation`(_ text: String) throws {
    let expected = try JSONDecoder().decode(Sample.self, from: Data(text.utf8))
    #expect(try decode(Sample.self, text) == expected)
  }

  private static let rest =
    #"{"name":"a","count":1,"ratio":1,"isOpen":true,"tags":[],"sources":"#

  @Test(
    arguments: [
      ("{}", nil), ("[]", nil), ("null", nil), ("1", nil), (#"{"name":1}"#, nil),
      (#"{"name":null}"#, nil), (#"{"name":"a","count":1.5}"#, ["count"]),
      (#"{"name":"a","count":9223372036854775808}"#, ["count"]),
      (#"{"name":"a","count":"5"}"#, nil),
      (#"{"name":"a","count":1,"ratio":1,"isOpen":1}"#, nil),
      (#"{"name":"a","count":1,"ratio":1,"isOpen":true,"tags":["a",2]}"#, nil),
      (rest + #"[{"git":"a"},{"tag":"x"}]}"#, nil),
      (rest + #"[],"license":"GPL"}"#, nil),
      (rest + #"[],"bytes":[1,256]}"#, ["bytes", "Index 1"]),
      (rest + #"[],"authors":{"k":1}}"#, nil),
    ] as [(String, [String]?)])
  func `an unsuitable value is refused as by Foundation, at the same path`(
    _ text: String, _ unnamed: [String]?
  ) throws {
    func path(_ error: any Error) -> [String] {
      switch error {
      case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
        DecodingError.dataCorrupted(let context):
        context.codingPath.map(\.stringValue)
      case DecodingError.keyNotFound(let key, let context):
        context.codingPath.map(\.stringValue) + ["missing \(key.stringValue)"]
      default: ["?"]
      }
    }
    let theirs = try #require(throws: DecodingError.self) {
      try JSONDecoder().decode(Sample.self, from: Data(text.utf8))
    }
    let ours = try #require(throws: DecodingError.self) { try decode(Sample.self, text) }
    if let unnamed {
      // Foundation's error has no coding path for a number that does not fit.
      #expect(path(ours) == unnamed && path(theirs).isEmpty)
    } else {
      #expect(path(ours) == path(theirs))
    }
  }

  @Test func `members are found in any order, escaped and among unknown ones`() throws {
    let members = [#""git":"g""#, #""tag":"t""#, #""x":{"git":"no"}"#, #""y":[{"tag":0}]"#]
    for a in members {
      for b in members where b != a {
        let rest = members.filter { $0 != a && $0 != b }
        let text = "{\(([a, b] + rest).joined(separator: ","))}"
        #expect(try decode(Source.self, text) == Source(git: "g", tag: "t"))
      }
    }
    let escaped = try decode(Source.self, #"{"\u0067it":"g","t\u0061g":"t"}"#)
    #expect(escaped == Source(git: "g", tag: "t"))
  }

  @Test func `a superclass reads its own object`() throws {
    let dog = try decode(Dog.self, #"{"breed":"Collie","super":{"name":"Lassie"}}"#)
    #expect(dog.name == "Lassie" && dog.breed == "Collie")
    let (error, _) = try fault(Dog.self, #"{"breed":"Collie"}"#)
    guard case .valueNotFound = error else {
      Issue.record("expected valueNotFound, got \(error)")
      return
    }
  }

  @Test func `nested containers are read in place`() throws {
    let nested = try decode(Nested.self, #"{"box":{"list":[1,"a","b"],"flag":null}}"#)
    #expect(nested.first == 1 && nested.rest == ["a", "b"] && nested.flag == nil)
  }

  @Test func `decoded integers are exact and range-checked`() throws {
    #expect(try decode(Int64.self, "-9223372036854775808") == .min)
    #expect(try decode(UInt64.self, "18446744073709551615") == .max)
    #expect(try decode(Int64.self, "9007199254740993.0") == 9_007_199_254_740_993)
    #expect(try decode(UInt64.self, "1.8446744073709551615e19") == .max)
    #expect(try decode(Int.self, "-0") == 0)
    #expect(try decode(UInt8.self, "2.55e2") == 255)
    #expect(try decode([Int8].self, "[-128,127]") == [-128, 127])
    for (text, type) in [
      ("256", UInt8.self), ("-1", UInt8.self), ("4.0000000000000000001", Int.self),
      ("128", Int8.self), ("1e19", Int64.self), ("1e-1", Int.self), ("-1", UInt64.self),
      ("9223372036854775808", Int64.self), ("1e300", UInt64.self),
    ] as [(String, any (FixedWidthInteger & Decodable).Type)] {
      #expect(throws: DecodingError.self, "\(text) as \(type)") { try decode(type, text) }
    }
  }

  @Test func `decoded floats refuse values that would become infinite or zero`() throws {
    #expect(try decode(Float.self, "16777217.0") == 16_777_216)
    #expect(throws: DecodingError.self) { try decode(Float.self, "1e39") }
    #expect(throws: DecodingError.self) { try decode(Float.self, "1e-60") }
    #expect(try decode(Double.self, "9007199254740993") == 9_007_199_254_740_992)
  }

  @Test func `decoded decimals keep every digit`() throws {
    for text in [
      "0", "-0.10", "12345678901234567890.123456789012345678", "1e-100", "-9.99E+20",
      "0.00000000000000000000000000000000000001",
    ] {
      let expected = try #require(Decimal(string: text))
      #expect(try decode(Decimal.self, text) == expected)
    }
    #expect(throws: DecodingError.self) {
      try decode(Decimal.self, "1.234567890123456789012345678901234567890")
    }
  }

  @Test func `decoded dates are ISO 8601, or seconds by option`() throws {
    #expect(
      try decode([Date].self, #"["1970-01-02","1970-01-01\u005400:00:01Z"]"#)
        == [Date(timeIntervalSince1970: 86_400), Date(timeIntervalSince1970: 1)])
    #expect(throws: DecodingError.self) { try decode(Date.self, "5") }
    #expect(throws: DecodingError.self) { try decode(Date.self, #""yesterday""#) }
    let seconds = JSONNodeDecoder(dates: .iso8601OrSecondsSince1970)
    let root = try JSONDocument.parsing(#"[1.5,"1970-01-02"]"#.utf8).root
    #expect(
      try seconds.decode([Date?].self, from: root)
        == [Date(timeIntervalSince1970: 1.5), Date(timeIntervalSince1970: 86_400)])
  }

  @Test func `data, URLs and identifiers are decoded from text`() throws {
    #expect(try decode(Data.self, #""AAH/""#) == Data([0, 1, 255]))
    #expect(throws: DecodingError.self) { try decode(Data.self, #""A*""#) }
    #expect(throws: DecodingError.self) { try decode(UUID.self, #""6BA7""#) }
    #expect(throws: DecodingError.self) { try decode(URL.self, #""""#) }
  }

  @Test func `a JSON value keeps the kinds of its text`() throws {
    let text = #"{"a":[1,1.0,18446744073709551615],"b":{"c":null}}"#
    let expected: JSONValue = ["a": [1, 1.0, .unsigned(.max)], "b": ["c": nil]]
    #expect(try decode(JSONValue.self, text) == expected)
    #expect(try decode([String: JSONValue].self, text) == expected.objectValue)
    #expect(try decode([String: JSONValue?].self, text) == expected.objectValue)
    #expect(try decode(JSONValue?.self, "null") == nil)
  }

  @Test func `user info reaches the decoded types`() throws {
    struct Reader: Decodable {
      let found: String?

      init(from decoder: any Decoder) throws {
        let key = CodingUserInfoKey(rawValue: "k")
        found = key.flatMap { decoder.userInfo[$0] as? String }
      }
    }
    let key = try #require(CodingUserInfoKey(rawValue: "k"))
    let decoder = JSONNodeDecoder(userInfo: [key: "v"])
    #expect(try decoder.decode(Reader.self, from: JSONDocument.parsing("1".utf8).root).found == "v")
  }

  @Test func `an error names the value, its byte and its position`() throws {
    let text = #"{"list":[{"name":"é"},{"name":["x"]}]}"#
    struct Item: Decodable { var name: String }
    struct Page: Decodable { var list: [Item] }
    let (error, node) = try fault(Page.self, text)
    guard case .typeMismatch(_, let context) = error else {
      Issue.record("expected typeMismatch, got \(error)")
      return
    }
    #expect(node.offset == 31)
    #expect(node.position.column == 31)
    #expect(
      context.debugDescription == "cannot decode list.1.name at byte 31: "
        + "found an array, expected a string")
    #expect(try fault(Page.self, #"{"list":[{"name":"a"},{}]}"#).node.offset == 22)
  }

  @Test func `an error that a type throws itself is placed by its coding path`() throws {
    struct Even: Decodable {
      init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if try container.decode(Int.self) % 2 != 0 {
          throw DecodingError.dataCorruptedError(in: container, debugDescription: "odd")
        }
      }
    }
    #expect(try fault([String: [Even]].self, #"{"a":[2,4],"b":[6,7,8]}"#).node.offset == 18)
  }

  @Test func `a record inside a page decodes by its node`() throws {
    let root = try JSONDocument.parsing(#"{"result":[{"git":"a"},{"git":"b"}]}"#.utf8).root
    let nodes = try #require(root["result"]).elements
    let sources = try nodes.map { try JSONNodeDecoder().decode(Source.self, from: $0) }
    #expect(sources.map(\.git) == ["a", "b"])
    #expect(root[path: "result.1.git"]?.string == "b")
    #expect(root[path: "result.2"] == nil && root[path: "result.git"] == nil && root["x"] == nil)
    #expect(root.members.map(\.key) == ["result"])
  }
}
