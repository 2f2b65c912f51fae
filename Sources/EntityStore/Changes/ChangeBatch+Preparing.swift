internal import LMDB

extension ChangeBatch {
  /// Gives the record at the cursor, which is `old`, the values of `record`; returns false, and writes
  /// nothing, where it has them already.
  func change(
    _ old: StoredRecord, to record: UnsealedRecord, _ check: RuleCheck = .now, at cursor: Cursor
  ) throws -> Bool {
    guard let new = try changes.prepare(record, over: old, check) else { return false }
    try replace(old, with: new, at: cursor)
    return true
  }
}
