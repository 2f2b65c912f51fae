internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Checks a batch of changes of one entity before the first change is made.
///
/// A batch writes one record after another, but the index entries only at its end. A broken rule or
/// a used key would therefore be found after much has been written. Calls with few records are
/// rehearsed if a change can be refused at all, so that a refusal has nothing to undo. After a
/// refusal of a larger batch, the write runs again; see ``TreeWriteCore/asOneCall(_:_:)``.
final class ChangeRehearsal {
  /// The maximum number of records of a rehearsed call.
  static let largestCount = 1 << 14

  private let changes: EntityChanges
  private let core: WriteCore
  /// The unique indexes whose keys may change.
  private let keys: BatchKeys
  /// For each of these indexes, the id of the first record without an entry; relevant for indexes
  /// under construction.
  private let ends: [UInt64]
  private var broken = BrokenRules()
  /// For each unique index, the new keys that the noted changes give to records.
  private var added: [[(key: [UInt8], id: UInt64)]]
  /// For each unique index, the ids of records that lose their old key, which other records may
  /// then take.
  private var leaving: [Set<UInt64>]

  /// - Parameter concerned: the indexes whose keys may change, without those under construction.
  init(_ changes: EntityChanges, concerned: [StoredIndex], core: WriteCore) throws(StoreError) {
    self.changes = changes
    self.core = core
    let building = try changes.building().filter(\.index.isUnique)
    let whole = concerned.filter(\.isUnique)
    let unique = whole + building.map(\.index)
    ends = whole.map { _ in .max } + building.map(\.next)
    keys = BatchKeys(of: changes.entity, in: unique)
    added = unique.map { _ in [] }
    leaving = unique.map { _ in [] }
  }

  /// Returns whether changes of values can be refused at all.
  static func isNeeded(_ changes: EntityChanges, concerned: [StoredIndex]) -> Bool {
    changes.hasConstraints || (concerned + changes.entity.building).contains(where: \.isUnique)
  }

  /// Notes that the record `old` is to get the values of `record`; returns false if `old` already
  /// has them.
  func note(_ old: StoredRecord, to record: DerivedRecord) throws(StoreError) -> Bool {
    if try changes.isSame(old, as: record) { return false }
    try note(old, try changes.entity.view(record.record))
    return true
  }

  /// Adds the change from record `old` to `new`.
  func note(_ old: StoredRecord, _ new: RecordView) throws(StoreError) {
    let id = old.id
    if changes.hasConstraints {
      try broken.collect { () throws(StoreError) in try changes.check(new, id: id) }
    }
    for position in 0..<keys.count
    where id < ends[position] && !keys.areSurelySame(position, old.view, new) {
      try keys.encode(position, of: old.view, id: id, core)
      let before = Array(core.key.bytes)
      let hasNull = try keys.encode(position, of: new, id: id, core)
      if core.key.bytes.elementsEqual(before) { continue }
      leaving[position].insert(id)
      if !hasNull { added[position].append((Array(core.key.bytes), id)) }
    }
  }

  /// Throws the error by which the added changes would be refused.
  func check() throws(StoreError) {
    try broken.check()
    let entity = changes.entity.name
    for (position, index) in keys.indexes.enumerated() {
      let sorted = added[position].sorted { $0.key.lexicographicallyPrecedes($1.key) }
      for (number, (key, id)) in sorted.enumerated() {
        // Equal keys of one record do not violate uniqueness: the record may have been added to the
        // rehearsal twice.
        if number > 0, sorted[number - 1].key == key, sorted[number - 1].id != id {
          throw .repeatedInBatch(
            entity: entity, index: index.name, (sorted[number - 1].id, id), firstNew: nil,
            detail: key._withBytes(KeyText.text))
        }
        let holder = try key._withBytes { (key) throws(StoreError) in
          try core.holder(of: key, in: index)
        }
        if let holder, !leaving[position].contains(holder) {
          throw .uniqueViolation(
            entity: entity, index: index.name, holder: holder,
            detail: key._withBytes(KeyText.text), of: id)
        }
      }
    }
  }
}
