internal import LMDB
package import LodestoreFormat

/// A bound of a walk: values for all attributes of the index, or for the first few.
package enum IndexWalkBound: Sendable {
  case none
  case included([Value])
  case excluded([Value])
}

extension TransactionCore {
  /// The lowest id with `values` in `index`.
  func firstRecord(
    with values: [Value], in index: StoredIndex, of entity: StoredEntity
  ) throws(StoreError) -> UInt64? {
    if index.isUnique, !values.contains(.null) {
      let tuple = try tuple(values, index: index)
      return try tuple.withBytes { (bytes) throws(StoreError) in
        try holder(of: bytes, in: index)
      }
    }
    var found: UInt64?
    try walk(
      index, of: entity, lower: .included(values), upper: .included(values), isReversed: false
    ) { (id) throws(StoreError) in
      found = id
      return false
    }
    return found
  }

  /// The ids that `tuples` lead to, in one pass in key order.
  package func holders(
    of tuples: [[Value]], in index: StoredIndex, of entity: StoredEntity
  ) throws(StoreError) -> [UInt64?] {
    var found = [UInt64?](repeating: nil, count: tuples.count)
    guard index.isUnique else {
      for (place, tuple) in tuples.enumerated() {
        found[place] = try firstRecord(with: tuple, in: index, of: entity)
      }
      return found
    }
    let box = EntryArenaBox(expectedCount: tuples.count)
    for (place, values) in tuples.enumerated() {
      guard let key = try uniqueKey(values, of: index) else {
        found[place] = try firstRecord(with: values, in: index, of: entity)
        continue
      }
      key.withUnsafeBytes { box.append(key: $0, recordID: UInt64(place)) }
    }
    box.sort()
    try box.eachHeld(in: index, core: self) { (entry, holder) throws(StoreError) in
      found[Int(box.arena.recordID(box.arena.entries[entry]))] = holder
      return true
    }
    return found
  }

