package import LodestoreBytes
package import LodestoreFormat

/// A record as the transaction reads it; valid until the closure that receives it returns.
///
/// No byte is examined before ``reader(verifyingChecksum:)``, so that damaged records can be
/// skipped.
package struct DynamicRecord {
  /// The name of a record's id among its attributes; no attribute can have this name.
  package static let idName = JSONRecordEncoder.idMember

  /// The name of the distance from the place or vector of a query.
  package static let distanceName = ValuePath.distanceName

  package let id: UInt64
  let bytes: ByteView
  /// The length of the record in the file.
  package var byteCount: Int { bytes.count }
  let entity: StoredEntity

  /// Reads the record's shape, and on request verifies its checksum.
  package func reader(verifyingChecksum: Bool = false) throws(StoreError) -> Reader {
    Reader(view: try entity.view(bytes, id: id, verifying: verifyingChecksum))
  }

  /// Reads the values of a record.
  package struct Reader {
    let view: RecordView

    /// The value of `attribute`; its initial value when the record is older than the attribute.
    package func value(of attribute: EntityDescription.Attribute) throws(FormatError) -> Value {
      try view.value(of: attribute)
    }

    /// The parts of the record's bytes in their order, as Format.md, "Records", names them.
    package var parts: [(part: RecordPart, bytes: [UInt8])] {
      view.parts.map { ($0, Array(view.bytes[$0.range])) }
    }

    /// The number of the layout in which the record is stored.
    package var layoutNumber: UInt16 { view.layout.number }
  }
}

extension DynamicSnapshot {
  /// A record of which the bytes were read elsewhere, as those of the history; `nil` for an unknown
  /// entity.
  package func record(
    _ bytes: ByteView, id: UInt64, of number: EntityNumber
  ) -> (record: DynamicRecord, entity: DynamicEntity)? {
    guard let entity = core.schema.entity(number) else { return nil }
    return (DynamicRecord(id: id, bytes: bytes, entity: entity), DynamicEntity(stored: entity))
  }

  /// The names of the two sides of a relationship, as `Entity.name`; `nil` for an unknown one.
  package func relationshipName(_ number: UInt32) -> String? {
    core.schema.relationship(number).map { "\($0.namedEnd.source.name).\($0.namedEnd.name ?? "")" }
  }
}
