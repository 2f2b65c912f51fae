internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Writing of records one at a time.
///
/// The records of one page form one step. A record may take the unique key that another record of
/// its page releases, and two records may exchange their keys.
extension BatchMerge {
  /// Writes all records that must be written one at a time.
  func writeSingly() throws(StoreError) {
    var start = 0
    for end in pages.ends.isEmpty ? [batch.count] : pages.ends {
      let rows = (start..<end).filter { isAlone[$0] && outcomes[$0] == nil }
      start = end
      if pages.ends.isEmpty || rows.count < 2 {
        for row in rows { outcomes[row] = try writeAlone(row) }
      } else {
        try writeExchanging(rows)
      }
    }
  }

  private func writeExchanging(_ rows: [Int]) throws(StoreError) {
    var refused: [Int] = []
    // Incoming records with equal keys are merged in their order.
    var refusedKeys: Set<[UInt8]> = []
    for row in rows {
      let key = pages.takesLast ? nil : try matchingKey(row)
      if let key, refusedKeys.contains(key) {
        refused.append(row)
        continue
      }
      let outcome = try writeAlone(row)
      if case .rejected(let error) = outcome, error.code == .uniqueViolation, error.recordID != nil
      {
        refused.append(row)
        if let key { refusedKeys.insert(key) }
      } else {
        outcomes[row] = outcome
      }
    }
    if refused.count > 1 { try exchange(refused) }
    for row in refused where outcomes[row] == nil { outcomes[row] = try writeAlone(row) }
  }

  private func matchingKey(_ row: Int) throws(StoreError) -> [UInt8]? {
    guard let index = matching.indexes.first else { return nil }
    let view = try batch.view(row, of: entity)
    if try core.encodeKey(of: view, id: 0, in: index, of: entity) { return nil }
    return Array(core.key.bytes)
  }

  /// A unique key.
  private struct UniqueKey: Hashable {
    /// The number of the key's index.
    var index: UInt32
    var bytes: [UInt8]
  }

  /// A stored record with its new values.
  private struct Exchange {
    var row: Int
    var holder: UInt64
    /// The new values with their derived attributes.
    var record: RecordBytes
    /// The numbers of added and removed links; `nil` when links are not counted.
    var links: LinkTally.Change?
    /// The new keys of the record.
    var claims: [UniqueKey] = []
    /// The old keys that the record releases.
    var freed: [UniqueKey] = []
  }

  /// Writes together those records in `rows` whose stored records release each other's new keys.
  private func exchange(_ rows: [Int]) throws(StoreError) {
    var exchanges: [Exchange] = []
    var holders: Set<UInt64> = []
    for row in rows {
      guard let one = try exchange(of: row), holders.insert(one.holder).inserted else { continue }
      exchanges.append(one)
    }
    exchanges = try possible(exchanges)
    exchanges.sort { $0.holder < $1.holder }
    while let refused = try refusedReinsertion(exchanges) {
      exchanges.remove(at: refused)
      exchanges = try possible(exchanges)
    }
    guard !exchanges.isEmpty else { return }
    for one in exchanges { add(one.links) }
    if case .reinsert = rule {
      for one in exchanges { _ = try core.delete(one.holder, of: entity) }
      for one in exchanges {
        outcomes[one.row] = .updated(try changes.insert(changes.copy(one.record)))
      }
      return
    }
    // The old index entries of all records are removed first, because other records of the exchange
    // take these keys.
    try changes.withChangeBatch(expectedCount: exchanges.count) { writes in
      let cursor = try WritingCursor(entity.records, in: core.writing)
      for one in exchanges {
        guard try cursor.reads.seek(one.holder) else { throw missing(one.holder) }
        let stored = try changes.stored(cursor.reads.value, id: one.holder)
        let record = try changes.derived(changes.copy(one.record), over: stored)
        _ = try writes.change(stored, to: record, at: cursor)
        outcomes[one.row] = .updated(one.holder)
      }
    }
  }

