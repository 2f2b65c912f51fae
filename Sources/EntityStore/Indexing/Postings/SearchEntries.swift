internal import LMDB
internal import LodestoreFormat

/// Collects the words of changed records of one search index, and writes them in the order of
/// terms.
final class SearchEntries: ComputedEntries {
  let index: StoredComputedIndex
  private let entity: StoredEntity
  private let core: TreeWriteCore
  private let memoryLimit: Int
  /// The words of the changes so far; `nil` as long as no text changed, since a batch takes memory.
  private var batch: PostingBatch?

  init(_ index: StoredComputedIndex, of entity: StoredEntity, core: TreeWriteCore) {
    self.index = index
    self.entity = entity
    self.core = core
    memoryLimit = core.store.options.batchMemoryInBytes / 4
  }

  func change(_ id: UInt64, _ old: RecordView?, _ new: RecordView?) throws(StoreError) {
    let old = old.map { SearchTexts(of: index.description, in: $0, entity.description) }
    let new = new.map { SearchTexts(of: index.description, in: $0, entity.description) }
    if let old, let new, old.areEqual(to: new) { return }
    if batch == nil { batch = PostingBatch() }
    do throws(FormatError) {
      if let old {
        try batch?.change(id, old, new)
      } else if let new {
        try batch?.insert(id, new)
      }
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
    if batch?.memory ?? 0 > memoryLimit { try write() }
  }

  func write() throws(StoreError) {
    guard let full = batch.take(), !full.isEmpty else { return }
    var writer: PostingWriter
    do throws(LMDBError) {
      writer = try PostingWriter(index, in: core.writing)
    } catch {
      throw StoreError(error)
    }
    try writer.write(full, memoryLimit: memoryLimit)
  }
}
