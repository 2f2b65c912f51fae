internal import LMDB
internal import LodestoreBytes
package import LodestoreEssentials
package import LodestoreFormat

extension WriteTransaction {
  /// Prepares to write rows of another database's table as records of an entity.
  ///
  /// - Parameters:
  ///   - attributes: the names of the attributes, in the order of the values of each row.
  ///   - key: the names of the attributes of the unique index that identifies a row.
  /// - Throws: ``StoreError/Code/unknownEntity``, ``StoreError/Code/unknownIndex``, and
  ///   ``StoreError/Code/badSchema`` for an unknown or a derived attribute.
  package func tableRows(
    of entity: String, attributes: [String], key: [String]
  ) throws(StoreError) -> TableRows {
    try TableRows(core, entity, attributes, key)
  }

  /// Stores the position of a replication, in the transaction of the rows that it covers.
  ///
  /// The bucket is reserved for the library.
  package mutating func putReplicationMark(_ mark: Data, for key: String) throws(StoreError) {
    try core.put(Array(mark), for: Array(key.utf8), in: TableRows.bucket)
  }
}

extension ReadableTransaction where Self: ~Copyable {
  /// The position that ``WriteTransaction/putReplicationMark(_:for:)`` has stored; `nil` for none.
  package func replicationMark(for key: String) throws(StoreError) -> Data? {
    try data(for: key, in: TableRows.bucket)
  }

  /// The store without its Swift types, as this transaction sees it.
  package var dynamicSnapshot: DynamicSnapshot { DynamicSnapshot(core: access.core) }
}

/// Writes rows of a table as records, which a unique key identifies.
///
/// The rows take the normal write path: rules, unique keys, indexes, derived attributes and the
/// history are as in each write. Values of attributes that the rows do not have stay as they are.
/// After an error the transaction can only be aborted.
package struct TableRows {
  static let bucket = "lodestore.postgres"

  private let core: WriteCore
  private let entity: StoredEntity
  private let index: StoredIndex
  /// The position in the layout of each value of a row.
  private let positions: [Int]
  /// The position in a given key of each attribute of the index.
  private let keyOrder: [Int]
  /// The values of a new record before it takes those of a row.
  private let initial: [Value]
  private let isGiven: [Bool]

  fileprivate init(
    _ core: WriteCore, _ name: String, _ attributes: [String], _ key: [String]
  ) throws(StoreError) {
    self.core = core
    let entity = try core.entity(named: name)
    self.entity = entity
    let layout = entity.layout.attributes
    var positions: [Int] = []
    for attribute in attributes {
      guard let found = entity.description.attribute(named: attribute), found.derivation == nil,
        let position = layout.firstIndex(where: { $0.number == found.number })
      else {
        throw .badSchema(
          entity: name, attribute: attribute,
          "'\(attribute)' is no attribute that a row can fill; map its column to another one")
      }
      positions.append(position)
    }
    self.positions = positions
    let numbers = key.compactMap { entity.description.attribute(named: $0)?.number }
    let index = entity.indexes.first {
      $0.isUnique && Set($0.description.attributes) == Set(numbers) && numbers.count == key.count
    }
    guard let index else {
      throw .unknownIndex(
        entity: name, attributes: key.joined(separator: "+"),
        known: entity.indexes.filter(\.isUnique).map(\.name))
    }
    self.index = index
    keyOrder = index.description.attributes.compactMap { numbers.firstIndex(of: $0) }
    initial = layout.map { attribute in
      let described = entity.description.attribute(number: attribute.number)
      let value = described?.defaultValue ?? .null
      return value == .null && !attribute.isOptional ? .placeholder(of: attribute.type) : value
    }
    var isGiven = Array(repeating: false, count: layout.count)
    for position in positions { isGiven[position] = true }
    self.isGiven = isGiven
  }

  /// Inserts rows, or replaces the values of the records with their keys; returns their ids.
  package func upsert(_ rows: [[Value]]) throws -> [UInt64] {
    var batch = IncomingRecords(entity.layout)
    for row in rows {
      let record = try entity.record(of: values(of: row))
      try core.writer.checkSize(record.contentCount, of: entity)
      batch.append(record, given: isGiven)
    }
    let outcomes = try BatchMerge(
      batch, into: entity, matching: Matching(indexes: [index], isNamed: true), rule: .replace,
      core: core
    ).apply()
    return try outcomes.map { try $0.id() }
  }

  private func values(of row: [Value]) -> [Value] {
    var values = initial
    for (position, value) in zip(positions, row) { values[position] = value }
    return values
  }

  /// Changes the record with a key; returns false if no record has the key.
  ///
  /// - Parameter row: the values; `nil` for a value that stays as it is.
  package func update(key: [Value], to row: [Value?]) throws -> Bool {
    guard let id = try id(key) else { return false }
    let changes = core.changes(of: entity)
    guard var values = try changes.values(of: id) else { return false }
    for (position, value) in zip(positions, row) {
      if let value { values[position] = value }
    }
    _ = try changes.update(id, to: try changes.encode(values))
    return true
  }

  /// Deletes the record with a key, following the delete rules; returns whether it existed.
  package func delete(key: [Value]) throws -> Bool {
    guard let id = try id(key) else { return false }
    return try core.delete(id, of: entity)
  }

  /// Deletes all records, following the delete rules; returns their number.
  package func deleteAll() throws -> Int { try core.deleteAll(of: entity) }

  /// Deletes the records whose ids are not among `ids`; returns their number.
  ///
  /// - Parameter ids: normalized runs.
  package func deleteAll(except ids: IDRuns) throws -> Int {
    if try core.count(of: entity) == ids.count { return 0 }
    return try core.delete(try core.storedIDs(of: entity).filter { !ids.contains($0) }, of: entity)
  }

  private func id(_ key: [Value]) throws -> UInt64? {
    core.key.reset()
    for position in keyOrder { try core.key.append(key[position]) }
    core.key.finishTuple()
    return try core.holder(of: core.key.bytes, in: index)
  }
}
