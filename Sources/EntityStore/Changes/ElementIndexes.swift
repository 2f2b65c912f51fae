internal import LMDB
internal import LodestoreFormat

/// Maintains the indexes on elements of documents.
final class ElementIndexes: ChangeSink, PendingEntries {
  let name = "indexes over elements"
  let writesOnRecord = true
  private var byEntity: [EntityNumber: [ElementEntries]] = [:]

  /// Returns `nil` when the schema has no such indexes.
  init?(_ schema: StoredSchema, core: WriteCore) {
    guard schema.hasElementIndexes else { return nil }
    for entity in schema.entities where !entity.elementIndexes.isEmpty {
      byEntity[entity.number] = entity.elementIndexes.map {
        ElementEntries($0, of: entity, core: core)
      }
    }
  }

  func interest(in entity: StoredEntity) -> ChangeInterest? {
    byEntity[entity.number] == nil ? nil : [.oldRecord, .newRecord]
  }

  func isConcerned(byUpdateOf attributes: Set<UInt32>, of entity: StoredEntity) -> Bool {
    byEntity[entity.number]?.contains { attributes.contains($0.index.description.attribute) }
      ?? false
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
