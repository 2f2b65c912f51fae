internal import LMDB
internal import LodestoreFormat
import LodestoreSystem

/// Every change of one entity's records within one transaction.
///
/// All code paths that write records use this class for one record at a time. For many records they
/// use a ``ChangeBatch``, and for many new records a ``BulkInsert``. The paths find and order the
/// records. This class and these two ensure the following:
///
/// - Stored bytes are checked before use (``StoredRecord``).
/// - Derived attributes are computed (``DerivedRecord``).
/// - New bytes are checked against the entity's constraints and sealed with their checksum
///   (``SealedRecord``; in a batch also ``NewRecord`` and ``NewRecords``).
/// - Unique keys are checked and index entries maintained. The entries are a function of the old
///   and the new record, either of which may be absent; only the difference is written.
/// - The mark for imports that rely on the records is updated (`ChangeMark.swift`).
/// - The digest and the size of the records are updated (``ContentLedger``).
/// - Sinks are informed of each change (``ChangeSink``).
///
/// Records are written in `RecordTree.swift`, index entries in `IndexWriter.swift`, and nowhere
/// else.
final class EntityChanges {
  /// The owner of this object; it lives at least as long as this object.
  unowned(unsafe) let core: WriteCore
  let entity: StoredEntity
  /// The sinks interested in this entity.
  let listeners: ChangeListeners
  /// The value of ``ChangeListeners/isAny``, which is needed for each record.
  let hasListeners: Bool
  let records: RecordTree
  let verifiesChecksums: Bool
  /// Checks new records against constraints; `nil` when the entity has no constraints.
  private let validator: RecordValidator?
  /// Whether new records are checked against record rules.
  private let hasRules: Bool
  /// Whether the entity has indexes under construction, which have entries for some of the records.
  let isBuilding: Bool
  /// The cached result of ``building()``.
  var knownBuilding: [BuildingIndex]?
  /// The removed and added keys of the current record; its memory is reused.
  @exclusivity(unchecked) private var keys = KeyChange()
  /// The memory for records that are to be written.
  @exclusivity(unchecked) var scratch = RecordScratch()
  /// The cached result of ``rules()``.
  private var cachedRules: RecordRules?

  init(of entity: StoredEntity, core: WriteCore) {
    self.core = core
    self.entity = entity
    listeners = ChangeListeners(core.sinks, of: entity)
    hasListeners = listeners.isAny
    records = RecordTree(of: entity, core)
    verifiesChecksums = core.verifiesChecksums(of: entity)
    validator = core.checksRules ? entity.validator : nil
    hasRules = core.checksRules && !entity.description.rules.isEmpty
    isBuilding = !entity.building.isEmpty
  }

  // MARK: Rules

  /// Whether new records are checked against constraints or record rules.
  var hasConstraints: Bool { validator != nil || hasRules }

  private func rules() throws(StoreError) -> RecordRules? {
    if let cachedRules { return cachedRules }
    cachedRules = try core.rules(of: entity)
    return cachedRules
  }

  /// Returns whether a rule that is checked before a record is written reads the id of the record.
  func rulesReadID() throws(StoreError) -> Bool {
    hasRules ? try rules()?.readID ?? false : false
  }

  /// Throws ``StoreError/Code/invalidValue`` when a record breaks constraints or record rules.
  ///
  /// The record has the current layout and is about to be written. The error lists all broken
  /// rules.
  ///
  /// - Parameters:
  ///   - id: the present or future id of the record, for rules that use it.
  ///   - isNew: whether the record is new; the error then contains no id.
  @inline(__always)
  func check(_ view: RecordView, id: UInt64, isNew: Bool = false) throws(StoreError) {
    if hasRules { return try checkRules(view, id: id, isNew: isNew) }
    if let validator { try validator.check(view, id: isNew ? nil : id) }
  }

  private func checkRules(_ view: RecordView, id: UInt64, isNew: Bool) throws(StoreError) {
    var broken = BrokenRules()
    let reported = isNew ? nil : id
    if let validator {
      try broken.collect { () throws(StoreError) in try validator.check(view, id: reported) }
    }
    for name in try rules()?.broken(by: view, id: id) ?? [] {
      let violation = RuleViolation(
        entity: entity.name, recordID: reported, attribute: nil, rule: name)
      try broken.add(.broken([violation]))
    }
    try broken.check()
  }

  /// Returns the error of ``check(_:id:isNew:)`` for a broken constraint or rule; throws other
  /// errors.
  func refusal(
    of view: RecordView, id: UInt64, isNew: Bool = false
  ) throws(StoreError) -> StoreError? {
    do {
      try check(view, id: id, isNew: isNew)
      return nil
    } catch  where error.code == .invalidValue {
      return error
    }
  }

  // MARK: One record

  /// Sets ``keys`` to the removed and added keys of record `id`; see ``KeyChange``.
  private func takeKeys(
    of id: UInt64, from old: RecordView?, to new: RecordView?
  ) throws(StoreError) {
    try keys.take(id, from: old, to: new, in: try indexes(of: id), of: entity, core)
  }

