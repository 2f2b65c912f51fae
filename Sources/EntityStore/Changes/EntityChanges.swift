internal import LMDB
internal import LodestoreFormat
import LodestoreSystem

/// Every change of the records of one entity within one transaction.
///
/// All paths that write records go through here, one record at a time or, for many, through a
/// ``ChangeBatch``. These paths find and order the records. This class alone ensures that:
///
/// - stored bytes are checked before use (``stored(_:id:isCarriedOver:)``);
/// - new bytes are checked against the entity's constraints and sealed with their checksum;
/// - unique keys are checked, and index entries kept: a function of the old record and the new one,
///   either of which may be absent, which writes only the difference;
/// - the mark for imports that rely on the records is updated (`ChangeMark.swift`);
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
  /// The digest and the size of the records, which this changes with them.
  let sum: ContentLedger.Sum
  private let verifiesChecksums: Bool
  /// Whether new records are checked against rules across attributes.
  private let hasRules: Bool
  /// Whether indexes are being built, which have entries of some of the records.
  let isBuilding: Bool
  /// These indexes, once they have been asked for; see ``building()``.
  var knownBuilding: [BuildingIndex]?
  /// The rules across attributes, once they have been asked for; see ``rules()``.
  private var madeRules: (any RecordRules)?

  init(of entity: StoredEntity, core: WriteCore) {
    self.core = core
    self.entity = entity
    listeners = ChangeListeners(core.state.sinks, of: entity)
    hasListeners = listeners.isAny
    sum = ContentLedger.of(core).sum(of: .records(entity: entity.number))
    if entity.description.keepsSize { sum.keepsSize = true }
    verifiesChecksums = core.verifiesChecksums(of: entity)
    hasRules = !entity.description.rules.isEmpty
    isBuilding = !entity.building.isEmpty
  }

  // MARK: Stored bytes

  /// A stored record that is about to be changed or removed, as a view of its own layout.
  ///
  /// Its shape is checked always: every slot and every end lies within its bytes. Its checksum is
  /// checked where ``StoreOptions/verifiesChecksums`` says so, and where bytes of it are carried over
  /// into a record with a new checksum, which would make damage look sound; so it is where the history
  /// keeps the record or values of it.
  ///
  /// - Throws: ``StoreError/Code/damaged``, naming the entity and the id.
  @inline(__always)
  func stored(
    _ bytes: UnsafeRawBufferPointer, id: UInt64, isCarriedOver: Bool = false
  ) throws(StoreError) -> RecordView {
    let view = try entity.view(bytes, id: id)
    if verifiesChecksums || isCarriedOver { try entity.verifyChecksum(of: view, id: id) }
    return view
  }

  /// Whether a stored record has sound bytes as far as ``stored(_:id:isCarriedOver:)`` would check
  /// them, for paths that change slots without a view; its shape is checked before.
  @inline(__always)
  func isSound(_ bytes: UnsafeRawBufferPointer, id: UInt64) -> Bool {
    !verifiesChecksums || Checksum.fits(bytes, id: id)
  }

  // MARK: New bytes

  /// Whether new records are checked against constraints.
  var hasConstraints: Bool { entity.validator != nil || hasRules }

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
    if let validator = entity.validator { try validator.check(view, id: isNew ? nil : id) }
  }

  private func checkRules(_ view: RecordView, id: UInt64, isNew: Bool) throws(StoreError) {
    var broken = BrokenRules()
    let told = isNew ? nil : id
    if let validator = entity.validator {
      _ = try broken.collect { () throws(StoreError) in try validator.check(view, id: told) }
    }
    for name in try rules()?.broken(by: view, id: id) ?? [] {
      let violation = RuleViolation(
        entity: entity.name, recordID: told, attribute: nil, rule: name)
      _ = try broken.collect { () throws(StoreError) in throw .broken([violation]) }
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

  /// Stores a new record; returns its id.
  ///
  /// `content` has no checksum yet, and four free bytes after it.
  func insert(_ content: UnsafeMutableRawBufferPointer) throws(StoreError) -> UInt64 {
    try withDerived(content) { (content) throws(StoreError) in try insert(derived: content) }
  }

  /// - Parameter given: an id that the record had before; `nil` for the next one.
  @inline(__always)
  private func insert(
    derived content: UnsafeMutableRawBufferPointer, as given: UInt64? = nil
  ) throws(StoreError) -> UInt64 {
    let id = if let given { given } else { try core.newID(of: entity) }
    let record = try prepare(content, id: id, isNew: true)
    let indexes = try indexes(of: id)
    try core.collectKeys(
      of: record.view, id: id, in: indexes, of: entity, into: &core.newKeys)
    try core.checkUnique(in: indexes, of: entity, id: nil, hasOld: false)
    assert((try? core.record(id, of: entity)) == nil, "no record has the id of a new one")
    try put(record)
    if given == nil {
      core.nextIDs[entity.number] = id + 1
    } else {
      core.noteRestored(id, of: entity)
    }
    try core.moveEntries(in: indexes, id: id, hasOld: false, hasNew: true)
    if hasListeners { try core.breakingOnError { try listeners.tellInserted(id, record.view) } }
    return id
  }

  /// Stores a record under an id that it had before it was removed.
  ///
  /// Its derived attributes are derived again, but for the time when it was inserted.
  ///
  /// - Precondition: there is no record with this id, and it is below those that new records get.
  func restore(
    _ content: UnsafeMutableRawBufferPointer, id: UInt64
  ) throws(StoreError) {
    guard let derivations = entity.derivations else {
      _ = try insert(derived: content, as: id)
      return
    }
    let record = UnsafeRawBufferPointer(
      start: content.baseAddress, count: content.count + RecordLayout.checksumSize)
    let before = try wrappingErrors { try entity.values(of: try entity.view(incoming: record)) }
    var values = before
    try derivations.derive(&values, .insert, of: entity, time: core.time)
    for (position, attribute) in entity.layout.attributes.enumerated()
    where before[position] != .null
      && entity.description.attribute(number: attribute.number)?.derivation?.kind == .inserted
    {
      values[position] = before[position]
    }
    var made = try self.content(of: values)
    try made.withMutableBytes { (bytes) throws(StoreError) in
      _ = try insert(derived: bytes.recordContent, as: id)
    }
  }

  /// Replaces record `id`; returns false, and writes nothing, when it has the same values already.
  func update(
    _ id: UInt64, to content: UnsafeMutableRawBufferPointer
  ) throws(StoreError) -> Bool {
    guard let bytes = try core.record(id, of: entity) else {
      throw .noSuchRecord(entity: entity.name, id: id)
    }
    if entity.derivations == nil {
      return try update(id, bytes, to: content)
    }
    let old = try stored(bytes, id: id, isCarriedOver: true)
    return try withDerived(content, over: old) { (content) throws(StoreError) in
      try update(id, bytes, to: content)
    }
  }

  @inline(__always)
  private func update(
    _ id: UInt64, _ bytes: UnsafeRawBufferPointer, to content: UnsafeMutableRawBufferPointer
  ) throws(StoreError) -> Bool {
    let old = try stored(bytes, id: id)
    let replaced = WrittenRecord(bytes)
    guard let record = try prepare(content, over: old, id: id) else { return false }
    let indexes = try indexes(of: id)
    try core.collectKeys(of: old, id: id, in: indexes, of: entity, into: &core.oldKeys)
    try core.collectKeys(
      of: record.view, id: id, in: indexes, of: entity, into: &core.newKeys)
    try core.checkUnique(in: indexes, of: entity, id: id, hasOld: true)
    try core.checkOwnEntries(in: indexes, of: entity, id: id, hasNew: true)
    if hasListeners { try listeners.tellUpdated(id, old, record.view, core) }
    try core.noteChange(of: entity)
    try put(record, replacing: replaced)
    try core.moveEntries(in: indexes, id: id, hasOld: true, hasNew: true)
    return true
  }

  /// Whether a stored record, of any layout, has the values of `record`, which is sealed and of the
  /// current one.
  func isSame(
    _ stored: RecordView, as record: UnsafeRawBufferPointer, id: UInt64
  ) throws(StoreError) -> Bool {
    if stored.layout === entity.layout { return core.isSame(stored.bytes, record) }
    return try core.carriedOver(stored, id: id, of: entity).withBytes { core.isSame($0, record) }
  }

  /// Throws when ``insert(_:)`` of `record`, instead of record `id`, would break a constraint or take
  /// another record's unique key.
  ///
  /// `content` has four free bytes after it.
  func checkRenewal(
    of id: UInt64, with content: UnsafeMutableRawBufferPointer
  ) throws(StoreError) {
    let record = try prepare(content, id: try core.newID(of: entity), isNew: true)
    let indexes = try indexes(of: id)
    try core.collectKeys(
      of: record.view, id: id, in: indexes, of: entity, into: &core.newKeys)
    try core.checkUnique(in: indexes, of: entity, id: id, hasOld: false)
  }

  /// Removes record `id` and its entries; returns whether there was one.
  func delete(_ id: UInt64) throws(StoreError) -> Bool {
    guard let bytes = try core.record(id, of: entity) else { return false }
    let old = try stored(bytes, id: id)
    let removed = WrittenRecord(bytes)
    let indexes = try indexes(of: id)
    try core.collectKeys(of: old, id: id, in: indexes, of: entity, into: &core.oldKeys)
    try core.checkOwnEntries(in: indexes, of: entity, id: id, hasNew: false)
    if hasListeners { try listeners.tellRemoved(id, old) }
    try core.raiseCounter(of: entity)
    try core.noteChange(of: entity)
    assert(
      core.isCounterRaised(above: id, of: entity), "the id of a removed record is not used again")
    try remove(id, removed)
    try core.moveEntries(in: indexes, id: id, hasOld: true, hasNew: false)
    return true
  }

  /// Removes every record, in time that does not depend on how many there are unless a sink must see
  /// each.
  func clear() throws(StoreError) {
    if hasListeners { try tellCleared() }
    try core.raiseCounter(of: entity)
    try core.noteChange(of: entity)
    try wrappingErrors {
      try empty()
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
        id, listeners.wantOldRecords ? try stored(bytes, id: id) : nil)
    }
  }
}

extension WriteCore {
  /// The changes of `entity` in this transaction.
  func changes(of entity: StoredEntity) -> EntityChanges {
    let state = state
    if let last = state.last, last.entity === entity { return last }
    let changes = EntityChanges(of: entity, core: self)
    state.last = changes
    return changes
  }

  func isSame(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    guard a.count == b.count else { return false }
    guard let left = a.baseAddress, let right = b.baseAddress else { return a.count == 0 }
    return memcmp(left, right, a.count) == 0
  }

  /// Encodes `value`: the record's content, valid until the next one is encoded; four bytes after
  /// it are free.
  func encode<E: Entity>(
    _ value: E, of entity: StoredEntity
  ) throws(StoreError) -> UnsafeMutableRawBufferPointer {
    try writer.encode(value, of: entity)
  }

  func checkSize(_ count: Int, of entity: StoredEntity) throws(StoreError) {
    try writer.checkSize(count, of: entity)
  }
}

extension Array<UInt8> {
  mutating func withMutableBytes<R, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    let result: Result<R, E> = withUnsafeMutableBytes { bytes in
      do throws(E) { return .success(try body(bytes)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
