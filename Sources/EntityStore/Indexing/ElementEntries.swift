internal import LMDB
internal import LodestoreFormat

/// Writes the entries of an index over elements.
struct ElementEntries {
  let index: StoredElementIndex
  private let entity: StoredEntity
  private let core: TransactionCore

  init(_ index: StoredElementIndex, of entity: StoredEntity, core: TransactionCore) {
    self.index = index
    self.entity = entity
    self.core = core
  }

  /// Writes the difference between the entries of `old` and those of `new`, either of which may be absent.
  func change(_ id: UInt64, _ old: RecordView?, _ new: RecordView?) throws(StoreError) {
    let before = try keys(of: old, id)
    let after = try keys(of: new, id)
    if before == after { return }
    let suffix = bigEndianBytes(id)
    do {
      for key in before where !after.contains(key) {
        _ = try core.transaction.delete(key + suffix, in: index.entries.tree)
      }
      for key in after where !before.contains(key) {
        try core.transaction.put(key + suffix, [], in: index.entries.tree)
      }
    } catch {
      throw StoreError(error)
    }
  }

  private func keys(of view: RecordView?, _ id: UInt64) throws(StoreError) -> [[UInt8]] {
    guard let view else { return [] }
    do {
      return try entity.keys(of: index, in: view)
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
  }
}

extension TransactionCore {
  /// Fills a new, empty index over elements from the records.
  func build(
    _ index: StoredElementIndex, of entity: StoredEntity, _ work: OpeningWork?
  ) throws(StoreError) {
    let entries = ElementEntries(index, of: entity, core: self)
    try forEachRecord(of: entity) { (id, view) throws(StoreError) in
      try entries.change(id, nil, view)
      try work?.step()
    }
  }
}
