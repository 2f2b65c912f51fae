internal import LMDB
internal import LodestoreFormat

// Reads of records through an index; see RecordReading.swift for why these calls are not inlined.

extension TransactionAccess {
  /// Calls `body` with the first record that has the values of `key`, if there is one.
  @usableFromInline
  func readRecord<E: Entity>(
    _ key: EntityKey<E>, body: (inout RecordReader) throws -> Void
  ) throws(StoreError) {
    let core = core
    let (entity, stored) = try core.resolve(E.self, with: key.tuple)
    guard let id = try core.firstRecord(in: stored, of: entity, key.tuple) else { return }
    guard let bytes = try core.record(id, of: entity) else { throw missing(id, entity, stored) }
    try wrappingErrors { try core.withReader(bytes, id: id, of: entity, body) }
  }

  /// Returns a lookup of `count` keys in the index over the attributes at `ordinals`.
  @usableFromInline
  func keyLookup<E: Entity>(
    of _: E.Type, over ordinals: [Int?], count: Int
  ) throws(StoreError) -> KeyLookup {
    let (entity, index) = try core.resolve(E.self, over: ordinals)
    return KeyLookup(in: index, of: entity, count: count, core: core)
  }

  /// Calls `body` with each record that `lookup` finds, and the position of its key, in any order.
  @usableFromInline
  func readRecords<E: Entity>(
    of _: E.Type, _ lookup: KeyLookup, _ body: (Int, inout RecordReader) throws -> Void
  ) throws(StoreError) {
    let entity = lookup.entity
    let ids = try lookup.ids()
    var texts = SharedTexts()
    defer { texts.deallocate() }
    try core.forEachRecord(ids, of: entity) { position, bytes in
      let id = ids[position]
      guard id != 0 else { return }
      guard let bytes else { throw missing(id, entity, lookup.index) }
      try core.withReader(
        bytes, id: id, of: entity, textTables: texts.next(of: entity.layout)
      ) { try body(position, &$0) }
    }
  }

  /// Calls `body` with the records in the order of `index` within `bounds`, until it returns false.
  @usableFromInline
  func readRecords<E: Entity, each Value: Sendable>(
    _ index: EntityIndex<E, repeat each Value>, within bounds: IndexBounds<repeat each Value>,
    isReversed: Bool, _ body: (inout RecordReader) throws -> Bool
  ) throws(StoreError) {
    let (entity, stored) = try core.resolve(index)
    var texts = SharedTexts()
    defer { texts.deallocate() }
    try core.walk(
      stored, of: entity, lower: try index.lowerBound(of: bounds),
      upper: try index.upperBound(of: bounds), isReversed: isReversed
    ) { (id) throws(StoreError) in
      guard let bytes = try core.record(id, of: entity) else { throw missing(id, entity, stored) }
      return try wrappingErrors {
        try core.withReader(
          bytes, id: id, of: entity, textTables: texts.next(of: entity.layout), body)
      }
    }
  }

  /// Returns whether `limit` is greater than 0; throws if it is negative, as for a query.
  @usableFromInline
  func isPositive(limit: Int) throws(StoreError) -> Bool {
    guard limit >= 0 else { throw .badQuery("the limit is \(limit)") }
    return limit > 0
  }

  func missing(_ id: UInt64, _ entity: StoredEntity, _ index: StoredIndex) -> StoreError {
    .damagedIndex(index.name, "it leads to \(entity.name) \(id), which is not there")
  }
}
