import Foundation
import LodestoreBytes
import LodestoreFormat
import Testing

@testable import EntityStore

/// The bytes of a value, checked against every rule of the format.
func documentBytes(_ value: some Encodable) throws -> [UInt8] {
  var writer = DocumentWriter()
  try DocumentCoding.encode(value, into: &writer)
  try writer.bytes._withBytes { try DocumentReader($0).validate() }
  return writer.bytes
}

func decodeDocument<T: Decodable>(_ type: T.Type = T.self, _ bytes: [UInt8]) throws -> T {
  try bytes._withBytes { try DocumentCoding.decode(type, from: $0) }
}

@Suite struct DocumentCodingTests {
  /// Expects that a value survives encoding, if Foundation's JSON coder can encode a value of this
  /// form.
  private func expectRoundTrip<T: Codable & Equatable>(
    _ value: T, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let json = try JSONDecoder().decode(T.self, from: JSONEncoder().encode(value))
    #expect(json == value, "the shape is one for Foundation", sourceLocation: sourceLocation)
    let bytes = try documentBytes(value)
    #expect(try decodeDocument(T.self, bytes) == value, sourceLocation: sourceLocation)
    #expect(try decodeDocument([T].self, documentBytes([value, value])) == [value, value])
    #expect(try decodeDocument([String: T].self, documentBytes(["k": value])) == ["k": value])
  }

  @Test func `every shape that Foundation carries comes back`() throws {
    try expectRoundTrip(Shapes.Scalars())
    try expectRoundTrip(Shapes.Times())
    try expectRoundTrip(Shapes.Optionals())
    try expectRoundTrip(Shapes.Empty())
    try expectRoundTrip(Shapes.Lists())
    try expectRoundTrip(Shapes.Dictionaries())
    try expectRoundTrip(Shapes.Enums())
    try expectRoundTrip(Shapes.Animal())
    try expectRoundTrip(Shapes.Pet())
    try expectRoundTrip(Shapes.Stray())
    try expectRoundTrip(Shapes.Interleaved())
    try expectRoundTrip(Shapes.Mixed())
    try expectRoundTrip(Shapes.Forgiving())
    try expectRoundTrip(Shapes.Wrapped(rawValue: Shapes.Wrapped(rawValue: "text")))
    try expectRoundTrip(Int?.some(1))
    try expectRoundTrip(String?.none)
    try expectRoundTrip([Int: [Shapes.Color]]())
    try expectRoundTrip([Shapes.Level.low: Shapes.Color.red])
  }

  @Test func `values of types with their own kind have their own code`() throws {
    #expect(try documentBytes(Date(timeIntervalSinceReferenceDate: 0)).first == 0x08)
    #expect(try documentBytes(UUID()).first == 0x09)
    #expect(try documentBytes(Data([1])) == [0x07, 1, 1])
    #expect(try documentBytes(URL(string: "a:b")) == [0x06, 3, 0x61, 0x3A, 0x62])
    #expect(try documentBytes(Decimal(5)).first == 0x0A)
    #expect(try documentBytes(Float(1.5)) == [0x05, 0, 0, 0, 0, 0, 0, 0xF8, 0x3F])
    #expect(try documentBytes(UInt64.max).first == 0x04)
    #expect(try documentBytes(UInt64(Int64.max)).first == 0x03)
    #expect(try documentBytes([Date?.none]) == [0x0C, 5, 0, 0, 0, 1, 0, 0, 0, 0x00])
    let times = try documentBytes(Shapes.Times())
    let kinds = try times._withBytes { bytes in
      try ["body", "created", "id", "page", "price"].map { name in
        try DocumentReader.member(named: name, in: bytes)?.first
      }
    }
    #expect(kinds == [0x07, 0x08, 0x09, 0x06, 0x0A])
  }

