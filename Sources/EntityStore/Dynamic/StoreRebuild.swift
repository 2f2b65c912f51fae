internal import LMDB
package import LodestoreFormat

/// Creates a store from the content that was saved from another one.
///
/// Descriptions and records are copied unchanged. Indexes, both sides of links, orders, counters
/// and attributes derived from related records are rebuilt.
///
/// Call the methods in this order: records, links, pairs, ``finish()``.
package final class StoreRebuild {
  private let core: StoreCore
  private let entities: [EntityNumber: StoredEntity]
  private var highest: [EntityNumber: UInt64] = [:]

  /// - Parameter path: the path of the new store, which must not exist.
  package init(
    path: String, entities: [EntityDescription], relationships: [RelationshipDescription],
    model: UInt64?
  ) throws {
    var options = StoreOptions()
    // The saved store may be on any file system, and nobody else opens it before it is complete.
    options.allowsAnyFileSystem = true
    core = try StoreCore(path: path, options: options)
    let core = core
    self.entities = try core.environment.write { transaction in
      func tree(_ name: TreeName) throws -> Tree {
        try core.environment.openOrMakeTree(name, in: transaction)
      }
      var stored: [StoredEntity] = []
      for description in entities {
        try core.trees.put(description, in: transaction)
        stored.append(try StoredEntity(description: description, declared: nil, tree: tree))
      }
      for relationship in relationships {
        try core.trees.put(relationship, in: transaction)
        _ = try StoredRelationship(relationship, entities: stored, tree: tree)
      }
      if let model { try core.trees.putModelVersion(model, in: transaction) }
      try core.trees.raiseSchemaNumber(in: transaction)
      return Dictionary(uniqueKeysWithValues: stored.map { ($0.number, $0) })
    }
  }

  package func close() { core.close() }

  /// Stores records with their ids and checksums; skips a record that is already stored.
  package func put(_ records: [(key: UInt64, body: [UInt8])], of entity: EntityNumber) throws {
    guard let entity = entities[entity] else { return }
    try core.environment.write { transaction in
      for record in records {
        let key = littleEndianBytes(record.key)
        if try transaction.get(key, in: entity.records) != nil { continue }
        try transaction.put(key, record.body, in: entity.records)
      }
    }
    highest[entity.number] = max(highest[entity.number] ?? 0, records.map(\.key).max() ?? 0)
  }

  /// Stores an unchanged pair in `buckets` or `imports`.
  package func put(_ pairs: [(key: [UInt8], body: [UInt8])], in name: TreeName) throws {
    let tree = name == .buckets ? core.trees.buckets : core.trees.imports
    try core.environment.write { transaction in
      for pair in pairs { try transaction.put(pair.key, pair.body, in: tree) }
    }
  }

  /// Stores unchanged pairs of the history, and creates its tree.
  package func putHistory(_ pairs: [(key: [UInt8], body: [UInt8])]) throws {
    if pairs.isEmpty { return }
    try core.environment.write { transaction in
      let tree = try core.environment.openOrMakeTree(.history, in: transaction)
      for pair in pairs { try transaction.put(pair.key, pair.body, in: tree) }
    }
  }

  /// Stores unchanged fields of the header, replacing the generated ones.
  package func putHeader(_ fields: [(key: [UInt8], body: [UInt8])]) throws {
    try core.environment.write { transaction in
      for pair in fields { try transaction.put(pair.key, pair.body, in: core.trees.header) }
    }
  }

  /// Stores fields of the header and descriptions that the format does not list, unchanged.
  package func putUnknown(
    fields: [(key: [UInt8], body: [UInt8])], descriptions: [(key: [UInt8], body: [UInt8])]
  ) throws {
    try core.environment.write { transaction in
      for pair in fields { try transaction.put(pair.key, pair.body, in: core.trees.header) }
      for pair in descriptions {
        try transaction.put(pair.key, pair.body, in: core.trees.catalogue)
      }
    }
  }

  /// Creates a tree that the format does not list, and stores unchanged pairs in it.
  package func putUnknown(
    _ pairs: [(key: [UInt8], body: [UInt8])], in name: String, hasIntegerKeys: Bool
  ) throws {
    try core.environment.write { transaction in
      let tree = try core.environment.tree(
        name, isCreated: true, hasIntegerKeys: hasIntegerKeys, in: transaction)
      guard let tree else { throw FormatError("cannot make tree \(name)") }
      for pair in pairs { try transaction.put(pair.key, pair.body, in: tree) }
    }
  }

  /// Stores links of a relationship with link trees, if both of their records exist.
  package func put(_ links: Set<LinkPair>, of relationship: UInt32) throws {
    try core.environment.write { transaction in
      for side in [RelationshipSide.from, .to] {
        let name = TreeName.links(relationship: relationship, side: side)
        guard let tree = try core.environment.tree(name, in: transaction.reads) else { continue }
        for link in links {
          let (id, other) = side == .from ? (link.from, link.to) : (link.to, link.from)
          var key = KeyEncoder()
          key.append(id)
          key.append(recordID: other)
          try transaction.put(Array(key.bytes), [], in: tree)
        }
      }
    }
  }

  /// Stores the order of the links on one side of a relationship.
  ///
  /// By record id, `order` contains the ids of the targets in their order.
  package func put(
    order: [UInt64: [UInt64]], of relationship: UInt32, _ side: RelationshipSide
  ) throws {
    try core.environment.write { transaction in
      let name = TreeName.order(relationship: relationship, side: side)
      guard let tree = try core.environment.tree(name, in: transaction.reads) else { return }
      for (owner, others) in order {
        for (index, other) in others.enumerated() {
          let position = UInt64(1 << 62) + UInt64(index) << 32
          try transaction.put(
            LinkOrderKey.link(owner, other), littleEndianBytes(position), in: tree)
          try transaction.put(
            LinkOrderKey.position(owner, position), littleEndianBytes(other), in: tree)
        }
      }
    }
  }

  /// Two records with equal values in a unique index, which a store cannot both contain.
  package typealias RepeatedKey = (entity: EntityNumber, first: UInt64, second: UInt64)

  /// Builds the indexes, counters and derived attributes that follow from the stored records and
  /// links.
  ///
  /// If records have equal unique keys, returns them and builds nothing.
  ///
  /// - Parameters:
  ///   - counters: the valid counters of the other store; they ensure that numbers are never
  ///     reused.
  ///   - restarted: the entities for which the history reports a restart.
  package func finish(
    counters: [[UInt8]: UInt64], restarted: Set<EntityNumber>
  ) throws -> [RepeatedKey] {
    do {
      try core.environment.write { transaction in
        try finish(counters, in: transaction)
        try core.recordRestarts(of: restarted, in: transaction)
      }
      return []
    } catch let repeated as RepeatedKeys {
      return repeated.pairs
    }
  }

  /// Thrown to abort a write in which records have equal unique keys.
  private struct RepeatedKeys: Error {
    var pairs: [RepeatedKey]
  }

  private func finish(_ counters: [[UInt8]: UInt64], in transaction: WritingTransaction) throws {
    let writing = try core.writing(transaction)
    let schema = writing.schema
    try putCounters(counters, schema, transaction)
    var derived: [EntityNumber: Set<UInt32>] = [:]
    for derivation in schema.derived {
      derived[derivation.owner.number, default: []].insert(derivation.number)
    }
    // Deriving attributes uses the other indexes, so these are built first, and indexes on derived
    // attributes afterwards.
    var later: [EntityNumber: Set<UInt32>] = [:]
    for entity in schema.entities {
      let numbers = derived[entity.number] ?? []
      for index in entity.indexes where !numbers.isDisjoint(with: index.description.attributes) {
        later[entity.number, default: []].insert(index.description.number)
      }
    }
    try build(later, isLater: false, writing)
    for (number, attributes) in DerivationEvolution(rebuilding: derived).inOrder(schema.derived) {
      guard let entity = schema.entity(number) else { continue }
      // Only attributes derived from related records are rebuilt. The functions for other derived
      // attributes belong to the program, and the copied values stay right.
      try writing.rebuildDerived(
        attributes, of: entity, laterIndexes: later[number] ?? [], .related)
    }
    try build(later, isLater: true, writing)
    // An index under construction stays empty without a counter, so its construction begins again.
    for entity in schema.entities {
      for index in entity.computedIndexes where !index.isBuilding {
        try writing.build(index, of: entity, nil)
      }
    }
    // Records, links and buckets were written without updating the sizes and digests of their
    // content, so these are recounted.
    ContentLedger.of(writing).recount()
  }

  /// Builds the indexes in `later` if `isLater` is true, otherwise all other indexes.
  private func build(
    _ later: [EntityNumber: Set<UInt32>], isLater: Bool, _ writing: WriteCore
  ) throws {
    var repeated: [RepeatedKey] = []
    for entity in writing.schema.entities {
      for index in entity.indexes
      where (later[entity.number]?.contains(index.description.number) ?? false) == isLater {
        do throws(StoreError) {
          try writing.build(index, of: entity, nil)
        } catch {
          guard error.code == .incompatibleSchema else { throw error }
          let pairs = try writing.repeatedKeys(in: index, of: entity)
          if pairs.isEmpty { throw error }
          for pair in pairs { repeated.append((entity.number, pair.first, pair.second)) }
        }
      }
    }
    if !repeated.isEmpty { throw RepeatedKeys(pairs: repeated) }
  }

  private func putCounters(
    _ counters: [[UInt8]: UInt64], _ schema: StoredSchema, _ transaction: WritingTransaction
  ) throws {
    func put(_ key: [UInt8], atLeast number: UInt64) throws {
      try transaction.put(
        key, littleEndianBytes(max(counters[key] ?? 1, number)), in: core.trees.counters)
    }
    for entity in schema.entities {
      try put(
        CounterKey.nextRecord(entity: entity.number), atLeast: (highest[entity.number] ?? 0) &+ 1)
    }
    let last = schema.entities.map(\.number.rawValue).max() ?? 0
    try put(CounterKey.nextEntity, atLeast: UInt64(last) + 1)
    let lastRelationship = schema.relationships.map(\.description.number).max() ?? 0
    try put(CounterKey.nextRelationship, atLeast: UInt64(lastRelationship) + 1)
  }
}
