internal import LMDB
internal import LodestoreFormat

/// One transaction of a store: the engine's transaction, and the schema as of it.
///
/// One thread at a time, from the beginning to the end of one closure. The public faces are
/// ``Snapshot`` and ``WriteTransaction``, those for tools ``DynamicSnapshot`` and
/// ``DynamicTransaction``.
final class TransactionCore {
  let transaction: Transaction
  let schema: StoredSchema
  let store: StoreCore
  let isWrite: Bool
  /// When the read began, where records expire by that; `nil` in a write, and where no entity
  /// expires.
  let moment: Double?
  /// By entity, the expired records that this read has asked for.
  var expiredRecords: [EntityNumber: ExpiredRecords] = [:]
  /// Next record id by the number of each entity that this transaction has asked for.
  var nextIDs: [EntityNumber: UInt64] = [:]
  /// The values to which this transaction has raised the counters of entities.
  var raisedCounters: [EntityNumber: UInt64] = [:]
  /// The optional trees that this transaction has made.
  var madeTrees: [TreeName: Tree] = [:]
  /// The numbers of the entities whose change mark this transaction has cleared, and the last of
  /// them; ``EntityNumber/none`` before it.
  var notedEntities: Set<EntityNumber> = []
  @exclusivity(unchecked) var notedEntity = EntityNumber.none
  // Used for every record by one thread, and never from within their own use: a check of each
  // access would show in every walk and batch.
  @exclusivity(unchecked) var writer: RecordWriter
  @exclusivity(unchecked) var key = KeyEncoder()
  /// The key that a record had before the change; ``key`` is its new one.
  @exclusivity(unchecked) var oldKey = KeyEncoder()
  /// Of the write that this is a run of.
  var savepoints: Savepoints?
  /// Whether a call runs that fails or succeeds as a whole; see ``asOneCall(_:_:)``.
  var isWithinCall = false
  /// How often records or buckets were written.
  @exclusivity(unchecked) var changeCount = 0
  /// Who writes.
  var origin = WriteOrigin()
  /// The steps of the write that the history tells one by one.
  var steps: [WriteStep] = []
  /// The write that this one has taken back, and ``changeCount`` after that; `nil` at the end of
  /// one that has done more.
  var undone: (number: UInt64, changeCount: Int)?
  /// By entity, the records that this write has removed because they had expired.
  var evictedIDs: [EntityNumber: IDRuns] = [:]
  /// Set when a batch failed half-way: this run of the write can only be aborted.
  var brokenBy: StoreError?
  /// The entities whose records the write itself has changed, and the last of them; derived
  /// attributes that the store keeps do not count.
  var writtenEntities: Set<EntityNumber> = []
  @exclusivity(unchecked) var writtenEntity = EntityNumber.none
  /// Whether this run of the write is abandoned, to run again without the part that failed.
  private(set) var isGivenUp = false
  /// The entity type that was looked up last.
  @exclusivity(unchecked) private var lastEntity: (type: ObjectIdentifier, entity: StoredEntity)?
  /// Tells how far a batch is, where somebody wants to know.
  var batchReport: BatchReport?
  /// Notes which entities are read, where somebody wants to know.
  var tracker: ReadTracker?
  /// Given the runs of queries, where somebody measures them.
  var runs: LastRun?
  /// The state of `Changes` for the length of a write; see ``ChangeState``.
  @exclusivity(unchecked) var changeState: AnyObject?
  /// For reads only: a write moves the pages that a search goes through.
  @exclusivity(unchecked) private var points: PointLookup?

  init(transaction: Transaction, schema: StoredSchema, store: StoreCore, isWrite: Bool) {
    self.transaction = transaction
    self.schema = schema
    self.store = store
    self.isWrite = isWrite
    moment = !isWrite && schema.hasExpiry ? store.options.moment : nil
    writer = RecordWriter(sizeLimit: store.options.recordSizeLimitInBytes)
    if !isWrite { points = PointLookup(transaction) }
  }

  /// The number of the commit that is seen; of a write the one that it will have.
  var commitNumber: CommitNumber { CommitNumber(transaction.id) }

  /// Abandons this run of the write: every call that names an entity is refused from now on, since
  /// it would see half-done changes.
  func giveUp() {
    isGivenUp = true
    lastEntity = nil
  }

  // MARK: Entities

  func entity<E: Entity>(_: E.Type) throws(StoreError) -> StoredEntity {
    let type = ObjectIdentifier(E.self)
    if let last = lastEntity, last.type == type { return last.entity }
    let entity = try findEntity(E.self)
    lastEntity = (type, entity)
    return entity
  }

  private func findEntity<E: Entity>(_ type: E.Type) throws(StoreError) -> StoredEntity {
    let entity = try lookUp(type)
    tracker?.note(entity.number)
    return entity
  }

