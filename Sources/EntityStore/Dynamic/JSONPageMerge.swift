internal import LodestoreFormat

/// What an import does with a record that the store has already.
package enum JSONConflict: String, Sendable, CaseIterable {
  /// The incoming record is rejected.
  case fail
  /// The stored record stays as it is.
  case ignore
  /// The stored record takes all incoming values.
  case replace
  /// The stored record takes the values of the attributes that the incoming one has.
  case patch
}

/// Writes one page of JSON records into an entity, within one transaction.
package final class JSONPageMerge {
  package enum Outcome: Sendable {
    case inserted, updated, unchanged, ignored
    case rejected(RecordRejection)
  }

  private let core: TransactionCore
  private let entity: StoredEntity
  private let index: StoredIndex?
  private let mode: JSONConflict
  package let encoder: JSONRecordEncoder

  /// - Parameter index: the unique index that records are matched by; without one every record is
  ///   inserted.
  package init(
    into entity: StoredEntity, matching index: StoredIndex?, mode: JSONConflict,
    encoder: JSONRecordEncoder, core: TransactionCore
  ) {
    self.core = core
    self.entity = entity
    self.index = index
    self.mode = mode
    self.encoder = encoder
  }

  /// Writes the page; one outcome per record, in order.
  package func apply(_ records: [JSONRecord]) throws(StoreError) -> [Outcome] {
    guard let index else { return try insertAll(records) }
    switch mode {
    case .patch: return try patchAll(records, index)
    case .fail: return try mergeAll(records, index, .fail)
    case .ignore: return try mergeAll(records, index, .ignore)
    case .replace: return try mergeAll(records, index, .replace)
    }
  }

  // MARK: Matching whole records

  private func mergeAll(
    _ records: [JSONRecord], _ index: StoredIndex, _ mode: MergeMode
  ) throws(StoreError) -> [Outcome] {
    let merge = PageMerge(into: entity, matching: index, mode: mode, core: core)
    var outcomes: [Outcome] = []
    outcomes.reserveCapacity(records.count)
    var places: [Int] = []
    for record in records {
      do throws(RecordRejection) {
        try encoder.read(record)
        try checkKey(record, index)
        let content = try encoder.content(of: record)
        try checkSize(content, record)
        places.append(outcomes.count)
        merge.add(content)
        outcomes.append(.unchanged)
      } catch {
        outcomes.append(.rejected(error))
      }
    }
    for (place, outcome) in zip(places, try merge.apply()) {
      outcomes[place] =
        switch outcome {
        case .inserted: .inserted
        case .updated: .updated
        case .unchanged: .unchanged
        case .ignored: .ignored
        case .rejected(let reason):
          .rejected(RecordRejection(reason, offset: records[place].offset))
        }
    }
    return outcomes
  }

  /// Nulls do not collide in a unique index: such a record would be inserted again by every import.
  private func checkKey(_ record: JSONRecord, _ index: StoredIndex) throws(RecordRejection) {
    guard encoder.key(index.description.attributes) == nil else { return }
    throw Self.missingKey(record, index)
  }

  private func checkSize(
    _ content: UnsafeRawBufferPointer, _ record: JSONRecord
  ) throws(RecordRejection) {
    do {
      try core.checkSize(content.count, of: entity)
    } catch {
      throw RecordRejection(error.message, offset: record.offset)
    }
  }

  // MARK: One by one

  private func insertAll(_ records: [JSONRecord]) throws(StoreError) -> [Outcome] {
    var outcomes: [Outcome] = []
    outcomes.reserveCapacity(records.count)
    for record in records {
      if let rejection = read(record) {
        outcomes.append(.rejected(rejection))
      } else {
        outcomes.append(try insert(record).outcome)
      }
    }
    return outcomes
  }

  /// Finds the stored records of the whole page in one pass first.
  ///
  /// A key that comes twice changes one record twice, in the order of the page.
  private func patchAll(
    _ records: [JSONRecord], _ index: StoredIndex
  ) throws(StoreError) -> [Outcome] {
    var keys: [[Value]] = []
    var placeOfKey = [Int](repeating: -1, count: records.count)
    var outcomes: [Outcome] = []
    for (place, record) in records.enumerated() {
      outcomes.append(.unchanged)
      if let rejection = read(record) {
        outcomes[place] = .rejected(rejection)
      } else if let key = encoder.key(index.description.attributes) {
        placeOfKey[place] = keys.count
        keys.append(key)
      } else {
        outcomes[place] = .rejected(Self.missingKey(record, index))
      }
    }
    let holders = try core.holders(of: keys, in: index, of: entity)
    var inserted: [[Value]: UInt64] = [:]
    for (place, record) in records.enumerated() where placeOfKey[place] >= 0 {
      let key = keys[placeOfKey[place]]
      _ = read(record)
      if let id = holders[placeOfKey[place]] ?? inserted[key] {
        outcomes[place] = try patch(id, record)
      } else {
        let (outcome, id) = try insert(record)
        outcomes[place] = outcome
        if let id { inserted[key] = id }
      }
    }
    return outcomes
  }

  private func read(_ record: JSONRecord) -> RecordRejection? {
    do throws(RecordRejection) {
      try encoder.read(record)
      return nil
    } catch {
      return error
    }
  }

  /// Inserts the record that was read last.
  private func insert(
    _ record: JSONRecord
  ) throws(StoreError) -> (outcome: Outcome, id: UInt64?) {
    let content: UnsafeRawBufferPointer
    do throws(RecordRejection) {
      content = try encoder.content(of: record)
      try checkSize(content, record)
    } catch {
      return (.rejected(error), nil)
    }
    do throws(StoreError) {
      let content = UnsafeMutableRawBufferPointer(mutating: content)
      return (.inserted, try core.insert(content, into: entity))
    } catch  where error.code == .uniqueViolation {
      return (.rejected(RecordRejection(error.message, offset: record.offset)), nil)
    }
  }

  /// Gives record `id` the attributes of the record that was read last.
  private func patch(_ id: UInt64, _ record: JSONRecord) throws(StoreError) -> Outcome {
    guard let stored = try core.record(id, of: entity) else {
      throw .noSuchRecord(entity: entity.name, id: id)
    }
    let values: [Value]
    do {
      values = try entity.values(of: try entity.view(stored, id: id))
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
    let content = encoder.content(patching: values)
    do throws(RecordRejection) {
      try checkSize(content, record)
    } catch {
      return .rejected(error)
    }
    do throws(StoreError) {
      let content = UnsafeMutableRawBufferPointer(mutating: content)
      return try core.update(id, to: content, in: entity) ? .updated : .unchanged
    } catch  where error.code == .uniqueViolation {
      return .rejected(RecordRejection(error.message, offset: record.offset))
    }
  }

  private static func missingKey(_ record: JSONRecord, _ index: StoredIndex) -> RecordRejection {
    RecordRejection(
      "a part of its key '\(index.name)' is absent or null", offset: record.offset)
  }
}
