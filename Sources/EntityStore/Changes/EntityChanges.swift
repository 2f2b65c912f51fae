internal import LMDB
internal import LodestoreFormat
import LodestoreSystem

/// Every change of the records of one entity within one transaction.
///
/// All paths that write records go through here, one record at a time or, for many, through a
/// ``ChangeBatch``. These paths find and order the records. This class alone ensures that:
///
/// - stored bytes are checked before use (``StoredRecord``);
/// - new bytes are checked against the entity's constraints and sealed with their checksum
///   (``SealedRecord``);
/// - unique keys are checked, and index entries kept: a function of the old record and the new one,
///   either of which may be absent, which writes only the difference;
/// - the mark for imports that rely on the records is updated (`ChangeMark.swift`), and ids of removed
///   records are not given again (`RecordCounter.swift`);
/// - the digest and the size of the records are updated (``ContentLedger``);
/// - sinks hear of each change (``ChangeSink``), where there are any.
///
/// Records are written in `RecordWriting.swift`, index entries in `IndexWriting.swift`, and nowhere
/// else.
final class EntityChanges {
  /// Owns this, and so outlives it.
  unowned(unsafe) let core: WriteCore
  let entity: StoredEntity
  /// The sinks interested in this entity.
  let listeners: ChangeListeners
  /// ``ChangeListeners/isAny``, which is needed for each record.
  let hasListeners: Bool
  let records: RecordTree
  let verifiesChecksums: Bool
  /// Checks new records against constraints; `nil` where there are none.
  private let validator: RecordValidator?
  /// Whether new records are checked against rules across attributes.
  private let hasRules: Bool
  /// Whether indexes are being built, which have entries of some of the records.
  let isBuilding: Bool
  /// These indexes, once they have been asked for; see ``building()``.
  var knownBuilding: [BuildingIndex]?
  /// The keys that the record loses and gets whose turn it is; memory that is used again.
  @exclusivity(unchecked) private(set) var keys = KeyChange()
  /// The memory of records that are to be written.
  @exclusivity(unchecked) var scratch = RecordScratch()
  /// The rules across attributes, once they have been asked for; see ``rules()``.
  private var madeRules: (any RecordRules)?

  init(of entity: StoredEntity, core: WriteCore) {
    self.core = core
    self.entity = entity
    listeners = ChangeListeners(core.state.sinks, of: entity)
    hasListeners = listeners.isAny
    records = RecordTree(of: entity, core)
    verifiesChecksums = core.verifiesChecksums(of: entity)
    validator = core.checksRules ? entity.validator : nil
    hasRules = core.checksRules && !entity.description.rules.isEmpty
    isBuilding = !entity.building.isEmpty
  }

  // MARK: Rules

  /// Whether new records are checked against constraints.
  var hasConstraints: Bool { validator != nil || hasRules }

  private func rules() throws(StoreError) -> (any RecordRules)? {
    if let madeRules { return madeRules }
    madeRules = try core.rules(of: entity)
    return madeRules
  }

  /// Throws ``StoreError/Code/invalidValue`` when a record of the current layout, about to be written,
  /// breaks constraints or rules across attributes, with all of them.
  ///
  /// - Parameters:
  ///   - id: which the record has or will have, for rules that name it.
  ///   - isNew: whether there is no record with this id yet: then the error names none.
  @inline(__always)
  func check(_ view: RecordView, id: UInt64, isNew: Bool = false) throws(StoreError) {
    if hasRules { return try checkRules(view, id: id, isNew: isNew) }
    if let validator { try validator.check(view, id: isNew ? nil : id) }
  }

  private func checkRules(_ view: RecordView, id: UInt64, isNew: Bool) throws(StoreError) {
    var broken = BrokenRules()
    let told = isNew ? nil : id
    if let validator {
      try broken.collect { () throws(StoreError) in try validator.check(view, id: told) }
    }
    for name in try rules()?.broken(by: view, id: id) ?? [] {
      let violation = RuleViolation(
        entity: entity.name, recordID: told, attribute: nil, rule: name)
      try broken.add(.broken([violation]))
    }
    try broken.check()
  }

  /// The constraint that ``check(_:id:isNew:)`` finds broken; other errors are thrown.
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

  /// Leaves in ``keys`` what record `id` loses and gets; see ``KeyChange``.
  func takeKeys(
    of id: UInt64, from old: RecordView?, to new: RecordView?
  ) throws(StoreError) {
    try keys.take(id, from: old, to: new, in: try indexes(of: id), of: entity, core)
  }

  /// Stores a new record; returns its id.
  func insert(_ record: UnsealedRecord) throws(StoreError) -> UInt64 {
    try insert(derived: try derived(record), as: nil)
  }

