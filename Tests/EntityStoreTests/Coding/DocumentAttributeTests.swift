import Foundation
import LodestoreBytes
import LodestoreFormat
import Testing

@testable import EntityStore

/// JSON and `Codable` values as attributes of a record.
@Suite struct DocumentAttributeTests {
  private static let layout = RecordLayout(
    number: 1,
    attributes: [
      .init(number: 1, type: .json, isOptional: false),
      .init(number: 2, type: .json, isOptional: true),
      .init(number: 3, type: .document, isOptional: false),
    ])

  private func record(_ authors: JSONValue, _ extra: JSONValue?, _ tags: [String]) -> [UInt8]? {
    var writer = RecordWriter()
    writer.begin(Self.layout, isWide: false)
    writer.write(authors)
    writer.write(extra)
    writer.write(tags)
    guard let body = writer.finish(Self.layout, entity: "Pod"), writer.failure == nil else {
      return nil
    }
    let checksum = Checksum.record(id: 7, body: ByteView(body))
    return Array(body) + littleEndianBytes(checksum)
  }

  private static let label = EntityLabel("Pod")

  private func expectRead(_ authors: JSONValue, _ extra: JSONValue?, _ tags: [String]) throws {
    let written = record(authors, extra, tags)
    let record = try #require(written)
    try record._withBytes { bytes in
      let view = try RecordView(bytes, layout: Self.layout)
      try view.validate(id: 7)
      var reader = RecordReader(view, entity: Self.label, recordID: 7)
      #expect(try reader.read(JSONValue.self) == authors)
      #expect(try reader.read(JSONValue?.self) == extra)
      #expect(try reader.read([String].self) == tags)
    }
  }

  @Test func `JSON comes back from a record, and null in it differs from an absent value`() throws {
    try expectRead(["Ann": "a@example.org"], ["x"], ["one", ""])
    try expectRead(nil, nil, [])
    try expectRead("text", .some(.null), ["two"])
  }

  @Test func `JSON is declared as JSON and an optional of it as nullable`() {
    #expect(JSONValue._storage.type == .json && !JSONValue._storage.isOptional)
    #expect(JSONValue?._storage.type == .json && JSONValue?._storage.isOptional)
    #expect(JSONValue.bool(true)._storedValue.value == .document([0x02]))
    #expect(JSONValue?.none._storedValue.value == .null)
  }

  @Test func `JSON that is nested too deep fails the record`() {
    var value: JSONValue = []
    for _ in 1..<129 { value = [value] }
    #expect(record(value, nil, []) == nil)
    #expect(value._storedValue.value == .null)
  }

  @Test func `a date in the place of JSON is an error that names the record`() throws {
    var writer = RecordWriter()
    writer.begin(Self.layout, isWide: false)
    try documentBytes(["when": Date.now])._withBytes { writer.writeVariable($0) }
    writer.write(JSONValue?.none)
    writer.write([] as [String])
    let finished = writer.finish(Self.layout, entity: "Pod")
    let record = Array(try #require(finished)) + [0, 0, 0, 0]
    let error = #expect(throws: StoreError.self) {
      try record._withBytes { bytes in
        let view = try RecordView(bytes, layout: Self.layout)
        var reader = RecordReader(view, entity: Self.label, recordID: 7)
        _ = try reader.read(JSONValue.self)
      }
    }
    #expect(error?.code == .undecodableValue && error?.recordID == 7)
    #expect(error?.message.contains("a date") == true)
  }
}
