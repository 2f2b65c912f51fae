import LMDB
import LodestoreFormat
import Testing

@testable import LodestorePages
@testable import LodestoreVerifier

/// See Format.md, "Derived attributes".
@Suite struct `A part of a date` {
  /// The rules that the verifier reports if a store claims `value` as the part of a date.
  private func findings(
    of date: Double?, _ part: CalendarPart, offset: Int64, type: AttributeType? = nil,
    _ value: Value,
    writer: FormatVersion = .schemas
  ) throws -> [FormatRule] {
    let attributes: [EntityDescription.Attribute] = [
      .init(number: 1, name: "at", type: .date, isOptional: true),
      .init(
        number: 2, name: "part", type: type ?? part.type, isOptional: true,
        derivation: DerivationDescription(
          .datePart, source: 1, part: DerivedDatePart(part, offset: offset))),
    ]
    let visit = EntityDescription(
      number: 3, name: "Visit", attributes: attributes,
      layouts: [
        RecordLayout(
          number: 1,
          attributes: attributes.map {
            .init(number: $0.number, type: $0.type, isOptional: $0.isOptional)
          })
      ], currentLayout: 1, indexes: [])
    let store = try VerifiedStore(filledBy: { store in
      try store.fill()
      let needed = FormatRequirement(reader: .first, writer: writer)
      try store.put(HeaderField.format.key, needed.bytes, .header)
      try store.put(CounterKey.nextEntity, littleEndianBytes(UInt64(4)), .counters)
      try store.putCatalogue(visit.number, visit.document)
      try store.insert(1, [date.map { .date($0) } ?? .null, value], visit.layouts[0], visit)
    })
    return try Verifier.verify(path: store.path).findings.map(\.rule)
  }

  @Test func `the verifier checks a part of a date against its date`() throws {
    #expect(try findings(of: 0, .year, offset: 0, .integer(2001)) == [])
    #expect(try findings(of: 0, .year, offset: -1, .integer(2000)) == [])
    #expect(try findings(of: 0, .year, offset: -1, .integer(2001)) == [.derivedValue])
    #expect(try findings(of: nil, .year, offset: 0, .null) == [])
    #expect(try findings(of: nil, .year, offset: 0, .integer(2001)) == [.derivedValue])
    #expect(try findings(of: 0x1p53, .weekday, offset: 0, .null) == [])
    #expect(try findings(of: .nan, .startOfDay, offset: 0, .null) == [])
    #expect(try findings(of: 90_000, .startOfDay, offset: 3_600, .date(82_800)) == [])
    #expect(try findings(of: 90_000, .startOfDay, offset: 0, .date(82_800)) == [.derivedValue])
  }

  @Test func `a part of a date has its type, an offset below a day, and needs version 6`() throws {
    let wrongType = try findings(of: nil, .year, offset: 0, type: .date, .null)
    #expect(wrongType.contains(.derivedAttribute), "\(wrongType)")
    let wrongOffset = try findings(of: nil, .year, offset: 86_400, .null)
    #expect(wrongOffset.contains(.derivedMembers), "\(wrongOffset)")
    let older = try findings(of: nil, .year, offset: 0, .null, writer: .history)
    #expect(!older.isEmpty)
  }
}
