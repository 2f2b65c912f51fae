internal import LMDB
internal import LodestoreFormat

extension ChangeBatch {
  /// When the rules of a changed record are asked.
  enum RuleCheck {
    /// Before it is written.
    case now
    /// At the end of the write, by ``LateRules``: only attributes derived from related records have
    /// changed, which no other rule reads.
    case atCommit
  }

  /// Gives the record at the cursor, whose view is `old`, the values of `record`, with its derived
  /// attributes; returns false, and writes nothing, where it has them already.
  ///
  /// - Parameters:
  ///   - record: of the current layout, with room for its checksum.
  ///   - rehearsal: notes the change, and none is made.
  func change(
    _ old: RecordView, id: UInt64, to record: [UInt8], at cursor: Cursor,
    rehearsal: ChangeRehearsal? = nil
  ) throws -> Bool {
    let derived = try record.withBytes { (bytes) throws(StoreError) in
      try changes.derived(bytes, over: old)
    }
    return try change(
      old, id: id, toDerived: derived ?? record, .now, at: cursor, rehearsal: rehearsal)
  }

  /// The same, for a record that has its derived attributes already.
  func change(
    _ old: RecordView, id: UInt64, toDerived record: [UInt8], _ check: RuleCheck,
    at cursor: Cursor, rehearsal: ChangeRehearsal? = nil
  ) throws -> Bool {
    var record = record
    return try record.withUnsafeMutableBytes { bytes in
      let whole = changes.seal(bytes.recordContent, id: id)
      if try changes.isSame(old, as: whole, id: id) { return false }
      if let rehearsal {
        try rehearsal.note(old, try changes.entity.view(whole, id: id), id: id)
        return true
      }
      if case .now = check { try changes.check(try changes.entity.view(whole, id: id), id: id) }
      try replace(old, id: id, with: whole, at: cursor)
      return true
    }
  }
}
