internal import LMDB
internal import LodestoreFormat

extension ChangeBatch {
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
      let check = rehearsal == nil ? check : .byRehearsal
      guard let new = try changes.prepare(bytes.recordContent, over: old, id: id, check) else {
        return false
      }
      if let rehearsal {
        try rehearsal.note(old, new.view, id: id)
      } else {
        try replace(old, with: new, at: cursor)
      }
      return true
    }
  }
}
