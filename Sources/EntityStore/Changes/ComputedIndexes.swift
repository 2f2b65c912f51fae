internal import LMDB
internal import LodestoreFormat

/// Maintains the indexes on elements of documents, on words of texts, on places and on vectors.
final class ComputedIndexes: ChangeSink, PendingEntries {
  let name = "computed indexes"
  let writesOnRecord = true
  private var byEntity: [EntityNumber: [any ComputedEntries]] = [:]

  /// Returns `nil` when the schema has no such indexes.
  init?(_ schema: StoredSchema, core: WriteCore) throws(StoreError) {
    guard schema.hasComputedIndexes else { return nil }
    for entity in schema.entities where !entity.computedIndexes.isEmpty {
      byEntity[entity.number] = try entity.computedIndexes.map { index throws(StoreError) in
        let entries = core.entries(of: index, entity)
        guard index.isBuilding else { return entries }
        let next = try core.nextToIndex(index.counter(of: entity), index.entries.name)
        return BegunEntries(entries: entries, next: next)
      }
    }
  }

  func interest(in entity: StoredEntity) -> ChangeInterest? {
    byEntity[entity.number] == nil ? nil : [.oldRecord, .newRecord]
  }

  func isConcerned(byUpdateOf attributes: Set<UInt32>, of entity: StoredEntity) -> Bool {
    byEntity[entity.number]?.contains { !attributes.isDisjoint(with: $0.index.attributes) } ?? false
  }

  /// Writes the collected entries: before the commit, and before entries are read in the write.
  func write() throws(StoreError) {
    for entries in byEntity.values { for one in entries { try one.write() } }
  }

  func flush(_: WriteCore) throws(StoreError) { try write() }

  func record(_ change: RecordChange, of entity: StoredEntity) throws(StoreError) {
    guard let (id, old, new) = change.both else { return }
    for entries in byEntity[entity.number] ?? [] { try entries.change(id, old, new) }
  }
}

/// Collects changes of the entries of a computed index under construction.
///
/// Only the records before a certain id have entries.
private struct BegunEntries: ComputedEntries {
  let entries: any ComputedEntries
  /// The id of the first record without entries.
  let next: UInt64
  var index: StoredComputedIndex { entries.index }

  func change(_ id: UInt64, _ old: RecordView?, _ new: RecordView?) throws(StoreError) {
    if id < next { try entries.change(id, old, new) }
  }

  func write() throws(StoreError) { try entries.write() }
}

extension TreeWriteCore {
  func entries(
    of index: StoredComputedIndex, _ entity: StoredEntity
  ) -> any ComputedEntries {
    switch index.description.kind {
    case .elements, .place: KeyedEntries(index, of: entity, core: self)
    case .search: SearchEntries(index, of: entity, core: self)
    case .vector: VectorEntries(index, of: entity, core: self)
    }
  }

  /// Fills a new, empty computed index from the records.
  func build(
    _ index: StoredComputedIndex, of entity: StoredEntity, _ work: OpeningWork?
  ) throws(StoreError) {
    let entries = entries(of: index, entity)
    if let sample = try vectorSample(for: index, of: entity) {
      try entries.begin(with: sample.lists {})
    }
    try forEachRecord(of: entity) { (id, view) throws(StoreError) in
      try entries.change(id, nil, view)
      try work?.step()
    }
    try entries.write()
  }
}
