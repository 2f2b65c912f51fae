internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// A bound of a walk, with values for all attributes of the index or for the first few.
enum IndexWalkBound: Sendable {
  case none
  case included([Value])
  case excluded([Value])
}

extension TransactionCore {
  /// Returns the id of the first record with the values of `key`, or `nil` if none exists.
  func firstRecord<E: Entity>(with key: EntityKey<E>) throws(StoreError) -> UInt64? {
    let (entity, index) = try resolve(E.self, with: key.tuple)
    return try firstRecord(in: index, of: entity, key.tuple)
  }

  /// Returns the lowest id with `tuple` in `index`, or `nil` if none exists.
  func firstRecord(
    in index: StoredIndex, of entity: StoredEntity, _ tuple: KeyTuple
  ) throws(StoreError) -> UInt64? {
    if let failure = tuple.failure { throw failure }
    // A key with a null may have several records, even in a unique index.
    if index.isUnique, !tuple.hasNull {
      let found: UInt64?
      if tuple.byteCount > KeyEncoder.longestTuple {
        key.reset()
        try tuple.withBytes { key.append(raw: $0) }
        key.finishTuple()
        found = try holder(of: key.bytes, in: index)
      } else {
        found = try tuple.withBytes { (bytes) throws(StoreError) in
          try holder(of: bytes, in: index)
        }
      }
      if let found, let expired = try expired(of: entity), expired.contains(found) { return nil }
      return found
    }
    let bytes = try tuple.withBytes { Array($0) }
    let range = IndexRange(lower: bytes, upper: bytes + [255])
    var found: UInt64?
    try wrappingErrors {
      try walk(index, of: entity, range, isReversed: false) { id, _ in
        found = id
        return false
      }
    }
    return found
  }

  /// Visits the record ids of `index` in order within the bounds, until `body` returns false.
  func walk(
    _ index: StoredIndex, of entity: StoredEntity, lower: IndexWalkBound, upper: IndexWalkBound,
    isReversed: Bool, _ body: (UInt64) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let range = IndexRange(
      lower: try bound(lower, of: index, isLower: true) ?? [],
      upper: try bound(upper, of: index, isLower: false))
    try wrappingErrors {
      try walk(index, of: entity, range, isReversed: isReversed) { id, _ in try body(id) }
    }
  }

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

  private func bound(
    _ bound: IndexWalkBound, of index: StoredIndex, isLower: Bool
  ) throws(StoreError) -> [UInt8]? {
    let values: [Value]
    let isIncluded: Bool
    switch bound {
    case .none: return nil
    case .included(let list): (values, isIncluded) = (list, true)
    case .excluded(let list): (values, isIncluded) = (list, false)
    }
    key.reset()
    do {
      for value in values { try key.append(value) }
    } catch {
      throw StoreError(.unstorableValue, "cannot look up in '\(index.name)': \(error.reason)")
    }
    let tuple = Array(key.bytes)
    if tuple.isEmpty { return isLower ? [] : nil }
    return isIncluded == isLower ? tuple : tuple + [255]
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
