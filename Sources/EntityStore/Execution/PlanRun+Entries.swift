internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension PlanRun {
  /// Visits the entries of one range of `access` that pass its filter, in order, until `body`
  /// returns false.
  ///
  /// - Parameter keys: the part of `range` to visit, as keys with record ids.
  @inline(__always)
  func forEachEntry(
    of access: IndexAccess, _ range: IndexRange, keys: KeyRange? = nil, isReversed: Bool,
    _ body: (UInt64, ByteView) throws -> Bool
  ) throws {
    guard let filter = access.filter else {
      return try forEachEntry(of: access.index, range, keys: keys, isReversed: isReversed, body)
    }
    try forEachEntry(of: access.index, range, keys: keys, isReversed: isReversed) { id, key in
      try passes(filter, id, key) ? body(id, key) : true
    }
  }

  /// Returns whether an entry passes `filter`, reading the record if the entry cannot decide.
  func passes(_ filter: EntryFilter, _ id: UInt64, _ key: ByteView) throws -> Bool {
    try tick()
    if let answer = filter.admits(key, id: id) { return answer }
    guard let bytes = try core.storedRecord(id, of: entity) else { throw missing(id) }
    counts.recordsRead &+= 1
    let name = ObjectIdentifier(filter)
    let evaluator =
      filterEvaluators[name]
      ?? ConditionEvaluator(filter.condition, entity: entity, core: core)
    filterEvaluators[name] = evaluator
    return try evaluator.admits(bytes, id: id)
  }

  /// Visits the entries of `index` within `range` in order, like ``TransactionCore/walk``, until
  /// `body` returns false.
  ///
  /// Up to the first key that may be cut, entries are read directly from pages in the map, without
  /// moving a cursor.
  ///
  /// - Parameter keys: the part of `range` to visit, as keys with record ids.
  @inline(__always)
  func forEachEntry(
    of index: StoredIndex, _ range: IndexRange, keys: KeyRange? = nil, isReversed: Bool,
    _ body: (UInt64, ByteView) throws -> Bool
  ) throws {
    var bounds = keys ?? range.keys
    let isUnique = index.isUnique
    let longest = KeyEncoder.cutPrefix + (isUnique ? 0 : 8)
    let isWatched = control != nil
    var cutKey: [UInt8]?
    let cursor = try Cursor(index.tree, in: core.transaction)
    try cursor.forEachEntry(in: bounds, backwards: isReversed) { (key, value) throws in
      guard key.count < longest else {
        cutKey = Array(key)
        return false
      }
      if isWatched { try tick() }
      counts.entriesRead &+= 1
      return try body(try recordID(key, value, index, isUnique: isUnique), key)
    }
    guard let cutKey else { return }
    if isReversed { bounds.upper = .included(cutKey) } else { bounds.lower = .included(cutKey) }
    _ = try forEachCutEntry(of: index, range, keys: bounds, isReversed: isReversed, body)
  }

  /// Visits entries whose keys may be cut; returns false if `body` did.
  @inline(never)
  func forEachCutEntry(
    of index: StoredIndex, _ range: IndexRange, keys: KeyRange? = nil, isReversed: Bool = false,
    _ body: (UInt64, ByteView) throws -> Bool
  ) throws -> Bool {
    var goesOn = true
    try core.walk(index, of: entity, range, keys: keys, isReversed: isReversed) { id, key in
      try tick()
      counts.entriesRead += 1
      goesOn = try body(id, key)
      return goesOn
    }
    return goesOn
  }

  /// Returns the record id of an entry.
  @inline(__always)
  func recordID(
    _ key: ByteView, _ value: ByteView, _ index: StoredIndex, isUnique: Bool
  ) throws -> UInt64 {
    if isUnique {
      guard value.count == 8 else { throw damagedEntry(of: index) }
      return value.uint64(at: 0)
    }
    guard key.count >= 8 else { throw damagedEntry(of: index) }
    return key.bigEndianUInt64(at: key.count &- 8)
  }

  @inline(never)
  private func damagedEntry(of index: StoredIndex) -> StoreError {
    .damagedIndex(index.name, "an entry has no record id")
  }
}