  /// Calls `body` with the removed and added keys of record `id`, without making the change.
  func withKeys<R>(
    of id: UInt64, from old: RecordView?, to new: RecordView?,
    _ body: (borrowing KeyChange) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try takeKeys(of: id, from: old, to: new)
    return try body(keys)
  }

  /// Inserts a record; returns its id.
  func insert(_ record: UnsealedRecord) throws(StoreError) -> UInt64 {
    let record = try derived(record)
    let id = try core.newID(of: entity)
    try insert(derived: record, under: id)
    core.takeIDs(below: id + 1, of: entity)
    return id
  }

  /// Inserts a new record under an id that an import has taken for it.
  ///
  /// Other records of the import may already have links with this id.
  ///
  /// - Precondition: no record has had this id.
  func insert(_ record: UnsealedRecord, under id: UInt64) throws(StoreError) {
    assert((try? core.nextID(of: entity)).map { id < $0 } ?? true, "the id has been taken")
    try insert(derived: try derived(record), under: id)
  }

  /// Inserts a record under the id that it had before it was deleted.
  ///
  /// Its derived attributes are recomputed, except the time of its first insertion.
  ///
  /// - Precondition: no record has this id, and the id is below those of future new records.
  func restore(_ record: UnsealedRecord, id: UInt64) throws(StoreError) {
    try insert(derived: try restored(record), under: id)
    core.noteRestored(id, of: entity)
  }

  /// Inserts a record of another store under the id that it has there.
  ///
  /// - Precondition: no record has this id, and the id is below those of future new records.
  func replay(_ record: RecordView, id: UInt64) throws(StoreError) {
    try insert(derived: try replayed(record, id: id), under: id)
    core.noteRestored(id, of: entity)
  }

  @inline(__always)
  private func insert(derived record: DerivedRecord, under id: UInt64) throws(StoreError) {
    assert((try? core.record(id, of: entity)) == nil, "no record has the id of a new one")
    try change(id, from: nil, to: try prepare(record, id: id, isNew: true))
  }

  /// Replaces record `id`; returns false, and writes nothing, when the values are equal.
  func update(_ id: UInt64, to record: UnsealedRecord) throws(StoreError) -> Bool {
    guard let bytes = try core.record(id, of: entity) else {
      throw .noSuchRecord(entity: entity.name, id: id)
    }
    let old = try stored(bytes, id: id)
    guard let new = try prepare(try derived(record, over: old), over: old) else { return false }
    try change(id, from: old, to: new)
    return true
  }

  /// Removes record `id` and its index entries, without applying delete rules.
  ///
  /// Returns whether the record existed.
  func erase(_ id: UInt64) throws(StoreError) -> Bool {
    guard let bytes = try core.record(id, of: entity) else { return false }
    try change(id, from: try stored(bytes, id: id), to: nil)
    return true
  }

  /// Makes one change; `old` is nil for a new record, and `new` for a removed one.
  ///
  /// Everything is checked, and reported to the sinks, before the first byte is written.
  @inline(__always)
  private func change(
    _ id: UInt64, from old: StoredRecord?, to new: SealedRecord?
  ) throws(StoreError) {
    assert((old?.id ?? id) == id && (new?.id ?? id) == id, "a change concerns one record")
    try takeKeys(of: id, from: old?.view, to: new?.view)
    try keys.checkUnique(except: old?.id, core)
    try keys.checkOwnEntries(of: id, core)
    do throws(StoreError) {
      if hasListeners { try report(id, old?.view, new?.view) }
      try records.write(new, inPlaceOf: old)
    } catch {
      // The sinks have already received the change that fails here, so the run must be aborted.
      if hasListeners { core.breakRun(by: error) }
      throw error
    }
    try core.moveEntries(of: id, by: keys)
  }

  private func report(_ id: UInt64, _ old: RecordView?, _ new: RecordView?) throws(StoreError) {
    switch (old, new) {
    case (nil, let new?): try listeners.reportInserted(id, new)
    case (let old?, let new?): try listeners.reportUpdated(id, old, new, core)
    case (let old?, nil): try listeners.reportRemoved(id, old)
    case (nil, nil): break
    }
  }

  /// Throws when ``insert(_:)`` of `record`, in place of record `id`, would break a constraint or a
  /// unique key.
  func checkReinsertion(of id: UInt64, with record: DerivedRecord) throws(StoreError) {
    let new = try prepare(record, id: try core.newID(of: entity), isNew: true)
    try takeKeys(of: id, from: nil, to: new.view)
    try keys.checkUnique(except: id, core)
  }

  /// Removes every record, in constant time unless a sink needs each record.
  func clear() throws(StoreError) {
    try core.breakingOnError {
      if hasListeners { try reportCleared() }
      try records.empty()
      for index in entity.indexes + entity.building { try index.empty(in: core.writing) }
    }
  }

  private func reportCleared() throws(StoreError) {
    let count = try core.count(of: entity)
    guard count > 0 else { return }
    try listeners.reportCleared(count)
    guard listeners.wantEachRemoval else { return }
    try core.forEachStored(of: entity) { (id, bytes) throws(StoreError) in
      try listeners.reportClearedRecord(
        id, listeners.wantOldRecords ? try stored(bytes, id: id).view : nil)
    }
  }
}
