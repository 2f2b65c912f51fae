internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Updates the results of a query.
///
/// When each record alone determines whether it is a result, and few records have changed, the new
/// results are computed from the old ones. Each changed record is removed from its old position and
/// inserted at its new one; bisection finds both by the record's values. Otherwise the query runs
/// again, and the old and new results are compared.
///
/// The mutable state belongs to the task of the loop, or is protected by the lock while that task
/// waits.
final class ResultObserver<E: Entity, Key: Sendable>: Observer, FollowedObserver,
  @unchecked Sendable
{
  /// Reads the key of the section that a record belongs to.
  typealias ReadKey =
    @Sendable (RecordView, StoredEntity, UInt64, TransactionCore) throws(StoreError) -> Key

  /// The previous and current results with their difference, which is `nil` for the first results.
  struct Update: Sendable {
    let old: ResultState<E, Key>
    let state: ResultState<E, Key>
    let difference: ResultDifference?
    let commit: CommitNumber
  }

  private let query: Query<E>
  private let decode: @Sendable (inout RecordReader) throws -> E
  private let readKey: ReadKey?
  /// The query bound to the current schema; set before the observer is registered, and later only
  /// by the task that updates the results.
  private var bound: ObservedQuery
  private(set) var state: ResultState<E, Key>
  /// The results that the loop delivered last, possibly from a previous store; `nil` before the
  /// first.
  private var delivered: ResultState<E, Key>?
  /// The entity of the previous store, while ``state`` still comes from that store.
  private var entityBefore: StoredEntity?
  private var commit = CommitNumber(0)
  /// The difference that was computed while the task waited; see ``Observer/Signal/updated``.
  private(set) var difference = ResultDifference()

  /// The maximum number of changed records that are inserted individually.
  private static var largestCount: Int { 256 }

  /// - Parameter last: the observer of the previous store, whose results have been delivered.
  init(
    _ query: Query<E>, _ decode: @escaping @Sendable (inout RecordReader) throws -> E,
    _ readKey: ReadKey?, _ core: TransactionCore, after last: ResultObserver? = nil
  ) throws(StoreError) {
    self.query = query
    self.decode = decode
    self.readKey = readKey
    bound = try ObservedQuery(query, core)
    state = last?.state ?? ResultState()
    delivered = last?.delivered
    entityBefore = last?.bound.entity
  }

  override var dependencies: ObservedRegion { bound.region }

  override func isConcerned(by changes: ObservationRound) -> Bool { bound.isConcerned(by: changes) }

  // MARK: Running the query

  /// Runs the query, and computes the difference from the previous results.
  func fetch(_ core: TransactionCore) throws {
    let fresh = try results(core)
    if delivered != nil {
      let isOtherForm = entityBefore.map { !$0.hasLayouts(of: bound.entity) } ?? false
      difference = fresh.difference(from: state, treatsAllAsChanged: isOtherForm)
    }
    state = fresh
    start(as: core)
  }

  /// Takes over the results of the previous store, and applies the changes from that store to this
  /// one.
  func follow(_ last: ResultObserver, of older: StoreCore, _ core: TransactionCore) throws -> Bool {
    guard !bound.dependsOnTime else { return false }
    // Listing the changed records takes a pass over all records, which costs more than running a
    // query with few results.
    let canPlace = bound.isOfRecordsAlone && bound.isUnbounded
    let isWorthIt = try canPlace && state.rows.count >= core.count(of: bound.entity) / 4
    let delta = try StoreReplacement.delta(
      from: older, to: core, in: bound.region, listing: isWorthIt ? bound.entity : nil)
    guard let delta else { return false }
    guard delta.isEmpty || update(by: ObservationRound(delta, from: 0, core)) != nil else {
      return false
    }
    start(as: core)
    return true
  }

  private func start(as core: TransactionCore) {
    entityBefore = nil
    commit = core.commitNumber
    start(at: core)
  }

  var hasGrown: Bool { false }

  func takeUpdate() -> Update? {
    defer { delivered = state }
    guard let delivered else {
      return Update(old: state, state: state, difference: nil, commit: commit)
    }
    guard !difference.isEmpty else { return nil }
    return Update(old: delivered, state: state, difference: difference, commit: commit)
  }

  private func results(_ core: TransactionCore) throws -> ResultState<E, Key> {
    if bound.schemaNumber != core.schema.number {
      let bound = try ObservedQuery(query, core)
      lock.lock()
      self.bound = bound
      lock.unlock()
    }
    let run = try core.run(query)
    let keys = readKey.map { _ in run.makeSortKeyWriter() }
    var rows: [ResultRow<E>] = []
    var state = ResultState<E, Key>()
    state.hasSections = readKey != nil
    if let count = run.certainCount { rows.reserveCapacity(count) }
    try run.forEach { id, bytes in
      rows.append(try row(bytes, id, core))
      if let keys {
        try keys.write(bytes, id: id)
        try state.addLast(keys.key[..<keys.firstTermCount]) { try key(bytes, id, core) }
      }
      return true
    }
    state.rows = RowList(rows)
    return state
  }

  private func row(
    _ bytes: ByteView, _ id: UInt64, _ core: TransactionCore
  ) throws -> ResultRow<E> {
    ResultRow(
      value: try core.withReader(bytes, id: id, of: bound.entity, decode), stamp: Self.stamp(bytes))
  }

  private static func stamp(_ bytes: ByteView) -> UInt32 {
    bytes.count < 4 ? 0 : bytes.loadUnaligned(fromByteOffset: bytes.count - 4, as: UInt32.self)
  }

  private func key(_ bytes: ByteView, _ id: UInt64, _ core: TransactionCore) throws -> Key {
    let entity = bound.entity
    guard let readKey else { throw StoreError.badQuery("the results have no sections") }
    return try core.withCurrentLayout(bytes, id: id, of: entity) { (view) throws(StoreError) in
      try readKey(view, entity, id, core)
    }
  }

  // MARK: Putting changes in place

  override func update(by changes: ObservationRound) -> Bool? {
    guard bound.isOfRecordsAlone, bound.isUnbounded,
      bound.schemaNumber == changes.core.schema.number,
      let delta = changes.delta.entity(bound.entity.number), !delta.isUnknown,
      delta.touched.count <= Self.largestCount,
      // The changes do not contain records that have expired since the last update. If there are
      // any, the query must run again.
      (try? changes.core.hasExpired(of: bound.entity)) == false,
      let isUpdate = try? apply(delta, changes)
    else { return nil }
    if isUpdate { commit = changes.core.commitNumber }
    return isUpdate
  }

  /// A changed record that is a result now.
  private struct Placed {
    let key: [UInt8]
    let firstTermCount: Int
    let row: ResultRow<E>
    /// The old index, if the record was a result.
    let from: Int?
    /// The number of unchanged rows before the record's new position.
    var gap = 0
  }

  private struct CannotPlace: Error {}

  private func apply(_ delta: EntityDelta, _ changes: ObservationRound) throws -> Bool {
    let core = changes.core
    let keys = SortKeyWriter(
      bound.order, evaluator: ConditionEvaluator(.constant(true), entity: bound.entity, core: core))
    var removed: [Int] = []
    var placed: [Placed] = []
    for id in delta.touched {
      var from: Int?
      if !delta.inserted.contains(id) {
        guard let old = delta.olds[id] else { throw CannotPlace() }
        from = try old._withBytes { (bytes) throws in
          guard try bound.admits(bytes, id, core) else { return nil }
          return try index(of: id, bytes, delta, changes, keys)
        }
      }
      let bytes = try changes.record(id, of: bound.entity)
      if let bytes, try bound.admits(bytes, id, core) {
        // The record was rewritten with equal values, so its row is unchanged.
        if let from, state.rows[from].stamp == Self.stamp(bytes) { continue }
        try keys.write(bytes, id: id)
        placed.append(
          Placed(
            key: keys.key, firstTermCount: keys.firstTermCount, row: try row(bytes, id, core),
            from: from))
      }
      if let from { removed.append(from) }
    }
    guard !removed.isEmpty || !placed.isEmpty else { return false }
    removed.sort()
    var fresh = state
    for index in removed.reversed() { fresh.rows.remove(at: index) }
    for index in placed.indices {
      let target = placed[index].key
      placed[index].gap = try fresh.rows.partition { row in
        guard let bytes = try changes.record(row.id, of: bound.entity) else { throw CannotPlace() }
        try keys.write(bytes, id: row.id)
        return Self.isLess(target, keys.key)
      }
    }
    placed.sort { Self.isLess($0.key, $1.key) }
    for (index, one) in placed.enumerated() { fresh.rows.insert(one.row, at: one.gap + index) }
    if readKey != nil { try place(placed, removed, &fresh, changes) }
    difference = difference(to: fresh, placed, removed)
    state = fresh
    return true
  }

  private static func isLess(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a._withBytes { a in b._withBytes { compareKeys(a, $0) < 0 } }
  }

  /// The index of a row in the old results, found by its old values.
  private func index(
    of id: UInt64, _ bytes: ByteView, _ delta: EntityDelta,
    _ changes: ObservationRound, _ keys: SortKeyWriter
  ) throws -> Int {
    try keys.write(bytes, id: id)
    let target = keys.key
    let index = try state.rows.partition { row in
      if let old = delta.olds[row.id] {
        try old._withBytes { try keys.write($0, id: row.id) }
      } else if let bytes = try changes.record(row.id, of: bound.entity) {
        try keys.write(bytes, id: row.id)
      } else {
        throw CannotPlace()
      }
      return !Self.isLess(keys.key, target)
    }
    guard index < state.rows.count, state.rows[index].id == id else { throw CannotPlace() }
    return index
  }

  /// Updates the sections.
  private func place(
    _ placed: [Placed], _ removed: [Int], _ fresh: inout ResultState<E, Key>,
    _ changes: ObservationRound
  ) throws {
    let starts = state.starts
    for index in removed {
      fresh.sections[ResultState<E, Key>.position(index, starts).section].count -= 1
    }
    for one in placed {
      try fresh.add(one.key[..<one.firstTermCount]) {
        guard let bytes = try changes.record(one.row.id, of: bound.entity) else {
          throw CannotPlace()
        }
        return try key(bytes, one.row.id, changes.core)
      }
    }
    fresh.sections.removeAll { $0.count == 0 }
  }

  private func difference(
    to fresh: ResultState<E, Key>, _ placed: [Placed], _ removed: [Int]
  ) -> ResultDifference {
    let kept = Set(placed.compactMap(\.from))
    let deleted = removed.filter { !kept.contains($0) }
    var inserted: [Int] = []
    var changed: [(from: Int, to: Int, isMoved: Bool)] = []
    var start = 0
    while start < placed.count {
      // The rows from `start` to `end` lie between the same two unchanged rows.
      var end = start + 1
      while end < placed.count, placed[end].gap == placed[start].gap { end += 1 }
      let fitting = (start..<end).filter { index in
        guard let from = placed[index].from else { return false }
        return from - removed.partitioningIndex { $0 >= from } == placed[index].gap
      }
      let staying = Set(
        RowMoves.longestAscending(fitting) { placed[$0].from ?? 0 })
      for index in start..<end {
        let to = placed[index].gap + index
        if let from = placed[index].from {
          changed.append((from, to, !staying.contains(index)))
        } else {
          inserted.append(to)
        }
      }
      start = end
    }
    return fresh.difference(from: state, deleted: deleted, inserted: inserted, kept: changed)
  }
}

extension ResultState {
  /// Counts a row that comes after all others.
  mutating func addLast(_ order: ArraySlice<UInt8>, _ key: () throws -> Key) rethrows {
    if let last = sections.indices.last, sections[last].order[...] == order {
      sections[last].count += 1
    } else {
      sections.append(RowSection(order: Array(order), key: try key(), count: 1))
    }
  }

  /// Counts a row in its section, which is created if needed.
  mutating func add(_ order: ArraySlice<UInt8>, _ key: () throws -> Key) rethrows {
    let order = Array(order)
    let index = order._withBytes { mine in
      sections.partitioningIndex { $0.order._withBytes { compareKeys($0, mine) >= 0 } }
    }
    if index < sections.count, sections[index].order == order {
      sections[index].count += 1
    } else {
      sections.insert(RowSection(order: order, key: try key(), count: 1), at: index)
    }
  }
}
