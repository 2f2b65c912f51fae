internal import LMDB
package import LodestoreFormat

/// The content of a store at one commit.
///
/// Valid on one thread, within the closure that receives it.
package struct DynamicSnapshot {
  let core: TransactionCore

  // MARK: Schema

  /// The entities, in the order of their numbers.
  package var entities: [DynamicEntity] { core.schema.entities.map(DynamicEntity.init) }

  package func entity(named name: String) -> DynamicEntity? {
    core.schema.entity(named: name).map(DynamicEntity.init)
  }

  // MARK: Records

  /// The number of records of `entity` that have not expired.
  package func count(of entity: DynamicEntity) throws(StoreError) -> Int {
    try core.presentCount(of: entity.stored)
  }

  package func record(_ id: UInt64, of entity: DynamicEntity) throws(StoreError) -> DynamicRecord? {
    try core.record(id, of: entity.stored).map {
      DynamicRecord(id: id, bytes: $0, entity: entity.stored)
    }
  }

  /// Visits the records in the order of their ids, until `body` returns false; expired ones are
  /// skipped.
  package func forEachRecord(
    of entity: DynamicEntity, _ body: (DynamicRecord) throws -> Bool
  ) throws {
    let cursor = try Cursor(entity.stored.records, in: core.transaction)
    let expired = try core.expired(of: entity.stored)
    var isThere = try cursor.first()
    while isThere {
      let id = cursor.integerKey
      if expired?.contains(id) != true {
        let record = DynamicRecord(id: id, bytes: cursor.value, entity: entity.stored)
        guard try body(record) else { return }
      }
      isThere = try cursor.next()
    }
  }

  // MARK: Indexes

  /// Visits the ids of the records in the order of `index`, until `body` returns false.
  ///
  /// - Parameters:
  ///   - lower: values of the first attributes of the index; nil for no bound.
  ///   - upper: values of the first attributes of the index; nil for no bound. Entries that begin
  ///     with these values are included.
  package func forEachID(
    of entity: DynamicEntity, in index: DynamicIndex, from lower: [Value]? = nil,
    through upper: [Value]? = nil, isReversed: Bool = false, _ body: (UInt64) throws -> Bool
  ) throws {
    var failure: (any Error)?
    try core.walk(
      index.stored, of: entity.stored, lower: lower.map(IndexWalkBound.included) ?? .none,
      upper: upper.map(IndexWalkBound.included) ?? .none, isReversed: isReversed
    ) { (id) throws(StoreError) in
      do {
        return try body(id)
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
  }

  /// Visits the entries of `index` as stored, with the id of each entry's record.
  ///
  /// The id is nil when the entry does not contain one.
  package func forEachEntry(of index: DynamicIndex, _ body: (UInt64?) throws -> Void) throws {
    try core.transaction.forEachPair(of: index.stored.tree) { key, value in
      try body(KeyDecoder.recordID(ofEntry: key, value, isUnique: index.isUnique))
    }
  }

  /// For each index on elements or places, the number of its entries and the number of elements or
  /// places in the records.
  package func elementCounts(
    of entity: DynamicEntity
  ) throws -> [(name: String, entries: Int, elements: Int)] {
    try (entity.stored.elementIndexes + entity.stored.placeIndexes).map { index in
      var elements = 0
      try core.forEachRecord(of: entity.stored) { (id, view) throws(StoreError) in
        do {
          elements += try index.description.keys(in: view, entity.description).count
        } catch {
          throw .damagedRecord(entity: entity.name, recordID: id, error)
        }
      }
      let entries = try core.transaction.count(of: index.entries.tree)
      return (index.entries.name, entries, elements)
    }
  }

  // MARK: Queries

  /// Plans a query without reading any record.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` with the part of the request that cannot be used.
  package func query(
    _ request: QueryRequest, of entity: DynamicEntity
  ) throws(StoreError) -> DynamicQuery {
    DynamicQuery(plan: try core.plan(request, for: entity.stored), core: core)
  }

  // MARK: Imports

  /// The names under which imports were run, in the order of their bytes.
  package func importNames() throws(StoreError) -> [String] { try core.importNames() }

  /// The reports of the imports called `name`, oldest first.
  package func importReports(of name: String) throws(StoreError) -> [ImportReport] {
    try core.importReports(of: name)
  }
}
