internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The number of removed records whose index entries are collected before the entries are removed
/// from the indexes.
///
/// The limit bounds the memory for collected entries.
private let removalsPerRound = 1 << 18

extension WriteCore {
  /// Removes the records with `ids`, in ascending order, without applying the delete rules of
  /// relationships.
  ///
  /// `body` is called with each record before it is removed. Returns the number of removed records.
  ///
  /// Records are removed in the order of their ids, then the entries of each index in key order, so
  /// that each page is visited once.
  ///
  /// After an error, only some of the records are removed, and the transaction can only be aborted.
  func erase(
    _ ids: [UInt64], of entity: StoredEntity,
    _ body: ((UInt64, ByteView) throws(StoreError) -> Void)? = nil
  ) throws(StoreError) -> Int {
    guard !ids.isEmpty else { return 0 }
    let changes = changes(of: entity)
    var count = 0
    try changes.withChangeBatch(expectedRemovals: min(ids.count, removalsPerRound)) { batch in
      try forEachChangeable(ids, of: entity) { id, cursor in
        try body?(id, cursor.reads.value)
        try batch.remove(try changes.stored(cursor.reads.value, id: id), at: cursor)
        count &+= 1
        if count & 1_023 == 0 { batchReport?.report(count, of: ids.count, entity) }
        if count % removalsPerRound == 0 { try batch.writeRemovals() }
      }
    }
    return count
  }

  /// Sets optional attributes that hold ids to null in records of `entity`.
  ///
  /// Each record is changed once, so that a rule on several of its attributes sees all changes.
  /// Returns the number of records that had a value in one of the attributes.
  ///
  /// After an error the transaction can only be aborted.
  ///
  /// - Parameters:
  ///   - links: the attributes, each with the ids of its records in ascending order.
  ///   - rehearsal: collects the changes without making them; `nil` to make them.
  func nullify(
    _ links: [NulledLinks], of entity: StoredEntity, rehearsal: ChangeRehearsal? = nil
  ) throws(StoreError) -> Int {
    let ids = links.allIDs
    guard !ids.isEmpty else { return 0 }
    let changes = changes(of: entity)
    let nulled = SetAttributes(Set(links.map(\.attribute)), of: entity)
    var count = 0
    func forEach(_ body: (StoredRecord, DerivedRecord, WritingCursor) throws -> Bool) throws {
      var walk = NulledWalk(links, layout: entity.layout)
      try forEachChangeable(ids, of: entity) { id, cursor in
        let old = try changes.stored(cursor.reads.value, id: id, isCarriedOver: true)
        let slots = try walk.slots(of: id) {
          try entity.recordID(ofAttribute: $0, in: old.view) != nil
        }
        if slots.isEmpty { return }
        let record = try changes.copy(of: old)
        for slot in slots { try slot.write(.null, in: record.bytes) }
        let derived = try changes.derived(record, over: old, setting: nulled)
        if try body(old, derived, cursor) { count &+= 1 }
      }
    }
    if let rehearsal {
      try wrappingErrors { try forEach { old, record, _ in try rehearsal.note(old, to: record) } }
    } else {
      try changes.withUpdateBatch(
        setting: nulled, memoryLimit: store.options.batchMemoryInBytes
      ) { batch in
        try forEach { old, record, cursor in try batch.change(old, to: record, at: cursor) }
      }
    }
    return count
  }
}

/// The records in which one attribute becomes null.
struct NulledLinks {
  let attribute: UInt32
  /// The ids of the records, in ascending order.
  let ids: [UInt64]
}

extension [NulledLinks] {
  /// The ids of all records, in ascending order without duplicates.
  var allIDs: [UInt64] {
    if count == 1 { return self[0].ids }
    var ids = flatMap(\.ids)
    IDSort.sortUnique(&ids)
    return ids
  }
}

/// Finds the slots of a record that become null; records must be visited in the order of their ids.
private struct NulledWalk {
  private var parts: [(slot: RecordLayout.Slot, attribute: UInt32, ids: ArraySlice<UInt64>)] = []

  init(_ links: [NulledLinks], layout: RecordLayout) {
    for link in links {
      guard let position = layout.slotIndex(ofAttribute: link.attribute) else { continue }
      parts.append((layout.slots[position], link.attribute, link.ids[...]))
    }
  }

  /// Returns the slots to set to null in record `id`, without attributes that are null already.
  mutating func slots(
    of id: UInt64, _ hasValue: (UInt32) throws -> Bool
  ) rethrows -> [RecordLayout.Slot] {
    var found: [RecordLayout.Slot] = []
    for position in parts.indices {
      while let first = parts[position].ids.first, first < id {
        parts[position].ids.removeFirst()
      }
      guard parts[position].ids.first == id, try hasValue(parts[position].attribute) else {
        continue
      }
      found.append(parts[position].slot)
    }
    return found
  }
}
