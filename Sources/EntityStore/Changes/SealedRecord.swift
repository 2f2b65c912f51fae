internal import LodestoreBytes
internal import LodestoreFormat

/// A record of the current layout that is to be written under its id.
///
/// It has its checksum, and its rules were asked, or are asked later where ``RuleCheck`` says so.
/// ``EntityChanges`` makes it, in this file alone, and nothing else replaces a record. The bytes
/// are those of the ``UnsealedRecord`` that it was made of.
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
/// Its rules were asked. ``EntityChanges`` makes it, in this file alone, and a ``ChangeBatch`` inserts
/// nothing else.
struct NewRecord {
  let id: UInt64
  let view: RecordView

  @inline(__always)
  fileprivate init(_ view: RecordView, id: UInt64) {
    self.id = id
    self.view = view
  }
}

/// When the rules of a record that is to be written are asked.
enum RuleCheck {
  /// Before it is written; in the steps of stages at the end of the opening, by `OpeningRules`.
  case now
  /// Before anything is written, by a ``ChangeRehearsal`` or by the plan of a merge.
  case beforehand
  /// At the end of the write, by ``LateRules``: only attributes derived from related records have
  /// changed, which no other rule reads.
  ///
  /// While a store is opened by `OpeningRules`, at the end of the opening.
  case atCommit
}

/// The outcome of the preparation of a record that may be refused.
enum PreparedRecord {
  case ready(SealedRecord)
  /// The record whose place it takes has its values.
  case same
  /// By a constraint or a rule.
  case refused(StoreError)
}

/// The outcome of the preparation of a new record that may be refused.
enum PreparedNewRecord {
  case ready(NewRecord)
  /// By a constraint or a rule.
  case refused(StoreError)
}

extension EntityChanges {
  /// Asks the rules of a new record.
  @inline(__always)
  func prepareOrRefuse(
    new view: RecordView, id: UInt64
  ) throws(StoreError) -> PreparedNewRecord {
    if hasConstraints, let refusal = try refusal(of: view, id: id, isNew: true) {
      return .refused(refusal)
    }
    return .ready(NewRecord(view, id: id))
  }

  /// A new record that takes the place of one which is renewed: its rules were asked before that one
  /// was removed.
  @inline(__always)
  func renewal(_ view: RecordView, id: UInt64) -> NewRecord { NewRecord(view, id: id) }

  /// Seals a record, and asks its rules.
  ///
  /// - Parameters:
  ///   - id: which the record has or will have.
  ///   - isNew: whether there is no record with this id yet: then an error names none.
  @inline(__always)
  func prepare(
    _ record: UnsealedRecord, id: UInt64, isNew: Bool = false, _ rules: RuleCheck = .now
  ) throws(StoreError) -> SealedRecord {
    let sealed = try SealedRecord(record, id: id, of: entity)
    if case .now = rules { try check(sealed.view, id: id, isNew: isNew) }
    return sealed
  }

  /// Seals a record that takes the place of `old`, and asks its rules.
  ///
  /// - Returns: `nil` where `old` has the same values.
  @inline(__always)
  func prepare(
    _ record: UnsealedRecord, over old: StoredRecord, _ rules: RuleCheck = .now
  ) throws(StoreError) -> SealedRecord? {
    let sealed = try SealedRecord(record, id: old.id, of: entity)
    if try isSame(old, as: sealed.bytes) { return nil }
    if case .now = rules { try check(sealed.view, id: old.id) }
    return sealed
  }

  /// Seals a record, and tells by what constraint or rule it is refused.
  ///
  /// - Parameter old: the record whose place it takes, where that may have its values.
  @inline(__always)
  func prepareOrRefuse(
    _ record: UnsealedRecord, over old: StoredRecord? = nil, id: UInt64
  ) throws(StoreError) -> PreparedRecord {
    let sealed = try SealedRecord(record, id: id, of: entity)
    if let old, try isSame(old, as: sealed.bytes) { return .same }
    if hasConstraints, let refusal = try refusal(of: sealed.view, id: id) {
      return .refused(refusal)
    }
    return .ready(sealed)
  }

  /// Whether the stored record has these values.
  func isSame(_ old: StoredRecord, as record: UnsealedRecord) throws(StoreError) -> Bool {
    try isSame(old, as: SealedRecord(record, id: old.id, of: entity).bytes)
  }
}
