internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension TransactionCore {
  /// Visits the entries of `index` in order within `range`, until `body` returns false.
  ///
  /// Entries of expired records are left out.
  ///
  /// Cut keys (Format.md, "Cut keys") are not in order among themselves. A run of keys that share
  /// 463 bytes, with at least one of them cut, is first sorted by the records' values. Its entries
  /// are passed with an empty key.
  ///
  /// - Parameter keys: the part of `range` to visit, as keys with record ids.
  func walk(
    _ index: StoredIndex, of entity: StoredEntity, _ range: IndexRange, keys: KeyRange? = nil,
    isReversed: Bool, _ body: (UInt64, ByteView) throws -> Bool
  ) throws {
    let cursor = try Cursor(index.tree, in: transaction)
    let expired = try expired(of: entity)
    var run = CutRun(range: range, isReversed: isReversed)
    var isStopped = false
    try cursor.walk(keys ?? range.keys, backwards: isReversed) { key, value in
      let id = try index.recordID(ofEntry: key, value)
      if run.isOpen, !run.continues(key) {
        isStopped = try !flush(&run, index, entity, body)
        if isStopped { return false }
      }
      if let expired, expired.contains(id) { return true }
      if run.isNeeded(for: key, in: index) {
        run.append(key: key, id: id)
        return true
      }
      isStopped = try !body(id, key)
      return !isStopped
    }
    if !isStopped, run.isOpen { _ = try flush(&run, index, entity, body) }
  }

  /// Visits the ids of a run of cut keys in the order of the records' values; returns false if
  /// `body` did.
  private func flush(
    _ run: inout CutRun, _ index: StoredIndex, _ entity: StoredEntity,
    _ body: (UInt64, ByteView) throws -> Bool
  ) throws -> Bool {
    var ordered: [(tuple: [UInt8], id: UInt64)] = []
    for id in run.ids {
      let whole = try wholeTuple(of: id, index: index, entity: entity)
      if whole._withBytes({ run.range.admits($0) }) { ordered.append((whole, id)) }
    }
    ordered.sort { a, b in
      a.tuple == b.tuple ? a.id < b.id : a.tuple.lexicographicallyPrecedes(b.tuple)
    }
    if run.isReversed { ordered.reverse() }
    run.removeAll()
    for entry in ordered {
      guard try body(entry.id, ByteView()) else { return false }
    }
    return true
  }

  /// Returns the complete tuple of the record `id` in `index`, not cut.
  private func wholeTuple(
    of id: UInt64, index: StoredIndex, entity: StoredEntity
  ) throws(StoreError) -> [UInt8] {
    guard let bytes = try record(id, of: entity) else {
      throw .damagedIndex(index.name, "it leads to \(entity.name) \(id), which is not there")
    }
    do {
      try IndexTuple.encode(
        index.description, of: try entity.view(bytes, id: id), in: entity.description, into: &key,
        isCut: false)
      return Array(key.bytes)
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
  }
}

/// A run of entries that share their first 463 bytes, at least one of which may be cut.
struct CutRun {
  let range: IndexRange
  let isReversed: Bool
  private(set) var ids: [UInt64] = []
  private var prefix: [UInt8] = []

  init(range: IndexRange, isReversed: Bool) {
    self.range = range
    self.isReversed = isReversed
  }

  var isOpen: Bool { !ids.isEmpty }

  func continues(_ key: ByteView) -> Bool {
    key.count >= prefix.count && key.prefix(prefix.count).elementsEqual(prefix)
  }

  /// Returns whether the key may be cut.
  ///
  /// Keys this long are rare, so all of them are checked against their records.
  func isNeeded(for key: ByteView, in index: StoredIndex) -> Bool {
    key.count - (index.isUnique ? 0 : 8) >= KeyEncoder.cutPrefix
  }

  mutating func append(key: ByteView, id: UInt64) {
    if ids.isEmpty { prefix = Array(key.prefix(KeyEncoder.cutPrefix)) }
    ids.append(id)
  }

  mutating func removeAll() {
    ids.removeAll(keepingCapacity: true)
    prefix = []
  }
}
