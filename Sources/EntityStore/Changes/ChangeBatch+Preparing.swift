internal import LMDB

extension ChangeBatch {
  /// Gives the record at the cursor, which is `old`, the values of `record`; returns false, and writes
  /// nothing, where it has them already.
  ///
  /// - Parameter rehearsal: notes the change, and none is made.
  func change(
    _ old: StoredRecord, to record: UnsealedRecord, _ check: RuleCheck = .now, at cursor: Cursor,
    rehearsal: ChangeRehearsal? = nil
  ) throws -> Bool {
    let check = rehearsal == nil ? check : .beforehand
    guard let new = try changes.prepare(record, over: old, check) else { return false }
    if let rehearsal {
      try rehearsal.note(old, new.view)
    } else {
      try replace(old, with: new, at: cursor)
    }
    return true
  }
}
