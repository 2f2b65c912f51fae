internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The records of one entity that had expired when a read began, and that the read leaves out.
///
/// Reads find records in many ways, but always know a record's id. Every way therefore checks
/// whether the id is in this object. A read without expired records has no such object and checks
/// nothing (``TransactionCore/expired(of:)``).
///
/// The ids never change, and are valid for one commit.
final class ExpiredRecords: Sendable {
  let commit: CommitNumber
  /// The time of the read, in seconds since 2001.
  let moment: Double
  /// The ids of the expired records, in ascending order.
  let ids: [UInt64]
  /// The next expiry date of a record; `nil` for none.
  let next: Double?
  /// The value of ``numbers``, stored by its first use.
  private let madeNumbers = Guarded<NumberSet?>(nil)

  init(commit: CommitNumber, moment: Double, ids: [UInt64], next: Double?) {
    self.commit = commit
    self.moment = moment
    self.ids = ids
    self.next = next
  }

  /// The ids as numbers in the order of ids, for conditions.
  var numbers: NumberSet {
    madeNumbers.withLock { made in
      if let made { return made }
      let numbers = NumberSet(ids.map { Int64(bitPattern: $0 ^ (1 << 63)) })
      made = numbers
      return numbers
    }
  }

  func contains(_ id: UInt64) -> Bool {
    let position = ids.partitioningIndex { $0 >= id }
    return position < ids.count && ids[position] == id
  }

  /// Returns whether a read of `commit` that began at `moment` leaves out the same records.
  fileprivate func holds(at commit: CommitNumber, _ moment: Double) -> Bool {
    self.commit == commit && self.moment <= moment && next.map { moment < $0 } ?? true
  }
}

/// The expired records by entity, as found by the last reads.
///
/// The records are valid until the next commit, or until the next expiry date.
final class ExpiredRecordsCache: Sendable {
  private let known = Guarded<[EntityNumber: ExpiredRecords]>([:])

  fileprivate func records(
    of entity: EntityNumber, at commit: CommitNumber, _ moment: Double
  ) -> ExpiredRecords? {
    known.withLock { $0[entity] }.flatMap { $0.holds(at: commit, moment) ? $0 : nil }
  }

  fileprivate func keep(_ records: ExpiredRecords, of entity: EntityNumber) {
    let before = known.withLock { known -> ExpiredRecords? in
      guard known[entity].map({ $0.commit <= records.commit }) ?? true else { return nil }
      return known.updateValue(records, forKey: entity)
    }
    // The previous records are released outside the lock.
    withExtendedLifetime(before) {}
  }
}

extension StoreOptions {
  /// The current time by the clock of the options, in seconds since 2001.
  var moment: Double { now().timeIntervalSinceReferenceDate }
}

extension TransactionCore {
  /// Returns the records of `entity` that this read leaves out; `nil` when it leaves out none.
  ///
  /// A write leaves out none, because expired records are evicted before it begins.
  ///
  /// - Complexity: one search in the index of the date for each commit, and O(*k*) for *k* expired
  ///   records that no writer has evicted.
  @inline(__always)
  func expired(of entity: StoredEntity) throws(StoreError) -> ExpiredRecords? {
    guard let moment else { return nil }
    return try expired(of: entity, at: moment)
  }

  @inline(never)
  private func expired(
    of entity: StoredEntity, at moment: Double
  ) throws(StoreError) -> ExpiredRecords? {
    guard let index = entity.expiryIndex else { return nil }
    let all: ExpiredRecords
    if let known = expiredRecords[entity.number] {
      all = known
    } else if let known = store.expiredRecords.records(of: entity.number, at: commitNumber, moment)
    {
      all = known
      expiredRecords[entity.number] = known
    } else {
      all = try findExpired(index, at: moment)
      expiredRecords[entity.number] = all
      store.expiredRecords.keep(all, of: entity.number)
    }
    return all.ids.isEmpty ? nil : all
  }

  /// Returns the next expiry date of a record of `entity` after the beginning of this read; `nil`
  /// for none.
  func nextExpiry(of entity: StoredEntity) throws(StoreError) -> Double? {
    _ = try expired(of: entity)
    return expiredRecords[entity.number]?.next
  }

  /// Returns the first expiry date of a record of `entity` after `moment`; `nil` for none.
  ///
  /// The date may be in the past.
  func firstExpiry(of entity: StoredEntity, after moment: Double) throws(StoreError) -> Double? {
    guard let index = entity.expiryIndex else { return nil }
    return try forEachExpired(index, from: .after(moment), at: moment) { (_, _) in true }
  }

  /// Returns whether a record of `entity` expired after `earlier` and before this read began.
  func hasExpired(of entity: StoredEntity, since earlier: Double) throws(StoreError) -> Bool {
    guard let moment, let index = entity.expiryIndex else { return false }
    var isFound = false
    try forEachExpired(index, after: earlier, at: moment) { _ in
      isFound = true
      return false
    }
    return isFound
  }

  private func findExpired(
    _ index: StoredIndex, at moment: Double
  ) throws(StoreError) -> ExpiredRecords {
    var ids: [UInt64] = []
    let next = try forEachExpired(index, at: moment) {
      ids.append($0); return true
    }
    ids.sort()
    return ExpiredRecords(commit: commitNumber, moment: moment, ids: ids, next: next)
  }

  /// Visits the records whose date is at or before `moment`, the oldest date first, until `body`
  /// returns false.
  ///
  /// - Parameter earlier: skips the records whose date is at or before this one.
  /// - Returns: the first date after `moment`, if the visit reached it.
  @discardableResult
  func forEachExpired(
    _ index: StoredIndex, after earlier: Double? = nil, at moment: Double,
    _ body: (UInt64) throws(StoreError) -> Bool
  ) throws(StoreError) -> Double? {
    let first = earlier.map(EvictionPosition.after) ?? .firstDate
    return try forEachExpired(index, from: first, at: moment) { (id, _) throws(StoreError) in
      try body(id)
    }
  }

  /// Visits the expired records from a position in the index on; `body` also receives the key of
  /// each entry.
  @discardableResult
  func forEachExpired(
    _ index: StoredIndex, from first: EvictionPosition, at moment: Double,
    _ body: (UInt64, ByteView) throws(StoreError) -> Bool
  ) throws(StoreError) -> Double? {
    var next: Double?
    try wrappingErrors {
      let last = EvictionPosition.after(moment)
      let cursor = try Cursor(index.tree, in: transaction)
      try cursor.walk(KeyRange(lower: .included(first.bytes)), backwards: false) { key, value in
        guard last.isAbove(key) else {
          var decoder = KeyDecoder(key)
          if case .date(let date) = try decoder.next(), date.isFinite { next = date }
          return false
        }
        return try body(try index.recordID(ofEntry: key, value), key)
      }
    }
    return next
  }
}
