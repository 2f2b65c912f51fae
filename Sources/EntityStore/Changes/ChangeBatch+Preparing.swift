internal import LMDB

extension ChangeBatch {
  /// Replaces the record at the cursor, which is `old`, with `record`.
  ///
  /// Returns false, and writes nothing, when the records have equal values.
  func change(_ old: StoredRecord, to record: DerivedRecord, at cursor: WritingCursor) throws
    -> Bool
  {
    guard let new = try changes.prepare(record, over: old) else { return false }
    try replace(old, with: new, at: cursor)
    return true
  }
}
