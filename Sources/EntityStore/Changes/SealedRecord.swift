internal import LodestoreBytes
internal import LodestoreFormat

/// A record of the current layout with its checksum, ready to be written under its id.
///
/// The rules of the record have been checked, or will be checked later, as ``RuleCheck`` declares.
/// Only this file creates sealed records, and only sealed records are written. The bytes are those
/// of the ``UnsealedRecord`` from which it was created.
struct SealedRecord {
  let id: UInt64
  let view: RecordView

  var bytes: ByteView { view.bytes }

  @inline(__always)
  fileprivate init(
    _ record: UnsealedRecord, id: UInt64, of entity: StoredEntity
  ) throws(StoreError) {
    Checksum.seal(record.bytes, id: id)
    self.id = id
    view = try entity.view(record.raw, id: id)
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

/// The time at which the rules of a record are checked.
enum RuleCheck {
  /// Before the record is written.
  case now
  /// Before anything is written, by a ``ChangeRehearsal`` or by the plan of a merge.
  case beforehand
  /// At the end of the write, by ``LateRules``.
  ///
  /// Only attributes derived from related records have changed, which no other rule reads.
  ///
  /// While a store is opened by `OpeningRules`, at the end of the opening.
  case atCommit
}

/// The outcome of preparing a record that may be refused.
enum PreparedRecord {
  case ready(SealedRecord)
  /// The record to be replaced has equal values.
  case same
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
  @inline(__always)
  func prepareOrRefuse(
    new view: RecordView, id: UInt64
  ) throws(StoreError) -> PreparedNewRecord {
    if hasConstraints, let refusal = try refusal(of: view, id: id, isNew: true) {
      return .refused(refusal)
    }
    return .ready(NewRecord(view, id: id))
  }

  /// Returns the new record that replaces a removed one, as ``MergeRule/reinsert`` requires.
  ///
  /// The caller has checked the rules of the record before the removal.
  @inline(__always)
  func reinsertion(_ view: RecordView, id: UInt64) -> NewRecord { NewRecord(view, id: id) }

  /// Seals a record and checks its rules.
  ///
  /// - Parameters:
  ///   - id: the present or future id of the record.
  ///   - isNew: whether the record is new; an error then contains no id.
  @inline(__always)
  func prepare(
    _ record: UnsealedRecord, id: UInt64, isNew: Bool = false, _ rules: RuleCheck = .now
  ) throws(StoreError) -> SealedRecord {
    let sealed = try SealedRecord(record, id: id, of: entity)
    if case .now = rules { try check(sealed.view, id: id, isNew: isNew) }
    return sealed
  }

  /// Seals a record that replaces `old`, and checks its rules.
  ///
  /// - Returns: `nil` when `old` has equal values.
  @inline(__always)
  func prepare(
    _ record: UnsealedRecord, over old: StoredRecord, _ rules: RuleCheck = .now
  ) throws(StoreError) -> SealedRecord? {
    let sealed = try SealedRecord(record, id: old.id, of: entity)
    if try isSame(old, as: sealed.bytes) { return nil }
    if case .now = rules { try check(sealed.view, id: old.id) }
    return sealed
  }

  /// Seals a record, and returns the constraint or rule that refuses it.
  ///
  /// - Parameters:
  ///   - old: the record to be replaced, if it may have equal values.
  ///   - isNew: whether the record is new; an error then contains no id.
  @inline(__always)
  func prepareOrRefuse(
    _ record: UnsealedRecord, over old: StoredRecord? = nil, id: UInt64, isNew: Bool = false
  ) throws(StoreError) -> PreparedRecord {
    let sealed = try SealedRecord(record, id: id, of: entity)
    if let old, try isSame(old, as: sealed.bytes) { return .same }
    if hasConstraints, let refusal = try refusal(of: sealed.view, id: id, isNew: isNew) {
      return .refused(refusal)
    }
    return .ready(sealed)
  }

  /// Returns whether the stored record has the values of `record`.
  func isSame(_ old: StoredRecord, as record: UnsealedRecord) throws(StoreError) -> Bool {
    try isSame(old, as: SealedRecord(record, id: old.id, of: entity).bytes)
  }
}
