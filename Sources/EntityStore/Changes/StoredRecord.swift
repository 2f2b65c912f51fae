internal import LodestoreBytes
internal import LodestoreFormat

/// A stored record of any layout that may be replaced or removed, with checked bytes.
///
/// Only the extension of ``EntityChanges`` in this file creates stored records.
struct StoredRecord {
  let id: UInt64
  let view: RecordView
  /// Copies of the facts about the record that the digest of the content needs.
  ///
  /// A sink that receives the change may write to another tree, after which the bytes may be
  /// invalid when the record is written.
  let written: WrittenRecord
  /// Whether the checksum of the bytes was verified.
  fileprivate let isVerified: Bool

  @inline(__always)
  fileprivate init(_ view: RecordView, id: UInt64, isVerified: Bool) {
    self.id = id
    self.view = view
    self.isVerified = isVerified
    written = WrittenRecord(view.bytes)
  }
}

extension EntityChanges {
  /// Checks a stored record that is about to be changed or removed.
  ///
  /// The shape is always checked: every slot and every end is within the bytes. The checksum is
  /// checked in three cases:
  /// - The option ``StoreOptions/verifiesChecksums`` is set.
  /// - The history keeps the record.
  /// - The bytes become part of a record with a new checksum, which would hide the damage.
  ///
  /// - Throws: ``StoreError/Code/damaged``, naming the entity and the id.
  @inline(__always)
  func stored(
    _ bytes: ByteView, id: UInt64, isCarriedOver: Bool = false
  ) throws(StoreError) -> StoredRecord {
    let view = try entity.view(bytes, id: id)
    let verifies = verifiesChecksums || isCarriedOver
    if verifies { try entity.verifyChecksum(of: view, id: id) }
    return StoredRecord(view, id: id, isVerified: verifies)
  }

  /// Verifies the checksum of a stored record whose bytes become part of a new record.
  @inline(__always)
  func verify(_ old: StoredRecord) throws(StoreError) {
    if !old.isVerified { try entity.verifyChecksum(of: old.view, id: old.id) }
  }

  /// The verified values of a stored record, in the order of the current layout.
  func values(of old: StoredRecord) throws(StoreError) -> [Value] {
    try verify(old)
    return try entity.values(of: old.view, id: old.id)
  }

  /// The values of record `id`, in the order of the current layout; `nil` when the record does not
  /// exist.
  func values(of id: UInt64) throws(StoreError) -> [Value]? {
    guard let bytes = try core.record(id, of: entity) else { return nil }
    return try values(of: try stored(bytes, id: id))
  }

  /// Returns whether a stored record has a correct checksum, or checksums are not verified.
  ///
  /// The method serves code that changes slots without a view. The caller must have checked the
  /// shape of the record.
  @inline(__always)
  func isSound(_ bytes: ByteView, id: UInt64) -> Bool {
    !verifiesChecksums || Checksum.fits(bytes, id: id)
  }

  /// Returns whether a stored record has the values of `record`, which is sealed and has the
  /// current layout.
  func isSame(_ stored: StoredRecord, as record: ByteView) throws(StoreError) -> Bool {
    if stored.view.layout === entity.layout { return stored.view.bytes.elementsEqual(record) }
    return try core.carriedOver(stored.view, id: stored.id, of: entity)
      ._withBytes { $0.elementsEqual(record) }
  }

  /// Returns whether a stored record has the values of `record`.
  ///
  /// A stored record of the current layout must also have a correct checksum.
  func isSame(_ stored: StoredRecord, as record: DerivedRecord) throws(StoreError) -> Bool {
    let content = record.record.content
    if stored.view.layout === entity.layout {
      return stored.view.content.elementsEqual(content)
        && Checksum.fits(stored.view.bytes, id: stored.id)
    }
    return try core.carriedOver(stored.view, id: stored.id, of: entity)
      ._withBytes { $0[..<($0.count - RecordLayout.checksumSize)].elementsEqual(content) }
  }
}
