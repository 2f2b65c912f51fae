internal import LMDB
internal import LodestoreFormat

/// Keeps the entries that indexes which are being built have already.
///
/// Records from a certain id on have none yet: they are visited when the index gets there.
final class BuildingIndexes: ChangeSink {
  let name = "indexes that are being built"
  private unowned(unsafe) let core: TransactionCore
  private var byEntity: [EntityNumber: [Item]] = [:]

  private struct Item {
    let index: StoredIndex
    /// The first record without an entry.
    let next: UInt64
  }

  /// `nil` where the schema has none.
  init?(_ schema: StoredSchema, core: TransactionCore) throws(StoreError) {
    guard schema.isBuilding else { return nil }
    self.core = core
    for entity in schema.entities where !entity.building.isEmpty {
      var items: [Item] = []
      for index in entity.building {
        items.append(Item(index: index, next: try core.nextToIndex(index, of: entity)))
      }
      byEntity[entity.number] = items
    }
  }

  func interest(in entity: StoredEntity) -> ChangeInterest? {
    byEntity[entity.number] == nil ? nil : [.oldRecord, .newRecord]
  }

  func isConcerned(byUpdateOf attributes: Set<UInt32>, of entity: StoredEntity) -> Bool {
    byEntity[entity.number]?.contains {
      !attributes.isDisjoint(with: $0.index.description.attributes)
    } ?? false
  }

  func record(_ change: RecordChange, of entity: StoredEntity) throws(StoreError) {
    for item in byEntity[entity.number] ?? [] {
      switch change {
      case .insertedRecord(let id, let new): try note(id, nil, new, item, entity)
      case .updated(let id, let old?, let new?, _): try note(id, old, new, item, entity)
      case .removed(let id, let old?): try note(id, old, nil, item, entity)
      case .inserted, .updated, .removed, .cleared: break
      }
    }
  }

  private func note(
    _ id: UInt64, _ old: RecordView?, _ new: RecordView?, _ item: Item, _ entity: StoredEntity
  ) throws(StoreError) {
    guard id < item.next else { return }
    if let old { try core.removeEntry(of: old, id: id, in: item.index, of: entity) }
    if let new { try core.putEntry(of: new, id: id, in: item.index, of: entity) }
  }
}

extension TransactionCore {
  /// Throws ``StoreError/Code/uniqueViolation`` where a unique index that is being built has a key of
  /// a record for another one.
  ///
  /// Asked before anything is written or told, so that an error leaves the write as it was.
  @inline(__always)
  func checkBuilding(
    _ view: RecordView, id: UInt64, of entity: StoredEntity
  ) throws(StoreError) {
    if !entity.building.isEmpty { try checkBuilt(view, id: id, of: entity) }
  }

  private func checkBuilt(
    _ view: RecordView, id: UInt64, of entity: StoredEntity
  ) throws(StoreError) {
    for index in entity.building where index.isUnique {
      guard try id < nextToIndex(index, of: entity) else { continue }
      try encodeKey(of: view, id: id, in: index, of: entity)
      guard let holder = try holder(of: key.bytes, in: index), holder != id else { continue }
      throw .uniqueViolation(
        entity: entity.name, index: index.name, holder: holder, detail: KeyText.text(key.bytes))
    }
  }

  /// The id of the first record that an index which is being built has no entry of.
  func nextToIndex(_ index: StoredIndex, of entity: StoredEntity) throws(StoreError) -> UInt64 {
    let key = CounterKey.building(entity: entity.number, index: index.description.number)
    do {
      guard let stored = try transaction.get(key, in: store.trees.counters) else { return 1 }
      guard stored.count == 8 else {
        throw StoreError.damagedIndex(index.name, "how far it is built is not 8 bytes")
      }
      let next = stored._uint64(at: 0)
      guard CounterKey.builtRange.contains(next) else {
        throw StoreError.damagedIndex(
          index.name, "it is built up to record \(next), must be from 1 to 2^63")
      }
      return next
    } catch {
      throw StoreError(wrapping: error)
    }
  }
}