  @Test func `an absent optional leaves its member out and an encoded nil is null`() throws {
    struct Explicit: Encodable {
      enum Keys: CodingKey { case a }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encodeNil(forKey: .a)
      }
    }
    struct Implicit: Encodable { var a: Int? }
    #expect(try documentBytes(Implicit()) == [0x0D, 4, 0, 0, 0, 0, 0, 0, 0])
    #expect(try documentBytes(Explicit()) == [0x0D, 7, 0, 0, 0, 1, 0, 0, 0, 1, 0x61, 0])
  }

  @Test func `equal dictionaries have equal bytes whatever their order of insertion`() throws {
    let names = (0..<200).map { "name\($0 * 7919 % 1000)é" }
    var forward: [String: Shapes.Color] = [:]
    var backward: [String: Shapes.Color] = [:]
    backward.reserveCapacity(2000)
    for name in names { forward[name] = .red }
    for name in names.reversed() { backward[name] = .red }
    try #require(Array(forward.keys) != Array(backward.keys))
    #expect(try documentBytes(forward) == documentBytes(backward))
    let texts = (forward.mapValues(\.rawValue), backward.mapValues(\.rawValue))
    #expect(try documentBytes(texts.0) == documentBytes(texts.1))
    #expect(try documentBytes(texts.0) == documentBytes(forward))
  }

  @Test func `the order of declaration does not show in the bytes`() throws {
    struct Forward: Encodable { var a = 1, b = "x", c = [1.5] }
    struct Backward: Encodable { var c = [1.5], b = "x", a = 1 }
    #expect(try documentBytes(Forward()) == documentBytes(Backward()))
  }

  @Test func `names are ordered by bytes and not as Swift orders strings`() throws {
    let names = ["\u{FF5E}", "\u{1F600}", "e\u{301}", "z", "f"]
    let bytes = try documentBytes(Dictionary(uniqueKeysWithValues: names.map { ($0, 0) }))
    let stored = try bytes._withBytes { raw in
      var reader = DocumentReader(raw)
      return try (0..<reader.enterObject().count).map { _ in
        defer { _ = try? reader.skip() }
        return String(decoding: try reader.name(), as: UTF8.self)
      }
    }
    #expect(stored == ["e\u{301}", "f", "z", "\u{FF5E}", "\u{1F600}"])
  }

  @Test func `a member that is encoded twice has its last value`() throws {
    struct Twice: Encodable {
      enum Keys: CodingKey { case z, a }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(1, forKey: .z)
        try container.encode("first", forKey: .a)
        try container.encode([2], forKey: .a)
        try container.encode(3, forKey: .z)
      }
    }
    struct Once: Encodable { var a = [2], z = 3 }
    #expect(try documentBytes(Twice()) == documentBytes(Once()))
  }

  @Test func `64-bit integers are exact`() throws {
    for value: Int64 in [.min, .max, -1, 0, 1 << 53 + 1, -(1 << 53) - 1] {
      #expect(try decodeDocument(Int64.self, documentBytes(value)) == value)
      #expect(try decodeDocument([Int64].self, documentBytes([value])) == [value])
    }
    for value: UInt64 in [.max, 0, 1 << 63, 1 << 63 - 1] {
      #expect(try decodeDocument(UInt64.self, documentBytes(value)) == value)
      let members = ["v": value]
      #expect(try decodeDocument([String: UInt64].self, documentBytes(members)) == members)
    }
  }

  @Test func `every double keeps its bits`() throws {
    for value in [Double.nan, .infinity, -.infinity, -0.0, .leastNonzeroMagnitude, 0.1] {
      let bytes = try documentBytes(value)
      #expect(try decodeDocument(Double.self, bytes).bitPattern == value.bitPattern)
    }
    #expect(try decodeDocument(Float.self, documentBytes(Float.infinity)) == .infinity)
  }

  @Test func `nesting is allowed up to 128 levels both ways`() throws {
    struct Nest: Codable, Equatable {
      var inner: [Nest]
      init(levels: Int) { inner = levels > 1 ? [Nest(levels: levels - 1)] : [] }
    }
    let deepest = Nest(levels: 64)
    #expect(try decodeDocument(Nest.self, documentBytes(deepest)) == deepest)
    #expect(throws: EncodingError.self) { try documentBytes(Nest(levels: 65)) }
    #expect(throws: EncodingError.self) { try documentBytes([deepest]) }

    for levels in [128, 129] {
      let bytes = Self.arrays(levels)
      if levels == 128 {
        #expect(try decodeDocument(Shapes.Deep.self, bytes).levels == 128)
        #expect(try documentBytes(Shapes.Deep(levels: 128)) == bytes)
      } else {
        #expect(throws: DecodingError.self) { try decodeDocument(Shapes.Deep.self, bytes) }
        #expect(throws: EncodingError.self) { try documentBytes(Shapes.Deep(levels: 129)) }
      }
    }
  }

  /// The bytes of nested arrays, made without the encoder.
  static func arrays(_ levels: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<levels {
      let isEmpty: UInt8 = bytes.isEmpty ? 0 : 1
      bytes = [0x0C] + littleEndianBytes(UInt32(bytes.count + 4)) + [isEmpty, 0, 0, 0] + bytes
    }
    return bytes
  }

  @Test func `a value that encodes itself as a single value endlessly is refused`() {
    final class Endless: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self)
      }
    }
    #expect(throws: EncodingError.self) { try documentBytes(Endless()) }
  }

  @Test func `a failed encoding leaves the writer unchanged`() {
    var writer = DocumentWriter()
    writer.write(1 as Int64)
    #expect(throws: EncodingError.self) {
      try DocumentCoding.encode(Shapes.Deep(levels: 200), into: &writer)
    }
    #expect(throws: CocoaError.self) {
      try DocumentCoding.encode(["a": Shapes.Forgiving.Failing()], into: &writer)
    }
    #expect(writer.bytes == [0x03, 0x02])
  }
}

extension Shapes {
  /// A value that encodes itself as arrays nested `levels` deep.
  struct Deep: Codable {
    var levels: Int

    init(levels: Int) { self.levels = levels }

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      levels = list.isAtEnd ? 1 : try list.decode(Deep.self).levels + 1
    }

    func encode(to encoder: any Encoder) throws {
      var list = encoder.unkeyedContainer()
      if levels > 1 { try list.encode(Deep(levels: levels - 1)) }
    }
  }
}
