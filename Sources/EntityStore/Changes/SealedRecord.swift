internal import LodestoreFormat

/// A record of the current layout that is to be written under its id.
///
/// It has its checksum, and its rules were asked, or are asked later where ``RuleCheck`` says so.
/// ``EntityChanges`` makes it, in this file alone, and nothing else replaces a record. The bytes
/// belong to the caller that had it prepared.
struct SealedRecord {
  let id: UInt64
  let view: RecordView

  var bytes: UnsafeRawBufferPointer { view.bytes }

  /// Writes the checksum for `id` after `content`, which has room for it.
  @inline(__always)
  fileprivate init(
    sealing content: UnsafeMutableRawBufferPointer, id: UInt64, of entity: StoredEntity
  ) throws(StoreError) {
    let whole = UnsafeMutableRawBufferPointer(
      start: content.baseAddress, count: content.count + RecordLayout.checksumSize)
    Checksum.seal(whole, id: id)
    self.id = id
    view = try entity.view(UnsafeRawBufferPointer(whole), id: id)
  }
}

/// When the rules of a record that is to be written are asked.
enum RuleCheck {
  /// Before it is written.
  case now
  /// Before anything is written, by a ``ChangeRehearsal``.
  case byRehearsal
  /// At the end of the write, by ``LateRules``: only attributes derived from related records have
  /// changed, which no other rule reads.
  case atCommit
  /// At the end of the stages of a migration, by ``StageRules``.
  case atEndOfStages
}

/// The outcome of the preparation of a record that may be refused.
enum PreparedRecord {
  case ready(SealedRecord)
  /// The record whose place it takes has its values.
  case same
  /// By a constraint or a rule.
  case refused(StoreError)
}

/// Each takes content of the current layout, with four free bytes after it.
extension EntityChanges {
  /// Seals a record, and asks its rules.
  ///
  /// - Parameters:
  ///   - id: which the record has or will have.
  ///   - isNew: whether there is no record with this id yet: then an error names none.
  @inline(__always)
  func prepare(
    _ content: UnsafeMutableRawBufferPointer, id: UInt64, isNew: Bool = false,
    _ rules: RuleCheck = .now
  ) throws(StoreError) -> SealedRecord {
    let record = try SealedRecord(sealing: content, id: id, of: entity)
    if case .now = rules { try check(record.view, id: id, isNew: isNew) }
    return record
  }

  /// Seals a record that takes the place of `old`, and asks its rules.
  ///
  /// - Returns: `nil` where `old` has the same values.
  @inline(__always)
  func prepare(
    _ content: UnsafeMutableRawBufferPointer, over old: RecordView, id: UInt64,
    _ rules: RuleCheck = .now
  ) throws(StoreError) -> SealedRecord? {
    let record = try SealedRecord(sealing: content, id: id, of: entity)
    if try isSame(old, as: record.bytes, id: id) { return nil }
    if case .now = rules { try check(record.view, id: id) }
    return record
  }

  /// Seals a record, and tells by what constraint or rule it is refused.
  ///
  /// - Parameter old: the record whose place it takes, where that may have its values.
  @inline(__always)
  func prepareOrRefuse(
    _ content: UnsafeMutableRawBufferPointer, over old: RecordView? = nil, id: UInt64
  ) throws(StoreError) -> PreparedRecord {
    let record = try SealedRecord(sealing: content, id: id, of: entity)
    if let old, try isSame(old, as: record.bytes, id: id) { return .same }
    if hasConstraints, let refusal = try refusal(of: record.view, id: id) {
      return .refused(refusal)
    }
    return .ready(record)
  }

  /// Whether record `id` has these values.
  func isSame(
    _ old: RecordView, as content: UnsafeMutableRawBufferPointer, id: UInt64
  ) throws(StoreError) -> Bool {
    try isSame(old, as: SealedRecord(sealing: content, id: id, of: entity).bytes, id: id)
  }
}