  /// Returns the position of the first record to be reinserted that breaks a constraint or a rule.
  ///
  /// Each record is checked under the id that it gets when all of `exchanges` are made.
  private func refusedReinsertion(_ exchanges: [Exchange]) throws(StoreError) -> Int? {
    guard case .reinsert = rule, changes.hasConstraints else { return nil }
    let first = try core.newID(of: entity)
    for (place, one) in exchanges.enumerated() {
      let prepared = try changes.prepareOrRefuse(
        try changes.derived(changes.copy(one.record)), id: first &+ UInt64(place), isNew: true)
      if case .refused = prepared { return place }
    }
    return nil
  }

  /// Merges the record at `row` with its stored record.
  ///
  /// Returns `nil` for a new record, and when the merge or a constraint refuses the record.
  /// Constraints of a record to be reinserted are checked later, because its id is not known yet.
  private func exchange(of row: Int) throws(StoreError) -> Exchange? {
    let view = try batch.view(row, of: entity)
    guard let holder = try holder(of: view, at: row),
      let bytes = try core.record(holder, of: entity)
    else { return nil }
    let stored = try changes.stored(bytes, id: holder, isCarriedOver: carriesOver(row))
    guard case .record(let merged) = try merged(row, stored, view) else { return nil }
    // With ``MergeRule/reinsert``, the derived attributes are those of a new record.
    let isReinserted = if case .reinsert = rule { true } else { false }
    let derived = try changes.derived(merged, over: isReinserted ? nil : stored)
    if !isReinserted, case .refused = try changes.prepareOrRefuse(derived, id: holder) {
      return nil
    }
    let new = try entity.view(derived.record)
    var exchange = Exchange(row: row, holder: holder, record: RecordBytes(derived.record))
    exchange.links = try tally?.change(stored.view, new)
    try changes.withKeys(of: holder, from: stored.view, to: new) { keys in
      for (place, index) in keys.indexes.enumerated() where index.isUnique && keys.isMoved(place) {
        let number = index.description.number
        exchange.claims.append(
          UniqueKey(index: number, bytes: keys.new.withKey(place) { Array($0) }))
        exchange.freed.append(
          UniqueKey(index: number, bytes: keys.old.withKey(place) { Array($0) }))
      }
    }
    return exchange
  }

  /// Returns the exchanges whose keys are free after all of them are made.
  ///
  /// When several exchanges need one key, only the first of them is returned.
  private func possible(_ exchanges: [Exchange]) throws(StoreError) -> [Exchange] {
    let indexes = Dictionary(
      (entity.indexes + entity.building).map { ($0.description.number, $0) },
      uniquingKeysWith: { first, _ in first })
    var freed: [UniqueKey: Int] = [:]
    for (place, one) in exchanges.enumerated() { for key in one.freed { freed[key] = place } }
    var claimed: [UniqueKey: Int] = [:]
    var isOut = Array(repeating: false, count: exchanges.count)
    var out: [Int] = []
    for (place, one) in exchanges.enumerated() {
      var isPossible = true
      for key in one.claims where isPossible {
        guard let index = indexes[key.index] else { continue }
        let holder = try key.bytes._withBytes { (bytes) throws(StoreError) in
          try core.holder(of: bytes, in: index)
        }
        isPossible = claimed[key] == nil && (holder == nil || freed[key] != nil)
      }
      if isPossible {
        for key in one.claims { claimed[key] = place }
      } else {
        isOut[place] = true
        out.append(place)
      }
    }
    // A record that leaves the exchange keeps its old keys, so records that need these keys must
    // leave it too.
    while let place = out.popLast() {
      for key in exchanges[place].freed {
        guard let other = claimed[key], !isOut[other] else { continue }
        isOut[other] = true
        out.append(other)
      }
    }
    return exchanges.enumerated().filter { !isOut[$0.offset] }.map(\.element)
  }
}
