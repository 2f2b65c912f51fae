internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// A comparison of two commits in parts, with its current position.
///
/// The pass walks both trees of each kind of content side by side, in the order of their keys. A
/// value of this type contains a position and no cursor. Each part of the pass is therefore a
/// separate read, bounded in time and memory, and the pass can be cancelled between two parts.
struct DifferencePass: DifferenceSource {
  enum Step: Sendable {
    case records(EntityPair)
    case keys(KeyedPair)
    case links(RelationshipPair)
    case order(OrderPair)
    case buckets
  }

  /// The position at which a step continues.
  enum Place: Sendable {
    /// Continue at the first record with this id or a higher one.
    case id(UInt64)
    /// Continue at the first entry with this key or a later one.
    case key([UInt8])
  }

  private let sides: DifferenceSides
  let schema: [SchemaDifference]
  /// The names of parts that ``DifferenceMatching/uniqueKey`` does not compare.
  let uncompared: [String]
  private let steps: [Step]
  private var step = 0
  var place = Place.id(0)

  /// - Parameters:
  ///   - entities: the names of the entities to compare; `nil` for everything.
  ///   - onlyRecords: whether links, orders and buckets are left out.
  init(
    _ sides: DifferenceSides, _ matching: DifferenceMatching, entities: Set<String>?,
    onlyRecords: Bool = false
  ) throws {
    self.sides = sides
    (schema, steps, uncompared) = try sides.read { older, newer in
      if let entities { try Self.check(entities, older.schema, newer.schema) }
      var plan = try DifferencePlan(older, newer, matching, entities: entities)
      let schema = SchemaComparison(older.schema, newer.schema, entities: entities).differences
      var steps = try plan.recordSteps()
      if !onlyRecords { steps += try plan.otherSteps() }
      return (schema, steps, plan.uncompared)
    }
  }

  private static func check(
    _ entities: Set<String>, _ older: StoredSchema, _ newer: StoredSchema
  ) throws(StoreError) {
    for name in entities.sorted()
    where older.entity(named: name) == nil && newer.entity(named: name) == nil {
      let known = Set(older.entities.map(\.name)).union(newer.entities.map(\.name))
      throw .unknownEntity(name, known: Array(known))
    }
  }

  /// Continues the comparison until `budget` is spent or everything is compared; returns false at
  /// the end.
  mutating func advance(
    _ budget: inout DifferenceBudget, _ visit: (FoundDifference) throws -> Void
  ) throws -> Bool {
    guard step < steps.count else { return false }
    let sides = sides
    try sides.read { older, newer in
      while step < steps.count, !budget.isSpent {
        var run = DifferenceStep(older: older, newer: newer, place: place, budget: budget)
        let isDone = try run.run(steps[step], visit)
        budget = run.budget
        place = isDone ? .id(0) : run.place
        if isDone { step += 1 }
      }
    }
    return step < steps.count
  }
}

/// One read of a comparison, which runs steps from a position on until its budget is spent.
struct DifferenceStep {
  let older: TransactionCore
  let newer: TransactionCore
  var place: DifferencePass.Place
  var budget: DifferenceBudget

  /// Runs a part of `step`; returns whether the step is complete.
  mutating func run(
    _ step: DifferencePass.Step, _ visit: (FoundDifference) throws -> Void
  ) throws -> Bool {
    switch step {
    case .records(let pair): try runRecords(pair, visit)
    case .keys(let pair): try runKeys(pair, visit)
    case .links(let pair): try runLinks(pair, visit)
    case .order(let pair): try runOrder(pair, visit)
    case .buckets: try runBuckets(visit)
    }
  }

  // MARK: Records by id

  private mutating func runRecords(
    _ pair: EntityPair, _ visit: (FoundDifference) throws -> Void
  ) throws -> Bool {
    var old = try RecordWalk(pair.older, older)
    var new = try RecordWalk(pair.newer, newer)
    if case .id(let id) = place {
      try old.seek(id)
      try new.seek(id)
    }
    while let id = [old.id, new.id].compactMap(\.self).min() {
      if budget.isSpent {
        place = .id(id)
        return false
      }
      budget.visits -= 1
      let (before, after) = (old.row(of: id), new.row(of: id))
      if let found = try compare(pair, before, after) {
        budget.find(found.byteCount)
        try visit(.record(found))
      }
      if before != nil { try old.next() }
      if after != nil { try new.next() }
    }
    return true
  }

  /// A record of one of the stores.
  typealias Row = (id: UInt64, bytes: ByteView)

  /// Returns the difference of two records, one of which may be missing; `nil` when all values are
  /// equal.
  func compare(_ pair: EntityPair, _ old: Row?, _ new: Row?) throws -> FoundRecord? {
    if let old, let new, old.id == new.id, pair.areEqual(old.bytes, new.bytes) { return nil }
    // A damaged record is an error and not a difference, so the checksums of records that differ
    // are verified.
    let oldView = try old.flatMap { try pair.older?.verifiedView($0.bytes, id: $0.id) }
    let newView = try new.flatMap { try pair.newer?.verifiedView($0.bytes, id: $0.id) }
    var changed: [Int] = []
    if let oldView, let newView {
      changed = try attributes(pair, oldView, newView, new?.id ?? 0)
      if changed.isEmpty { return nil }
    }
    return FoundRecord(
      pair: pair, kind: HistoryChange.Kind(wasThere: old != nil, isThere: new != nil),
      oldID: old?.id ?? 0, newID: new?.id ?? 0, old: old?.bytes, new: new?.bytes, changed: changed,
      preserved: nil, older: older, newer: newer)
  }

