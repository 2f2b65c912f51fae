internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// One transaction of a store: the engine's transaction, and the schema as of it.
///
/// Has what a read needs. A write is a ``WriteCore``, which adds its changes, so that a read cannot
/// make one.
///
/// One thread at a time, from the beginning to the end of one closure. The public faces are
/// ``Snapshot`` and ``WriteTransaction``, those for tools ``DynamicSnapshot`` and
/// ``DynamicTransaction``.
class TransactionCore {
  final let transaction: Transaction
  final let schema: StoredSchema
  final let store: StoreCore
  final let isWrite: Bool
  /// When the read began, where records expire by that; `nil` in a write, and where no entity
  /// expires.
  final let moment: Double?
  /// By entity, the expired records that this read has asked for.
  final var expiredRecords: [EntityNumber: ExpiredRecords] = [:]
  /// Entries of indexes that a write writes before they are read; `nil` in a read, which has none.
  final var pendingEntries: (any PendingEntries)?
  // Used for every record by one thread, and never from within its own use: a check of each
  // access would show in every walk and batch.
  @exclusivity(unchecked) final var key = KeyEncoder()
  /// When the transaction first asked for the time, in seconds since 2001; one for all its records.
  final private(set) lazy var time = DynamicValue.currentTime
  /// Whether this run of a write is abandoned, to run again without the part that failed.
  private final var isGivenUp = false
  /// The entity type that was looked up last.
  @exclusivity(unchecked) private final var lastEntity:
    (type: ObjectIdentifier, entity: StoredEntity)?
  /// Notes which entities are read, where somebody wants to know.
  final var tracker: ReadTracker?
  /// Given the runs of queries, where somebody measures them.
  final var runs: LastRun?
  /// For reads only: a write moves the pages that a search goes through.
  @exclusivity(unchecked) private final var points: PointLookup?

  init(reading transaction: Transaction, schema: StoredSchema, store: StoreCore) {
    self.transaction = transaction
    self.schema = schema
    self.store = store
    isWrite = false
    moment = schema.hasExpiry ? store.options.moment : nil
    points = PointLookup(transaction)
  }

  /// For ``WriteCore``.
  init(writing transaction: Transaction, schema: StoredSchema, store: StoreCore) {
    self.transaction = transaction
    self.schema = schema
    self.store = store
    isWrite = true
    moment = nil
  }

  /// The optional tree `name`; `nil` when the store has none, which is the same as an empty one.
  func tree(_ name: TreeName) -> Tree? {
    precondition(name.isOptional, "\(name.text) is in every store")
    return schema.optionalTrees[name]
  }

  /// The number of the commit that is seen; of a write the one that it will have.
  final var commitNumber: CommitNumber { CommitNumber(transaction.id) }

  /// Abandons this run of the write: every call that names an entity is refused from now on, since
  /// it would see half-done changes.
  final func giveUp() {
    isGivenUp = true
    lastEntity = nil
  }

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
    guard !isGivenUp else { throw .givenUp }
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

  /// The bytes of record `id`, valid until the next change; `nil` where there is none, or a read
  /// leaves it out as expired.
  final func record(
    _ id: UInt64, of entity: StoredEntity
  ) throws(StoreError) -> ByteView? {
    if let expired = try expired(of: entity), expired.contains(id) { return nil }
    return try storedRecord(id, of: entity)
  }

  /// The bytes of record `id`, expired or not: for runs of plans, whose conditions leave expired
  /// records out.
  @inline(__always)
  final func storedRecord(
    _ id: UInt64, of entity: StoredEntity
  ) throws(StoreError) -> ByteView? {
    do {
      if let found = try points?.record(id, of: entity) { return found }
      return try transaction.get(id, in: entity.records)
    } catch {
      throw StoreError(error)
    }
  }

  /// Calls `body` with the cursor at each of the records with `ids`, which ascend, that is there.
  @inline(__always)
  final func forEachStored(
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
  final func count(of entity: StoredEntity) throws(StoreError) -> Int {
    return try wrappingErrors { try transaction.count(of: entity.records) }
  }

  /// How many records of `entity` are not expired.
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

  /// Decodes a record of the layout that values are read from.
  @inline(__always)
  final func decode<E: Entity>(
    _: E.Type, _ view: RecordView, id: UInt64, of entity: StoredEntity
  ) throws(StoreError) -> E {
    var reader = RecordReader(view, entity: entity.label, recordID: id)
    return try E.read(from: &reader)
  }

  /// Calls `body` with the record in the layout that values of the program's type are read from; it
  /// is valid until `body` returns.
  @inline(__always)
  final func withCurrentLayout<R>(
    _ bytes: ByteView, id: UInt64, of entity: StoredEntity,
    _ body: (RecordView) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let view = try entity.view(bytes, id: id, verifying: store.options.verifiesChecksums)
    return try withReadLayout(view, id: id, of: entity, body)
  }

  /// Calls `body` in the same way with a record whose checksum need not be checked.
  @inline(__always)
  final func withReadLayout<R>(
    _ view: RecordView, id: UInt64, of entity: StoredEntity,
    _ body: (RecordView) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    if view.isOf(entity.readLayout) { return try body(view) }
    let carried = try carriedOver(view, id: id, of: entity, to: entity.readLayout)
    return try carried._withBytes { (bytes) throws(StoreError) in
      try body(try entity.view(carriedOver: bytes, id: id))
    }
  }

  /// A record of an older layout, written in the current one, or in `layout`.
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

  /// The id of the record that holds `tuple` in a unique index.
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

/// Entries of indexes that a write collects and has not written yet.
protocol PendingEntries: AnyObject {
  /// Writes the entries of all changes so far.
  func write() throws(StoreError)
}

/// The run of a query that was begun last, for who measures; not those that are parts of others.
final class LastRun {
  /// A `PlanRun`.
  var run: AnyObject?
}
