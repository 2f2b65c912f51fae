import LMDB
import LodestoreFormat
import Testing

@testable import LodestorePages
@testable import LodestoreVerifier

/// The store may sum doubles by differences, so their last digits may differ; all other sums must
/// be exact.
///
/// See Format.md, "Derived attributes".
@Suite struct `A sum of floating point numbers` {
  /// The findings in a store that claims `sum` as the sum of 0.1 and 0.2.
  private func findings(_ type: AttributeType, sum: Double) throws -> [FormatRule] {
    let total = EntityDescription.Attribute(
      number: 1, name: "total", type: type, isOptional: false,
      derivation: DerivationDescription(.sum, source: 2, relationship: 1, side: .to))
    let band = entity(3, "Band", [total], indexes: [])
    let song = entity(
      4, "Song",
      [
        .init(number: 1, name: "band", type: .recordID, isOptional: false),
        .init(number: 2, name: "length", type: type, isOptional: false),
      ],
      indexes: [.init(number: 1, attributes: [1], isUnique: false)])
    let songs = RelationshipDescription(
      number: 1, from: .init(entity: 4), to: .init(entity: 3, name: "songs"), attribute: 1)
    let lengths = type == .float ? [Double(Float(0.1)), Double(Float(0.2))] : [0.1, 0.2]
    let store = try VerifiedStore(filledBy: { store in
      try store.fill()
      let needed = FormatRequirement(reader: .recordIDs, writer: .derivations)
      try store.put(HeaderField.format.key, needed.bytes, .header)
      try store.put(CounterKey.nextEntity, littleEndianBytes(UInt64(5)), .counters)
      try store.put(CounterKey.nextRelationship, littleEndianBytes(UInt64(2)), .counters)
      for entity in [band, song] { try store.putCatalogue(entity.number, entity.document) }
      let key = CatalogueKey.relationship(1)
      try store.put(
        key, Checksum.sealed(key: key, content: songs.document.encoded()), .catalogue)
      try store.insert(1, [.double(sum)], band.layouts[0], band)
      for (index, length) in lengths.enumerated() {
        try store.insert(
          UInt64(index) + 1, [.integer(1), .double(length)], song.layouts[0], song)
      }
    })
    return try Verifier.verify(path: store.path).findings.map(\.rule)
  }

  private func entity(
    _ number: EntityNumber, _ name: String, _ attributes: [EntityDescription.Attribute],
    indexes: [EntityDescription.Index]
  ) -> EntityDescription {
    EntityDescription(
      number: number, name: name, attributes: attributes,
      layouts: [
        RecordLayout(
          number: 1,
          attributes: attributes.map {
            .init(number: $0.number, type: $0.type, isOptional: $0.isOptional)
          })
      ], currentLayout: 1, indexes: indexes)
  }

  @Test func `a sum of doubles may be off in its last digits`() throws {
    #expect(try findings(.double, sum: 0.1 + 0.2) == [])
    #expect(try findings(.double, sum: (0.1 + 0.2).nextDown) == [])
    #expect(try findings(.double, sum: 0.31) == [.derivedValue])
  }

  @Test func `a sum of floats is the rounded sum`() throws {
    let sum = Float(Double(Float(0.1)) + Double(Float(0.2)))
    #expect(try findings(.float, sum: Double(sum)) == [])
    #expect(try findings(.float, sum: Double(sum.nextUp)) == [.derivedValue])
  }
}
