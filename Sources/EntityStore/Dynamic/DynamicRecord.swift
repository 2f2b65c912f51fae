internal import LodestoreBytes
package import LodestoreFormat

/// A record as the transaction has it: valid until the closure that was given it returns.
///
/// Nothing of it is looked at before ``reader(verifyingChecksum:)``, so that damaged ones can be passed
/// over.
package struct DynamicRecord {
  /// What a record's id is called among its attributes: no attribute can have this name.
  package static let idName = JSONRecordEncoder.idMember

  package let id: UInt64
  let bytes: ByteView
  let entity: StoredEntity

  /// Reads the record's shape and, if asked to, checks its bytes against their checksum.
  package func reader(verifyingChecksum: Bool = false) throws(StoreError) -> Reader {
    Reader(view: try entity.view(bytes, id: id, verifying: verifyingChecksum))
  }

  /// Reads the values of a record.
  package struct Reader {
    let view: RecordView

    /// The value of `attribute`; of one that is younger than the record its initial value.
    package func value(
      of attribute: EntityDescription.Attribute
    ) throws(FormatError) -> Value {
      guard let place = view.layout.slotIndex(ofAttribute: attribute.number) else {
        return attribute.initial
      }
      return try view.value(at: view.layout.slots[place])
    }
  }
}