  private func lookUp<E: Entity>(_: E.Type) throws(StoreError) -> StoredEntity {
    guard !isGivenUp else { throw .givenUp }
    guard let name = store.name(of: E.self) else { throw .undeclared(E.schema.name) }
    guard schema.misfits.isEmpty || !schema.misfits.contains(name) else {
      throw .changedElsewhere(name)
    }
    return try entity(named: name)
  }

  func entity(named name: String) throws(StoreError) -> StoredEntity {
    guard let entity = schema.entity(named: name) else {
      throw .unknownEntity(name, known: schema.entities.map(\.name))
    }
    return entity
  }

  // MARK: Records

  /// The bytes of record `id`, valid until the next change; `nil` where there is none, or a read
  /// leaves it out as expired.
  func record(
    _ id: UInt64, of entity: StoredEntity
  ) throws(StoreError) -> UnsafeRawBufferPointer? {
    if let expired = try expired(of: entity), expired.contains(id) { return nil }
    return try storedRecord(id, of: entity)
  }

  /// The bytes of record `id`, expired or not: for runs of plans, whose conditions leave expired
  /// records out.
  @inline(__always)
  func storedRecord(
    _ id: UInt64, of entity: StoredEntity
  ) throws(StoreError) -> UnsafeRawBufferPointer? {
    do {
      if let found = try points?.record(id, of: entity) { return found }
      return try transaction.get(id, in: entity.records)
    } catch {
      throw StoreError(error)
    }
  }

  /// Calls `body` with the cursor at each of the records with `ids`, which ascend, that is there.
  @inline(__always)
  func forEachStored(
    _ ids: [UInt64], of entity: StoredEntity, _ body: (UInt64, Cursor) throws -> Void
  ) throws {
    assert(
      zip(ids, ids.dropFirst()).allSatisfy(<=), "ids ascend, so that each page is visited once")
    let cursor = try Cursor(entity.records, in: transaction)
    var count = 0
    for id in ids {
      if try cursor.seek(id) { try body(id, cursor) }
      count &+= 1
      if count & 1_023 == 0 { try checkCancellation(of: entity) }
    }
  }

  /// How many records the file has of `entity`, expired ones included.
  func count(of entity: StoredEntity) throws(StoreError) -> Int {
    do {
      return try transaction.count(of: entity.records)
    } catch {
      throw StoreError(error)
    }
  }

  /// How many records of `entity` are not expired.
  func presentCount(of entity: StoredEntity) throws(StoreError) -> Int {
    max(0, try count(of: entity) - (try expired(of: entity)?.ids.count ?? 0))
  }

  func decode<E: Entity>(
    _: E.Type, _ bytes: UnsafeRawBufferPointer, id: UInt64, of entity: StoredEntity
  ) throws(StoreError) -> E {
    try withCurrentLayout(bytes, id: id, of: entity) { (view) throws(StoreError) in
      try decode(E.self, view, id: id, of: entity)
    }
  }

  /// Decodes a record of the layout that values are read from.
  @inline(__always)
  func decode<E: Entity>(
    _: E.Type, _ view: RecordView, id: UInt64, of entity: StoredEntity
  ) throws(StoreError) -> E {
    var reader = RecordReader(view, entity: entity.label, recordID: id)
    return try E.read(from: &reader)
  }

  /// Calls `body` with the record in the layout that values of the program's type are read from; it
  /// is valid until `body` returns.
  @inline(__always)
  func withCurrentLayout<R>(
    _ bytes: UnsafeRawBufferPointer, id: UInt64, of entity: StoredEntity,
    _ body: (RecordView) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let view = try entity.view(bytes, id: id)
    if store.options.verifiesChecksums { try entity.verifyChecksum(of: view, id: id) }
    return try withReadLayout(view, id: id, of: entity, body)
  }

  /// Calls `body` in the same way with a record whose checksum need not be checked.
  @inline(__always)
  func withReadLayout<R>(
    _ view: RecordView, id: UInt64, of entity: StoredEntity,
    _ body: (RecordView) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    if view.isOf(entity.readLayout) { return try body(view) }
    let carried = try carriedOver(view, id: id, of: entity, to: entity.readLayout)
    return try carried.withBytes { (bytes) throws(StoreError) in
      try body(try entity.view(carriedOver: bytes, id: id))
    }
  }

  /// A record of an older layout, written in the current one, or in `layout`.
  func carriedOver(
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

  /// The id of the record that holds `tuple` in a unique index.
  func holder(
    of tuple: UnsafeRawBufferPointer, in index: StoredIndex
  ) throws(StoreError) -> UInt64? {
    do {
      guard let bytes = try transaction.get(tuple, in: index.tree) else { return nil }
      guard bytes.count == 8 else {
        throw StoreError.damagedIndex(index.name, "an entry's body has \(bytes.count) bytes, not 8")
      }
      return bytes._uint64(at: 0)
    } catch {
      throw StoreError(wrapping: error)
    }
  }
}

/// The run of a query that was begun last, for who measures; not those that are parts of others.
final class LastRun {
  /// A `PlanRun`.
  var run: AnyObject?
}