  private func attributes(
    _ pair: EntityPair, _ old: RecordView, _ new: RecordView, _ newID: UInt64
  ) throws -> [Int] {
    do {
      return try pair.differing(old, new) { attribute, before, after in
        guard case .byTarget(let key) = attribute.comparison else { return true }
        let mine = try key.older.values(before, older)
        let theirs = try key.newer.values(after, newer)
        guard let mine, let theirs else { return mine == nil && theirs == nil }
        return zip(mine, theirs).allSatisfy { $0.isSameStored(as: $1) }
      }
    } catch let error as FormatError {
      throw StoreError.damagedRecord(entity: pair.name, recordID: newID, error)
    }
  }

  // MARK: Buckets

  private mutating func runBuckets(_ visit: (FoundDifference) throws -> Void) throws -> Bool {
    try mergeKeys(older.store.trees.buckets, newer.store.trees.buckets) {
      key, before, after, budget in
      if let before, let after, compareKeys(before, after) == 0 { return }
      guard let (bucket, name) = BucketKey.split(key) else {
        throw FormatError("a bucket's key has no name")
      }
      // A copy differs from its store in the cursor, which is no content of the program.
      if Buckets.isOfLibrary(bucket) { return }
      let old = try before.map { Array(try Checksum.unsealed(key: key, body: $0)) }
      let new = try after.map { Array(try Checksum.unsealed(key: key, body: $0)) }
      budget.find((old?.count ?? 0) + (new?.count ?? 0))
      try visit(.bucket(BucketDifference(bucket, name, old, new)))
    }
  }

  /// Walks two trees side by side, and calls `body` with each key and its body in each tree.
  mutating func mergeKeys(
    _ olderTree: Tree?, _ newerTree: Tree?,
    _ body: (ByteView, ByteView?, ByteView?, inout DifferenceBudget) throws -> Void
  ) throws -> Bool {
    let old = try olderTree.map { try Cursor($0, in: older.transaction) }
    let new = try newerTree.map { try Cursor($0, in: newer.transaction) }
    var start: [UInt8] = []
    if case .key(let key) = place { start = key }
    func begin(_ cursor: Cursor?) throws -> Bool {
      guard let cursor else { return false }
      return try start._withBytes { (key) throws(LMDBError) in try cursor.seek(atOrAfter: key) }
    }
    var hasOld = try begin(old)
    var hasNew = try begin(new)
    while hasOld || hasNew {
      let oldKey = hasOld ? old?.key : nil
      let newKey = hasNew ? new?.key : nil
      let order = oldKey.flatMap { a in newKey.map { compareKeys(a, $0) } }
      let takesOld = oldKey != nil && (order ?? -1) <= 0
      let takesNew = newKey != nil && (order ?? 1) >= 0
      guard let key = takesOld ? oldKey : newKey else { return true }
      if budget.isSpent {
        place = .key(Array(key))
        return false
      }
      budget.visits -= 1
      try body(key, takesOld ? old?.value : nil, takesNew ? new?.value : nil, &budget)
      if takesOld { hasOld = try old?.next() ?? false }
      if takesNew { hasNew = try new?.next() ?? false }
    }
    return true
  }
}

extension BucketDifference {
  fileprivate init(_ bucket: String, _ key: [UInt8], _ old: [UInt8]?, _ new: [UInt8]?) {
    self.init(
      kind: HistoryChange.Kind(wasThere: old != nil, isThere: new != nil), bucket: bucket,
      key: key, old: old.map { .init($0) }, new: new.map { .init($0) })
  }
}

/// A walk through the records of one store in ascending order of ids, without expired ones.
private struct RecordWalk {
  private let cursor: Cursor?
  private let expired: ExpiredRecords?
  private(set) var id: UInt64?

  init(_ entity: StoredEntity?, _ core: TransactionCore) throws {
    cursor = try entity.map { try Cursor($0.records, in: core.transaction) }
    expired = try entity.flatMap { try core.expired(of: $0) }
  }

  mutating func seek(_ first: UInt64) throws {
    guard let cursor, try cursor.seek(atOrAfter: first) else { return }
    id = cursor.integerKey
    if expired?.contains(cursor.integerKey) ?? false { try next() }
  }

  mutating func next() throws {
    guard let cursor, var last = id else { return }
    repeat {
      guard try cursor.next() else {
        id = nil
        return
      }
      // In a damaged file the walk could return to earlier keys and never end, so each id must be
      // above the last one.
      guard cursor.integerKey > last else { throw FormatError("the ids of records do not ascend") }
      last = cursor.integerKey
    } while expired?.contains(last) ?? false
    id = last
  }

  func row(of wanted: UInt64) -> DifferenceStep.Row? {
    id == wanted ? cursor.map { (wanted, $0.value) } : nil
  }
}

extension StoredEntity {
  /// Returns a view of the record; throws when its checksum is wrong.
  func verifiedView(_ bytes: ByteView, id: UInt64) throws(StoreError) -> RecordView {
    let view = try view(bytes, id: id)
    try verifyChecksum(of: view, id: id)
    return view
  }
}
