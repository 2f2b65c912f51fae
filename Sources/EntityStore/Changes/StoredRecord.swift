internal import LodestoreBytes
internal import LodestoreFormat
import LodestoreSystem

/// A stored record that may be replaced or removed, of any layout, whose bytes were checked.
///
/// ``EntityChanges`` makes it, in this file alone.
struct StoredRecord {
  let id: UInt64
  let view: RecordView
  /// The facts that the digest needs.
  ///
  /// The facts are copies. A sink that hears of the change may write to another tree, and the bytes may be
  /// gone when the record is written.
  let written: WrittenRecord

  @inline(__always)
  fileprivate init(_ view: RecordView, id: UInt64) {
    self.id = id
    self.view = view
    written = WrittenRecord(view.bytes)
  }
}

extension EntityChanges {
  /// A stored record that is about to be changed or removed.
  ///
  /// Its shape is always checked: every slot and every end lies within its bytes. Its checksum is checked
  /// by the option ``StoreOptions/verifiesChecksums``, where the history keeps the record, and where its
  /// bytes go into a record with a new checksum, which would make damage look sound.
  ///
  /// - Throws: ``StoreError/Code/damaged``, naming the entity and the id.
  @inline(__always)
  func stored(
    _ bytes: ByteView, id: UInt64, isCarriedOver: Bool = false
  ) throws(StoreError) -> StoredRecord {
    let view = try entity.view(bytes, id: id)
    if verifiesChecksums || isCarriedOver { try entity.verifyChecksum(of: view, id: id) }
    return StoredRecord(view, id: id)
  }

  /// The values of record `id`, by the positions of the current layout; `nil` where there is none.
  func values(of id: UInt64) throws(StoreError) -> [Value]? {
    guard let bytes = try core.record(id, of: entity) else { return nil }
    return try entity.values(of: try stored(bytes, id: id, isCarriedOver: true).view, id: id)
  }

  /// Whether a stored record has sound bytes as far as ``stored(_:id:isCarriedOver:)`` would check
  /// them, for paths that change slots without a view; its shape is checked before.
  @inline(__always)
  func isSound(_ bytes: ByteView, id: UInt64) -> Bool {
    !verifiesChecksums || Checksum.fits(bytes, id: id)
  }

  /// Whether a stored record has the values of `record`, which is sealed and of the current layout.
  func isSame(_ stored: StoredRecord, as record: ByteView) throws(StoreError) -> Bool {
    if stored.view.layout === entity.layout { return core.isSame(stored.view.bytes, record) }
    return try core.carriedOver(stored.view, id: stored.id, of: entity)
      ._withBytes { core.isSame($0, record) }
  }
}

extension TransactionCore {
  func isSame(_ a: ByteView, _ b: ByteView) -> Bool {
    guard a.count == b.count else { return false }
    guard let left = a.baseAddress, let right = b.baseAddress else { return a.count == 0 }
    return memcmp(left, right, a.count) == 0
  }
}