  /// Visits the record ids of `index` in order, within the bounds, until `body` returns false.
  ///
  /// Cut keys (Format.md, "Cut keys") are not in order among themselves: a run of keys that share
  /// 463 bytes, of which one is cut, is put in order by the records' values first.
  package func walk(
    _ index: StoredIndex, of entity: StoredEntity, lower: IndexWalkBound, upper: IndexWalkBound,
    isReversed: Bool, _ body: (UInt64) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let bounds = try KeyBounds(lower: lower, upper: upper, index: index, core: self)
    do {
      let cursor = try Cursor(index.tree, in: transaction)
      var run = CutRun(bounds: bounds, isReversed: isReversed)
      var isStopped = false
      try cursor.walk(bounds.range, backwards: isReversed) { key, value in
        let id = try entryID(key, value, index)
        if run.isOpen, !run.continues(key) {
          isStopped = try !flush(&run, index, entity, body)
          if isStopped { return false }
        }
        if run.isNeeded(for: key, in: index) {
          run.append(key: key, id: id)
          return true
        }
        isStopped = try !body(id)
        return !isStopped
      }
      if !isStopped, run.isOpen { _ = try flush(&run, index, entity, body) }
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  private func entryID(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ index: StoredIndex
  ) throws(StoreError) -> UInt64 {
    if index.isUnique {
      guard value.count == 8 else {
        throw .damagedIndex(index.name, "an entry's body has \(value.count) bytes, not 8")
      }
      return value.uint64(at: 0)
    }
    guard let id = KeyDecoder.recordIDSuffix(key) else {
      throw .damagedIndex(index.name, "an entry's key has \(key.count) bytes, too few for an id")
    }
    return id
  }

  /// Visits the ids of a run of cut keys in the order of the records' values.
  private func flush(
    _ run: inout CutRun, _ index: StoredIndex, _ entity: StoredEntity,
    _ body: (UInt64) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    var ordered: [(tuple: [UInt8], id: UInt64)] = []
    for id in run.ids {
      let whole = try wholeTuple(of: id, index: index, entity: entity)
      if run.bounds.admits(whole) { ordered.append((whole, id)) }
    }
    ordered.sort { a, b in
      a.tuple == b.tuple ? a.id < b.id : a.tuple.lexicographicallyPrecedes(b.tuple)
    }
    if run.isReversed { ordered.reverse() }
    run.removeAll()
    for entry in ordered {
      guard try body(entry.id) else { return false }
    }
    return true
  }

  /// The tuple of record `id` in `index`, not cut.
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

/// The bounds of a walk as keys, and as whole tuples for records whose keys are cut.
struct KeyBounds {
  var range: KeyRange
  private var lower: (tuple: [UInt8], isIncluded: Bool)?
  private var upper: (tuple: [UInt8], isIncluded: Bool)?

  init(
    lower: IndexWalkBound, upper: IndexWalkBound, index: StoredIndex, core: TransactionCore
  ) throws(StoreError) {
    self.lower = try Self.tuple(lower, index, core)
    self.upper = try Self.tuple(upper, index, core)
    range = KeyRange()
    // Behind a whole tuple an entry's key goes on with a record id or another element, which
    // begin below 255; a longer text goes on with 255 (its escaped zero byte). A bound that is
    // itself too long for a key lets in everything that shares its beginning.
    if let bound = self.lower {
      if bound.tuple.count >= KeyEncoder.cutPrefix {
        range.lower = .included(Array(bound.tuple.prefix(KeyEncoder.cutPrefix)))
      } else {
        let key = bound.isIncluded ? bound.tuple : bound.tuple + [255]
        range.lower = key.isEmpty ? .unbounded : .included(key)
      }
    }
    if let bound = self.upper {
      // A cut key goes on with 255 right behind that many bytes.
      if bound.tuple.count >= KeyEncoder.cutPrefix {
        let prefix = Array(bound.tuple.prefix(KeyEncoder.cutPrefix))
        range.upper =
          KeyRange.successor(ofPrefix: prefix).map(KeyRange.Bound.excluded) ?? .unbounded
      } else {
        range.upper = .excluded(bound.isIncluded ? bound.tuple + [255] : bound.tuple)
      }
    }
  }

  private static func tuple(
    _ bound: IndexWalkBound, _ index: StoredIndex, _ core: TransactionCore
  ) throws(StoreError) -> ([UInt8], Bool)? {
    let values: [Value]
    let isIncluded: Bool
    switch bound {
    case .none: return nil
    case .included(let list): (values, isIncluded) = (list, true)
    case .excluded(let list): (values, isIncluded) = (list, false)
    }
    core.key.reset()
    do {
      for value in values { try core.key.append(value) }
    } catch {
      throw StoreError(.unstorableValue, "cannot look up in '\(index.name)': \(error.reason)")
    }
    return (Array(core.key.bytes), isIncluded)
  }

  /// Whether a whole tuple lies within the bounds.
  func admits(_ tuple: [UInt8]) -> Bool {
    if let lower {
      let begins = Self.begins(tuple, with: lower.tuple)
      if begins ? !lower.isIncluded : tuple.lexicographicallyPrecedes(lower.tuple) { return false }
    }
    if let upper {
      let begins = Self.begins(tuple, with: upper.tuple)
      if begins ? !upper.isIncluded : upper.tuple.lexicographicallyPrecedes(tuple) { return false }
    }
    return true
  }

  /// Whether the first elements of `tuple` are those of `bound`.
  private static func begins(_ tuple: [UInt8], with bound: [UInt8]) -> Bool {
    tuple.starts(with: bound) && (tuple.count == bound.count || tuple[bound.count] != 255)
  }
}

/// Entries that share their first 463 bytes, at least one of which may be cut.
struct CutRun {
  let bounds: KeyBounds
  let isReversed: Bool
  private(set) var ids: [UInt64] = []
  private var prefix: [UInt8] = []

  init(bounds: KeyBounds, isReversed: Bool) {
    self.bounds = bounds
    self.isReversed = isReversed
  }

  var isOpen: Bool { !ids.isEmpty }

  func continues(_ key: UnsafeRawBufferPointer) -> Bool {
    key.count >= prefix.count && key.prefix(prefix.count).elementsEqual(prefix)
  }

  /// Keys this long are rare, so all of them are checked against their records.
  func isNeeded(for key: UnsafeRawBufferPointer, in index: StoredIndex) -> Bool {
    key.count - (index.isUnique ? 0 : 8) >= KeyEncoder.cutPrefix
  }

  mutating func append(key: UnsafeRawBufferPointer, id: UInt64) {
    if ids.isEmpty { prefix = Array(key.prefix(KeyEncoder.cutPrefix)) }
    ids.append(id)
  }

  mutating func removeAll() {
    ids.removeAll(keepingCapacity: true)
    prefix = []
  }
}
