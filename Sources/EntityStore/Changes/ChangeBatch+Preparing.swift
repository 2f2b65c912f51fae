internal import LMDB

extension ChangeBatch {
  /// Replaces the record at the cursor, which is `old`, with `record`.
  ///
  /// Returns false, and writes nothing, when the records have equal values.
  ///
  /// - Parameter check: the time at which the rules of the record are checked.
  func change(
    _ old: StoredRecord, to record: UnsealedRecord, _ check: RuleCheck = .now, at cursor: Cursor
  ) throws -> Bool {
    guard let new = try changes.prepare(record, over: old, check) else { return false }
    try replace(old, with: new, at: cursor)
    return true
  }
}
