internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// One transaction of a store: the engine's transaction with its schema.
///
/// This class contains everything for a read. The subclass ``TreeWriteCore`` adds the writing of
/// trees, and its subclass ``WriteCore`` the changes of records. A read can therefore change
/// nothing.
///
/// Only one thread at a time uses a transaction, within one closure. The public interfaces are
/// ``Snapshot`` and ``WriteTransaction``, those for tools ``DynamicSnapshot`` and
/// ``DynamicTransaction``.
class TransactionCore: RecordDecoding {
  final let transaction: Transaction
  final let schema: StoredSchema
  final let store: StoreCore
  final let isWrite: Bool
  /// The time at which the read began, for expiry; `nil` in a write, and when no entity expires.
  final let moment: Double?
  /// The expired records that this read has looked up, by entity.
  final var expiredRecords: [EntityNumber: ExpiredRecords] = [:]
  // Only one thread uses the transaction, never recursively. Exclusivity checks would slow down
  // every walk and batch.
  @exclusivity(unchecked) final var key = KeyEncoder()
  /// The time of the transaction, in seconds since 2001; read once, and equal for all its records.
  final private(set) lazy var time = OwnedThread.time ?? DynamicValue.currentTime
  /// The Swift type and the stored entity of the last lookup, cached.
  @exclusivity(unchecked) private final var lastEntity:
    (type: ObjectIdentifier, entity: StoredEntity)?
  /// Collects the entities that are read; `nil` when nobody needs them.
  final var tracker: ReadTracker?
  /// Receives each run of a query and keeps the last one; `nil` when nobody measures.
  final var lastRun: LastRun?
  /// The lookup of single records, for reads only; a write moves the pages that it searches.
  @exclusivity(unchecked) private final var points: PointLookup?

  init(reading transaction: Transaction, schema: StoredSchema, store: StoreCore) {
    self.transaction = transaction
    self.schema = schema
    self.store = store
    isWrite = false
    moment = schema.hasExpiry ? store.options.moment : nil
    points = PointLookup(transaction)
  }

  /// Creates the transaction of a ``TreeWriteCore``.
  init(writing transaction: Transaction, schema: StoredSchema, store: StoreCore) {
    self.transaction = transaction
    self.schema = schema
    self.store = store
    isWrite = true
    moment = nil
  }

  /// Returns the optional tree `name`; `nil` when the store has none, which equals an empty tree.
  func tree(_ name: TreeName) -> Tree? {
    precondition(name.isOptional, "\(name.text) is in every store")
    return schema.optionalTrees[name]
  }

  /// The number of the visible commit; in a write, the number of its future commit.
  final var commitNumber: CommitNumber { CommitNumber(transaction.id) }

  /// Brings all trees up to date before a query searches them.
  ///
  /// The trees of a read are always up to date. A write may have collected entries.
  func prepareSearch() throws(StoreError) {}

  /// Throws when this run of a write has been abandoned; never in a read.
  ///
  /// The call comes before the first lookup of each entity.
  func checkNotAbandoned() throws(StoreError) {}

  /// Forgets the cached entity, so that the next call looks an entity up again.
  final func forgetEntity() { lastEntity = nil }

  // MARK: Entities

  final func entity<E: Entity>(_: E.Type) throws(StoreError) -> StoredEntity {
    let type = ObjectIdentifier(E.self)
    if let last = lastEntity, last.type == type { return last.entity }
    let entity = try findEntity(E.self)
    lastEntity = (type, entity)
    return entity
  }

  private final func findEntity<E: Entity>(_ type: E.Type) throws(StoreError) -> StoredEntity {
    let entity = try lookUp(type)
    tracker?.note(entity.number)
    return entity
  }

  private final func lookUp<E: Entity>(_: E.Type) throws(StoreError) -> StoredEntity {
    try checkNotAbandoned()
    guard let name = store.name(of: E.self) else { throw .undeclared(E.schema.name) }
    guard schema.misfits.isEmpty || !schema.misfits.contains(name) else {
      throw .changedElsewhere(name)
    }
    return try entity(named: name)
  }

  final func entity(named name: String) throws(StoreError) -> StoredEntity {
    guard let entity = schema.entity(named: name) else {
      throw .unknownEntity(name, known: schema.entities.map(\.name))
    }
    return entity
  }

  // MARK: Records

  /// Returns the bytes of record `id`, valid until the next change.
  ///
  /// Returns `nil` when the record does not exist or has expired.
  final func record(_ id: UInt64, of entity: StoredEntity) throws(StoreError) -> ByteView? {
    if let expired = try expired(of: entity), expired.contains(id) { return nil }
    return try storedRecord(id, of: entity)
  }

  /// Returns the bytes of record `id`, even if it has expired.
  ///
  /// Runs of plans use this function, because their conditions exclude expired records.
  @inline(__always)
  final func storedRecord(_ id: UInt64, of entity: StoredEntity) throws(StoreError) -> ByteView? {
    do {
      if let found = try points?.record(id, of: entity) { return found }
      return try transaction.get(id, in: entity.records)
    } catch {
      throw StoreError(error)
    }
  }

