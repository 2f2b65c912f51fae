internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// A record of the current layout with its checksum, ready to be written under its id.
///
/// Only this file creates sealed records, and passes them on after their rules were checked under
/// their ids. The rules of ``DerivedValues`` and of the records of a stage are checked later.
///
/// Batches of new records write ``NewRecord`` and ``NewRecords`` instead, which are sealed when
/// they are written.
struct SealedRecord {
  let id: UInt64
  let view: RecordView
  /// The use of the memory that created the record.
  private let use: MemoryUses.Use

  var bytes: ByteView { view.bytes }

  /// Whether another record was created in the memory of this one since; only for assertions.
  @inline(__always)
  var isStale: Bool { use.isOver }

  @inline(__always)
  fileprivate init(
    _ record: UnsealedRecord, id: UInt64, of entity: StoredEntity
  ) throws(StoreError) {
    Checksum.seal(record.bytes, id: id)
    try self.init(sealed: record, id: id, of: entity)
  }

  @inline(__always)
  fileprivate init(
    sealed record: UnsealedRecord, id: UInt64, of entity: StoredEntity
  ) throws(StoreError) {
    assert(!record.isStale, "a record is sealed before the next one is created")
    self.id = id
    view = try entity.view(record.raw, id: id)
    use = record.use
  }
}

/// A copy of a sealed record in its own memory, until the record is written.
struct SealedBytes {
  fileprivate let id: UInt64
  fileprivate let bytes: RecordBytes

  init(_ record: SealedRecord) {
    id = record.id
    bytes = RecordBytes(record)
  }
}

/// A new record of the current layout that a batch appends, and seals in its page.
///
/// The rules of the record have been checked. Only this file creates new records, and a
/// ``ChangeBatch`` inserts nothing else.
struct NewRecord {
  let id: UInt64
  let view: RecordView

  @inline(__always)
  fileprivate init(_ view: RecordView, id: UInt64) {
    self.id = id
    self.view = view
  }
}

/// A record to be inserted in place of a removed one, as ``MergeRule/reinsert`` requires.
///
/// The rules of the record were checked before the removal, and none of them reads the id.
struct Reinsertion {
  /// The position of the incoming record in its batch.
  fileprivate let position: Int
  /// The merged record to insert; `nil` when the incoming record is inserted unchanged.
  fileprivate let merged: RecordBytes?
}

/// The outcome of preparing a record that may be refused.
enum PreparedRecord {
  case ready(SealedRecord)
  /// A constraint or a rule refuses the record.
  case refused(StoreError)
}

/// The outcome of preparing a new record that may be refused.
enum PreparedNewRecord {
  case ready(NewRecord)
  /// A constraint or a rule refuses the record.
  case refused(StoreError)
}

extension EntityChanges {
  /// Checks the rules of a new record, and returns the constraint or rule that refuses it.
  ///
  /// - Parameter position: the position of the record in `batch`.
  @inline(__always)
  func prepareOrRefuse(
    new position: Int, of batch: DerivedRecords, id: UInt64
  ) throws(StoreError) -> PreparedNewRecord {
    let view = try batch.records.view(position, of: entity)
    if hasConstraints, let refusal = try refusal(of: view, id: id, isNew: true) {
      return .refused(refusal)
    }
    return .ready(NewRecord(view, id: id))
  }

  /// Checks a record of another store, which a batch appends under the id that it has there.
  @inline(__always)
  func prepare(replaying view: RecordView, id: UInt64) throws(StoreError) -> NewRecord {
    assert(core.purpose == .replay, "only a copy takes the derived attributes of another store")
    try verify(try stored(view.bytes, id: id))
    let current =
      view.layout === entity.layout ? view : try entity.view(try replayed(view, id: id).record)
    try check(current, id: id, isNew: true)
    return NewRecord(current, id: id)
  }

  /// Seals a record and checks its rules.
  ///
  /// - Parameters:
  ///   - id: the present or future id of the record.
  ///   - isNew: whether the record is new; an error then contains no id.
  @inline(__always)
  func prepare(
    _ record: DerivedRecord, id: UInt64, isNew: Bool = false
  ) throws(StoreError) -> SealedRecord {
    let sealed = try SealedRecord(record.record, id: id, of: entity)
    try check(sealed.view, id: id, isNew: isNew)
    return sealed
  }