  /// Stores a record under an id that it had before it was removed.
  ///
  /// Its derived attributes are derived again, but for the time when it was inserted.
  ///
  /// - Precondition: there is no record with this id, and it is below those that new records get.
  func restore(_ record: UnsealedRecord, id: UInt64) throws(StoreError) {
    _ = try insert(derived: try restored(record), as: id)
  }

  /// - Parameter given: an id that the record had before; `nil` for the next one.
  @inline(__always)
  private func insert(
    derived record: UnsealedRecord, as given: UInt64?
  ) throws(StoreError) -> UInt64 {
    let id = if let given { given } else { try core.newID(of: entity) }
    assert((try? core.record(id, of: entity)) == nil, "no record has the id of a new one")
    try change(id, from: nil, to: try prepare(record, id: id, isNew: true))
    if given == nil {
      core.nextIDs[entity.number] = id + 1
    } else {
      core.noteRestored(id, of: entity)
    }
    return id
  }

  /// Replaces record `id`; returns false, and writes nothing, when it has the same values already.
  func update(_ id: UInt64, to record: UnsealedRecord) throws(StoreError) -> Bool {
    guard let bytes = try core.record(id, of: entity) else {
      throw .noSuchRecord(entity: entity.name, id: id)
    }
    let old = try stored(bytes, id: id, isCarriedOver: entity.derivations != nil)
    guard let new = try prepare(try derived(record, over: old), over: old) else { return false }
    try change(id, from: old, to: new)
    return true
  }

  /// Removes record `id` and its entries, and nothing else; returns whether there was one.
  func erase(_ id: UInt64) throws(StoreError) -> Bool {
    guard let bytes = try core.record(id, of: entity) else { return false }
    try change(id, from: try stored(bytes, id: id), to: nil)
    return true
  }

  /// Makes one change, of which `old` is absent for a new record and `new` for one that goes.
  ///
  /// Everything is checked and told before the first byte is written.
  @inline(__always)
  private func change(
    _ id: UInt64, from old: StoredRecord?, to new: SealedRecord?
  ) throws(StoreError) {
    try takeKeys(of: id, from: old?.view, to: new?.view)
    try keys.checkUnique(except: old?.id, core)
    try keys.checkOwnEntries(of: id, core)
    if hasListeners { try tell(id, old?.view, new?.view) }
    try records.write(new, inPlaceOf: old)
    try core.moveEntries(of: id, by: keys)
  }

  private func tell(
    _ id: UInt64, _ old: RecordView?, _ new: RecordView?
  ) throws(StoreError) {
    // The sinks before the one that throws have noted a change that is not made.
    try core.breakingOnError {
      switch (old, new) {
      case (nil, let new?): try listeners.tellInserted(id, new)
      case (let old?, let new?): try listeners.tellUpdated(id, old, new, core)
      case (let old?, nil): try listeners.tellRemoved(id, old)
      case (nil, nil): break
      }
    }
  }

  /// Throws when ``insert(_:)`` of a record, which has its derived attributes, instead of record `id`
  /// would break a constraint or take another record's unique key.
  func checkRenewal(of id: UInt64, with record: UnsealedRecord) throws(StoreError) {
    let new = try prepare(record, id: try core.newID(of: entity), isNew: true)
    try takeKeys(of: id, from: nil, to: new.view)
    try keys.checkUnique(except: id, core)
  }

  /// Removes every record, in time that does not depend on how many there are unless a sink must see
  /// each.
  func clear() throws(StoreError) {
    if hasListeners { try core.breakingOnError { try tellCleared() } }
    try wrappingErrors {
      try records.empty()
      for index in entity.indexes + entity.building { try index.empty(in: core.transaction) }
    }
  }

  private func tellCleared() throws(StoreError) {
    let count = try core.count(of: entity)
    guard count > 0 else { return }
    try listeners.tellCleared(count)
    guard listeners.wantEachRemoval else { return }
    try core.forEachStored(of: entity) { (id, bytes) throws(StoreError) in
      try listeners.tellClearedRecord(
        id, listeners.wantOldRecords ? try stored(bytes, id: id).view : nil)
    }
  }
}

extension WriteCore {
  /// The changes of `entity` in this transaction.
  func changes(of entity: StoredEntity) -> EntityChanges {
    let state = state
    if let last = state.last {
      if last.entity === entity { return last }
      // Writes of one entity need no table.
      state.others[last.entity.number] = last
    }
    let known = state.others[entity.number].flatMap { $0.entity === entity ? $0 : nil }
    let changes = known ?? EntityChanges(of: entity, core: self)
    state.last = changes
    return changes
  }
}
