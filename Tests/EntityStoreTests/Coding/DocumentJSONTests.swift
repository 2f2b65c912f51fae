import Foundation
import LodestoreBytes
import LodestoreFormat
import Testing

@testable import EntityStore

@Suite struct DocumentJSONTests {
  private func bytes(_ value: JSONValue) throws -> [UInt8] {
    var writer = DocumentWriter()
    try value.write(to: &writer)
    try writer.bytes._withBytes { try DocumentReader($0).validate(onlyJSON: true) }
    return writer.bytes
  }

  private func value(_ bytes: [UInt8]) throws -> JSONValue {
    try bytes._withBytes { try JSONValue(document: $0) }
  }

  private func shown(_ bytes: [UInt8]) throws -> JSONValue {
    try bytes._withBytes { try JSONValue(anyDocument: $0) }
  }

  private static let values: [JSONValue] = [
    nil, true, false, 0, -1, .integer(.min), .integer(.max), .unsigned(.max), 1.0, 0.1, "", "é🙂",
    [], [:], [[], [[]]], ["z": 1, "a": [nil, ["é": 2, "e": 3]], "": "x"], .double(.infinity),
  ]

  @Test(arguments: values)
  func `a JSON value comes back unchanged from a document`(value: JSONValue) throws {
    let bytes = try bytes(value)
    #expect(try self.value(bytes) == value)
    #expect(try decodeDocument(JSONValue.self, bytes) == value)
    #expect(try documentBytes(value) == bytes)
    #expect(try documentBytes(["k": [value]]) == self.bytes(["k": [value]]))
  }

  @Test func `equal values have equal bytes`() throws {
    #expect(try bytes(.unsigned(5)) == bytes(.integer(5)))
    #expect(try bytes(.double(-0.0)) == bytes(.double(0.0)))
    #expect(try bytes(1) != bytes(1.0))
    let names = (0..<100).map { "k\($0)" }
    var forward: [String: JSONValue] = [:]
    var backward: [String: JSONValue] = [:]
    backward.reserveCapacity(1000)
    for name in names { forward[name] = 1 }
    for name in names.reversed() { backward[name] = 1 }
    try #require(Array(forward.keys) != Array(backward.keys))
    #expect(try bytes(.object(forward)) == bytes(.object(backward)))
  }

  @Test func `128 levels are stored and 129 are refused`() throws {
    var value: JSONValue = []
    for _ in 1..<128 { value = [value] }
    #expect(try self.value(bytes(value)) == value)
    #expect(throws: DocumentNestingError.self) { try bytes([value]) }
    #expect(throws: EncodingError.self) { try documentBytes([value]) }
    #expect(throws: DocumentNestingError.self) { try bytes(["a": value]) }
    #expect(throws: FormatError.self) { try self.value(DocumentCodingTests.arrays(129)) }
    #expect(throws: FormatError.self) { try shown(DocumentCodingTests.arrays(129)) }
    #expect(throws: DecodingError.self) {
      try decodeDocument([JSONValue].self, DocumentCodingTests.arrays(129))
    }
  }

  @Test func `a JSON attribute refuses kinds of values that JSON lacks`() throws {
    for bytes in try [
      documentBytes(Date()), documentBytes([UUID()]), documentBytes(["a": Data()]),
      documentBytes(Decimal(1)),
    ] {
      #expect(throws: FormatError.self) { try value(bytes) }
    }
  }

  @Test func `names that Swift considers equal are refused and not merged`() {
    let bytes: [UInt8] =
      [0x0D, 13, 0, 0, 0, 2, 0, 0, 0, 3, 0x65, 0xCC, 0x81, 0x00, 2, 0xC3, 0xA9, 0x00]
    #expect(throws: Never.self) { try bytes._withBytes { try DocumentReader($0).validate() } }
    #expect(throws: FormatError.self) { try value(bytes) }
    #expect(throws: DecodingError.self) { try decodeDocument([String: JSONValue].self, bytes) }
  }

  @Test func `any document can be shown as JSON`() throws {
    struct Mixed: Encodable {
      var date = Date(timeIntervalSinceReferenceDate: 0)
      var far = Date(timeIntervalSinceReferenceDate: 1e300)
      var id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
      var body = Data([1, 2, 3])
      var whole = Decimal(12_300)
      var large = Decimal(UInt64.max)
      var price = Decimal(string: "-12.50")
      var exact = Decimal(string: "1234567890.0123456789")
      var none = Decimal.nan
      var ratio = 1.0 / 0.0
    }
    #expect(
      try shown(documentBytes(Mixed())) == [
        "date": "2001-01-01T00:00:00Z", "far": "1e+300",
        "id": "01020304-0506-0708-090A-0B0C0D0E0F10", "body": "AQID", "whole": 12300,
        "large": .unsigned(.max), "price": -12.5, "exact": "12345678900123456789e-10",
        "none": "nan", "ratio": "inf",
      ])
  }
}

/// JSON texts are written as documents without making values of them in between.
@Suite struct DocumentJSONNodeTests {
  private func bytes(_ text: String) throws -> [UInt8] {
    var writer = DocumentWriter()
    try JSONDocument.parsing(text.utf8).root.writeDocument(to: &writer)
    return writer.bytes
  }

  @Test(arguments: [
    "null", "true", "-9223372036854775808", "18446744073709551615", "1.0", "-0.0", "1e3", "\"\"",
    "\"a\\u00e9\\n\"", "[]", "{}", "[1,[2,{\"z\":1,\"a\":{\"c\":null,\"b\":[]}}]]",
    "{\"b\\u0061\":1,\"b\":2,\"\":3,\"é\":4,\"\\ud83d\\ude00\":5,\"～\":6}",
  ])
  func `a JSON text gives the bytes of its value`(text: String) throws {
    var writer = DocumentWriter()
    try JSONValue(parsing: text).write(to: &writer)
    #expect(try bytes(text) == writer.bytes)
    try writer.bytes._withBytes { try DocumentReader($0).validate(onlyJSON: true) }
  }

  @Test(arguments: [1, 2, 23, 24, 25, 300])
  func `members of objects of any size come in order`(count: Int) throws {
    let members = (0..<count).map { "\"k\($0 * 7919 % 1009)\":\($0)" }
    let text = "{\(members.joined(separator: ","))}"
    var writer = DocumentWriter()
    try JSONValue(parsing: text).write(to: &writer)
    #expect(try bytes(text) == writer.bytes)
    try writer.bytes._withBytes { try DocumentReader($0).validate(onlyJSON: true) }
  }

  @Test func `a JSON text deeper than documents allow is refused`() throws {
    let text = { (levels: Int) in
      String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
    #expect(try bytes(text(128)) == DocumentCodingTests.arrays(128))
    let document = try JSONDocument.parsing(text(129).utf8, limits: JSONLimits(depth: 200))
    var writer = DocumentWriter()
    #expect(throws: DocumentNestingError.self) { try document.root.writeDocument(to: &writer) }
  }
}