  /// Seals a record that replaces `old`, and checks its rules.
  ///
  /// - Returns: `nil` when `old` has equal values.
  @inline(__always)
  func prepare(
    _ record: DerivedRecord, over old: StoredRecord
  ) throws(StoreError) -> SealedRecord? {
    let sealed = try SealedRecord(record.record, id: old.id, of: entity)
    if try isSame(old, as: sealed.bytes) { return nil }
    try check(sealed.view, id: old.id)
    return sealed
  }

  /// Seals a record whose derived attributes were computed again.
  ///
  /// Its rules are checked later, as ``DerivedValues`` declares.
  ///
  /// - Returns: `nil` when `old` has equal values.
  func prepare(
    _ derived: consuming DerivedValues, over old: StoredRecord
  ) throws(StoreError) -> SealedRecord? {
    try derived.derive(in: entity, time: core.time)
    if old.view.layout === entity.layout, !derived.isChanged { return nil }
    let sealed = try SealedRecord(try encode(derived.values), id: old.id, of: entity)
    return try isSame(old, as: sealed.bytes) ? nil : sealed
  }

  /// Seals a record, and returns the constraint or rule that refuses it.
  ///
  /// - Parameter isNew: whether the record is new; an error then contains no id.
  @inline(__always)
  func prepareOrRefuse(
    _ record: DerivedRecord, id: UInt64, isNew: Bool = false
  ) throws(StoreError) -> PreparedRecord {
    let sealed = try SealedRecord(record.record, id: id, of: entity)
    return try checked(sealed, isNew: isNew)
  }

  /// Seals a record that replaces `old`, and returns the constraint or rule that refuses it.
  ///
  /// - Returns: `nil` when `old` has equal values.
  @inline(__always)
  func prepareOrRefuse(
    _ record: DerivedRecord, over old: StoredRecord
  ) throws(StoreError) -> PreparedRecord? {
    let sealed = try SealedRecord(record.record, id: old.id, of: entity)
    return try isSame(old, as: sealed.bytes) ? nil : try checked(sealed, isNew: false)
  }

  @inline(__always)
  private func checked(
    _ sealed: SealedRecord, isNew: Bool
  ) throws(StoreError) -> PreparedRecord {
    if hasConstraints, let refusal = try refusal(of: sealed.view, id: sealed.id, isNew: isNew) {
      return .refused(refusal)
    }
    return .ready(sealed)
  }

  /// Returns a copy of a sealed record, which is valid until the next record is created.
  func sealed(_ kept: SealedBytes) throws(StoreError) -> SealedRecord {
    try SealedRecord(sealed: copy(kept.bytes), id: kept.id, of: entity)
  }
}

extension ChangeBatch {
  /// Removes the record at the cursor, which is `old`, in favour of `record` under a new id.
  ///
  /// The new id is assigned only later, so the entity's rules must not read the id.
  ///
  /// - Parameters:
  ///   - position: the position in its batch of the incoming record, with which `old` was merged.
  ///   - isIncoming: whether `record` has the values of the incoming record.
  func remove(
    _ old: StoredRecord, reinserting record: SealedRecord, of position: Int, isIncoming: Bool,
    at cursor: WritingCursor
  ) throws -> Reinsertion {
    assert((try? changes.rulesReadID()) != true, "the rules of a reinserted record read no id")
    let reinsertion = Reinsertion(
      position: position, merged: isIncoming ? nil : RecordBytes(record))
    try remove(old, at: cursor)
    return reinsertion
  }

  /// Inserts a record in place of a removed one.
  ///
  /// - Parameters:
  ///   - batch: the batch of the incoming record with which the removed one was merged.
  ///   - id: the id of the new record.
  @inline(__always)
  func insert(
    _ reinsertion: Reinsertion, of batch: DerivedRecords, id: UInt64, at cursor: WritingCursor
  ) throws(StoreError) {
    guard let merged = reinsertion.merged else {
      let incoming = try batch.records.view(reinsertion.position, of: changes.entity)
      return try insert(NewRecord(incoming, id: id), at: cursor)
    }
    try merged.withView(of: changes.entity) { (view) throws(StoreError) in
      try insert(NewRecord(view, id: id), at: cursor)
    }
  }
}
