import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

@Suite struct DocumentCodingErrorTests {
  private struct Pod: Codable {
    struct Source: Codable { var tag: Int }
    var name = "AFNetworking"
    var tags = ["a", "b"]
    var sources = [Source(tag: 1), Source(tag: 300)]
    var day = Date(timeIntervalSinceReferenceDate: 0)
  }

  private func path(_ error: DecodingError?) -> String {
    let context: DecodingError.Context? =
      switch error {
      case .typeMismatch(_, let context), .valueNotFound(_, let context),
        .keyNotFound(_, let context), .dataCorrupted(let context):
        context
      default: nil
      }
    return context?.codingPath
      .map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".") ?? "none"
  }

  private func failure<T: Decodable>(_ type: T.Type, of value: some Encodable) throws
    -> DecodingError?
  {
    let bytes = try documentBytes(value)
    return #expect(throws: DecodingError.self) { try decodeDocument(type, bytes) }
  }

  @Test func `an integer beyond its type is an error with its path`() throws {
    struct Small: Decodable {
      struct Source: Decodable { var tag: Int8 }
      var sources: [Source]
    }
    let error = try failure(Small.self, of: Pod())
    guard case .dataCorrupted(let context) = error else {
      Issue.record("expected corrupted data, found \(String(describing: error))")
      return
    }
    #expect(path(error) == "sources.1.tag")
    #expect(context.debugDescription.contains("an integer from -128 to 127"))
    #expect(throws: DecodingError.self) { try decodeDocument(UInt64.self, documentBytes(-1)) }
    #expect(throws: DecodingError.self) { try decodeDocument(Int.self, documentBytes(UInt64.max)) }
  }

  @Test func `another kind of value is a mismatch with the path of the element`() throws {
    struct Other: Decodable { var tags: [Int] }
    let error = try failure(Other.self, of: Pod())
    guard case .typeMismatch(_, let context) = error else {
      Issue.record("expected a mismatch, found \(String(describing: error))")
      return
    }
    #expect(path(error) == "tags.0")
    #expect(context.debugDescription.contains("found a string"), "\(context.debugDescription)")
    #expect(throws: DecodingError.self) { try decodeDocument(Date.self, documentBytes(1.5)) }
    #expect(throws: DecodingError.self) { try decodeDocument(Int.self, documentBytes(1.0)) }
    #expect(throws: DecodingError.self) { try decodeDocument([Int].self, documentBytes(["a": 1])) }
    #expect(try decodeDocument(Double.self, documentBytes(7)) == 7)
    #expect(throws: DecodingError.self) {
      try decodeDocument(Double.self, documentBytes(1 << 53 + 1))
    }
  }

  @Test func `null in the place of a value is a missing value`() throws {
    let error = try failure([String].self, of: [nil, "a"] as [String?])
    guard case .valueNotFound = error else {
      Issue.record("expected a missing value, found \(String(describing: error))")
      return
    }
    #expect(path(error) == "0")
  }

  @Test func `an absent member is a missing key of its object`() throws {
    struct Other: Decodable {
      struct Source: Decodable { var commit: String }
      var sources: [Source]
    }
    let error = try failure(Other.self, of: Pod())
    guard case .keyNotFound(let key, _) = error else {
      Issue.record("expected a missing key, found \(String(describing: error))")
      return
    }
    #expect(key.stringValue == "commit")
    #expect(path(error) == "sources.0")
  }

  @Test func `a type sees the path that leads to it while it is encoded and decoded`() throws {
    struct Curious: Codable {
      struct Refused: Error { var path: String }
      init() {}
      init(from decoder: any Decoder) throws {
        throw Refused(path: decoder.codingPath.map(\.stringValue).joined(separator: "."))
      }
      func encode(to encoder: any Encoder) throws {
        throw Refused(path: encoder.codingPath.map(\.stringValue).joined(separator: "."))
      }
    }
    let encoded = #expect(throws: Curious.Refused.self) {
      try documentBytes(["a": ["b": [[Curious()]]]])
    }
    #expect(encoded?.path == "a.b.Index 0.Index 0")
    let decoded = #expect(throws: Curious.Refused.self) {
      try decodeDocument([String: [Curious]].self, documentBytes(["a": [1, 2], "b": []]))
    }
    #expect(decoded?.path == "a.Index 0")
  }

  @Test func `bytes after the value are refused`() throws {
    let bytes = try documentBytes(Pod()) + [0]
    #expect(throws: DecodingError.self) { try decodeDocument(Pod.self, bytes) }
    #expect(throws: DecodingError.self) { try decodeDocument(Int.self, [0x03, 0x02, 0x00]) }
    #expect(throws: DecodingError.self) { try decodeDocument(Int.self, []) }
    #expect(throws: DecodingError.self) { try decodeDocument(Pod.self, []) }
  }

  @Test func `a type that encodes nothing is refused as Foundation refuses it`() throws {
    struct Silent: Encodable { func encode(to encoder: any Encoder) throws {} }
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(Silent()) }
    #expect(throws: EncodingError.self) { try documentBytes(Silent()) }
    let empty = try documentBytes([Shapes.Empty()])
    #expect(try documentBytes([Silent()]) == empty)
  }

  @Test func `a type that encodes itself as two kinds of value is refused`() {
    struct Torn: Encodable {
      func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        try list.encode(1)
        _ = encoder.container(keyedBy: PathKey.self)
      }
    }
    struct Doubled: Encodable {
      func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        try single.encode(1)
        try single.encode(2)
      }
    }
    #expect(throws: EncodingError.self) { try documentBytes(Torn()) }
    #expect(throws: EncodingError.self) { try documentBytes([Torn()]) }
    #expect(throws: EncodingError.self) { try documentBytes(Doubled()) }
  }

  @Test func `a retained encoder or decoder is empty after its call`() throws {
    final class Box: @unchecked Sendable {
      var encoder: (any Encoder)?
      var decoder: (any Decoder)?
    }
    struct Keeper: Codable {
      static let key = CodingUserInfoKey(rawValue: "box")
      @TaskLocal static var box = Box()
      var value = 5
      enum CodingKeys: CodingKey { case value }
      init() {}
      init(from decoder: any Decoder) throws {
        Self.box.decoder = decoder
        value = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .value)
      }
      func encode(to encoder: any Encoder) throws {
        Self.box.encoder = encoder
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(value, forKey: .value)
      }
    }
    let box = Box()
    try Keeper.$box.withValue(box) {
      let bytes = try documentBytes(Keeper())
      #expect(try decodeDocument(Keeper.self, bytes).value == 5)
    }
    let encoder = try #require(box.encoder)
    var container = encoder.container(keyedBy: PathKey.self)
    #expect(throws: EncodingError.self) {
      try container.encode(1, forKey: PathKey(stringValue: "late"))
    }
    let decoder = try #require(box.decoder)
    #expect(throws: DecodingError.self) { try decoder.container(keyedBy: PathKey.self) }
    #expect(decoder.codingPath.isEmpty)
  }
}
