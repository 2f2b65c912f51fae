internal import LMDB
internal import LodestoreFormat

/// How many records are removed before their index entries.
private let removalsPerRound = 1 << 18

extension TransactionCore {
  /// Removes the records with `ids`, which ascend, and nothing else, and calls `body` with each before it
  /// is removed; returns how many there were.
  ///
  /// Records are removed in the order of their ids, then the entries of each index in key order, so that
  /// each page is visited once.
  ///
  /// After an error some are removed and some are not: the transaction can only be aborted.
  func remove(
    _ ids: [UInt64], of entity: StoredEntity,
    _ body: ((UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Void)? = nil
  ) throws(StoreError) -> Int {
    guard !ids.isEmpty else { return 0 }
    try raiseCounter(of: entity)
    let changes = changes(of: entity)
    let batch = ChangeBatch(
      changes, expectedRemovals: min(ids.count, removalsPerRound), core: self)
    var count = 0
    try breakingOnError {
      try forEachStored(ids, of: entity) { id, cursor in
        try body?(id, cursor.value)
        try batch.remove(try changes.stored(cursor.value, id: id), id: id, at: cursor)
        count &+= 1
        if count & 1_023 == 0 { batchReport?.tell(count, of: ids.count, entity) }
        if count % removalsPerRound == 0 { try batch.finishRemovals() }
      }
      try batch.finishRemovals()
    }
    return count
  }

  /// Makes attribute `number`, which is optional and of fixed width, null in the records with `ids`,
  /// which ascend; returns how many had a value.
  ///
  /// After an error the transaction can only be aborted.
  ///
  /// - Parameter rehearsal: collects the changes, and none is made; `nil` to make them.
  func nullify(
    _ number: UInt32, in ids: [UInt64], of entity: StoredEntity,
    rehearsal: ChangeRehearsal? = nil
  ) throws(StoreError) -> Int {
    guard !ids.isEmpty, let position = entity.layout.slotIndex(ofAttribute: number) else {
      return 0
    }
    let slot = entity.layout.slots[position]
    let changes = changes(of: entity)
    let concerned = entity.derivations?.dependents(of: [number]).union([number]) ?? [number]
    let indexes = entity.indexes.filter { !concerned.isDisjoint(with: $0.description.attributes) }
    let batch = ChangeBatch(
      changes, concerned: indexes, memoryLimit: store.options.batchMemoryInBytes, core: self)
    var count = 0
    func change() throws {
      try forEachStored(ids, of: entity) { id, cursor in
        let old = try changes.stored(cursor.value, id: id, isCarriedOver: true)
        guard try entity.recordID(ofAttribute: number, in: old) != nil else { return }
        var record =
          old.layout === entity.layout
          ? Array(cursor.value) : try carriedOver(old, id: id, of: entity)
        try record.withUnsafeMutableBytes { bytes in
          try slot.write(.null, in: bytes)
        }
        if try batch.change(old, id: id, to: record, at: cursor, rehearsal: rehearsal) {
          count &+= 1
        }
      }
      if rehearsal == nil { try batch.finish(checksUnique: true) }
    }
    if rehearsal == nil { try breakingOnError(change) } else { try wrappingErrors(change) }
    return count
  }
}
