import LodestoreBytes
import Testing

@testable import LodestoreFormat

@Suite("Parts of records")
struct RecordPartsTests {
  private static let layout = RecordLayout(
    number: 1,
    attributes: [
      .init(number: 1, type: .string, isOptional: false),
      .init(number: 2, type: .int64, isOptional: false),
      .init(number: 3, type: .string, isOptional: true),
      .init(number: 4, type: .double, isOptional: true),
      .init(number: 5, type: .bool, isOptional: false),
      .init(number: 6, type: .string, isOptional: false),
    ])

  @Test func `the parts of the first example of Format.md are those of its table`() throws {
    let bytes = bytes(
      hexadecimal: "0100032c01000000000000000000000000000001"
        + "0a000a000d00c3856e67737472c3b66d4d4954a7de8a1e")
    let parts = try bytes._withBytes { try RecordView($0, layout: Self.layout).parts }
    #expect(parts.map(\.range.lowerBound) == [0, 2, 3, 11, 19, 20, 22, 24, 26, 36, 36, 39])
    #expect(parts.last?.range == 39..<bytes.count)
    #expect(
      parts.map(\.kind) == [
        .header, .nulls, .slot(attribute: 2), .slot(attribute: 4), .slot(attribute: 5),
        .end(attribute: 1), .end(attribute: 3), .end(attribute: 6), .bytes(attribute: 1),
        .bytes(attribute: 3), .bytes(attribute: 6), .checksum,
      ])
  }
}