  /// Calls `body` with the cursor at each existing record of the ascending `ids`.
  @inline(__always)
  final func forEachStored(
    _ ids: [UInt64], of entity: StoredEntity, _ body: (UInt64, Cursor) throws -> Void
  ) throws {
    let cursor = try Cursor(entity.records, in: transaction)
    try forEachStored(ids, of: entity, at: cursor) { id in try body(id, cursor) }
  }

  /// Calls `body` for each existing record of the ascending `ids`, with `cursor` at the record.
  @inline(__always)
  final func forEachStored(
    _ ids: [UInt64], of entity: StoredEntity, at cursor: Cursor, _ body: (UInt64) throws -> Void
  ) throws {
    assert(
      zip(ids, ids.dropFirst()).allSatisfy(<=), "ids ascend, so that each page is visited once")
    var count = 0
    for id in ids {
      if try cursor.seek(id) { try body(id) }
      count &+= 1
      if count & 1_023 == 0 { try checkCancellation(of: entity) }
    }
  }

  /// Returns the ids among `ids` that are records of `entity`.
  ///
  /// The ids must ascend.
  final func present(
    _ ids: [UInt64], of entity: StoredEntity
  ) throws(StoreError) -> [UInt64] {
    var present: [UInt64] = []
    present.reserveCapacity(ids.count)
    try wrappingErrors {
      try forEachStored(ids, of: entity) { id, _ in
        if present.last != id { present.append(id) }
      }
    }
    return present
  }

  /// Returns the number of records of `entity` in the file, including expired ones.
  final func count(of entity: StoredEntity) throws(StoreError) -> Int {
    return try wrappingErrors { try transaction.count(of: entity.records) }
  }

  /// Returns the total length of the records of `entity`, which must have a limit on bytes.
  func size(of entity: StoredEntity) throws(StoreError) -> Int {
    try wrappingErrors {
      try ContentLedger.storedSize(of: entity.number, store.trees, in: transaction)
    }
  }

  /// Returns the number of records of `entity` that have not expired.
  final func presentCount(of entity: StoredEntity) throws(StoreError) -> Int {
    max(0, try count(of: entity) - (try expired(of: entity)?.ids.count ?? 0))
  }

  final func decode<E: Entity>(
    _: E.Type, _ bytes: ByteView, id: UInt64, of entity: StoredEntity
  ) throws(StoreError) -> E {
    try withCurrentLayout(bytes, id: id, of: entity) { (view) throws(StoreError) in
      try decode(E.self, view, id: id, of: entity)
    }
  }

  /// Decodes a record that is already in ``StoredEntity/decodingLayout``.
  @inline(__always)
  final func decode<E: Entity>(
    _: E.Type, _ view: RecordView, id: UInt64, of entity: StoredEntity
  ) throws(StoreError) -> E {
    var reader = RecordReader(view, entity: entity.label, recordID: id)
    return try E.read(from: &reader)
  }

  /// Calls `body` with the record, converted to ``StoredEntity/decodingLayout`` if it has another
  /// layout.
  ///
  /// The view is valid until `body` returns.
  @inline(__always)
  final func withCurrentLayout<R>(
    _ bytes: ByteView, id: UInt64, of entity: StoredEntity,
    _ body: (RecordView) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let view = try entity.view(bytes, id: id, verifying: store.options.verifiesChecksums)
    return try withDecodingLayout(view, id: id, of: entity, body)
  }

  /// Calls `body` with the record, converted to ``StoredEntity/decodingLayout`` if it has another
  /// layout, without checking its checksum.
  @inline(__always)
  final func withDecodingLayout<R>(
    _ view: RecordView, id: UInt64, of entity: StoredEntity,
    _ body: (RecordView) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    if view.isOf(entity.decodingLayout) { return try body(view) }
    let carried = try carriedOver(view, id: id, of: entity, to: entity.decodingLayout)
    return try carried._withBytes { (bytes) throws(StoreError) in
      try body(try entity.view(carriedOver: bytes, id: id))
    }
  }

  /// Converts a record of an older layout to the current layout, or to `layout`.
  final func carriedOver(
    _ view: RecordView, id: UInt64, of entity: StoredEntity, to layout: RecordLayout? = nil
  ) throws(StoreError) -> [UInt8] {
    let layout = layout ?? entity.layout
    do {
      return try layout.record(id: id, values: try entity.values(of: view, in: layout))
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
  }

  // MARK: Keys

  /// Returns the id of the record with the key `tuple` in a unique index.
  final func holder(of tuple: ByteView, in index: StoredIndex) throws(StoreError) -> UInt64? {
    do {
      guard let bytes = try transaction.get(tuple, in: index.tree) else { return nil }
      guard bytes.count == 8 else {
        throw StoreError.damagedIndex(index.name, "an entry's body has \(bytes.count) bytes, not 8")
      }
      return bytes.uint64(at: 0)
    } catch {
      throw StoreError(wrapping: error)
    }
  }
}
