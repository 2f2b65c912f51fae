internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Consecutive new records of the current layout, which are sealed in this buffer when they are
/// appended to the record tree.
///
/// The derived attributes of each record are computed, and its rules have been checked under its
/// id. Records enter the buffer only through these checks, and a ``RecordTree`` appends no other
/// buffer.
struct NewRecords: ~Copyable {
  /// The records, with their ids and room for their checksums.
  private(set) var records = RecordBuffer(byteCount: RecordBuffer.usualByteCount)
  /// The broken rules of all records; after the first one no more records are taken.
  private var broken = BrokenRules()
  /// The number of records checked against rules.
  private var checkedCount = 0

  @inline(__always)
  var count: Int { records.count }

  func isFull(for record: DerivedRecord) -> Bool {
    records.isFull(for: record.record.content.count)
  }

  /// Checks the rules of a record and appends a copy of it.
  ///
  /// - Returns: false when the record or an earlier one breaks a rule.
  @inline(__always)
  mutating func append(
    _ record: DerivedRecord, id: UInt64, _ changes: EntityChanges
  ) throws(StoreError) -> Bool {
    assert(!record.record.isStale, "a record is appended before the next one is created")
    if changes.hasConstraints {
      try check(record.record, id: id, changes)
      if !broken.isEmpty { return false }
    }
    records.append(record.record.content, id: id)
    return true
  }

  /// Checks the rules of all records of `row`, and takes them under the ids from `first` on.
  ///
  /// This buffer must be empty, and the entity must have no derived attributes. `row` is empty
  /// afterwards, with the memory that this buffer had.
  ///
  /// - Returns: false when one of the records or an earlier one breaks a rule.
  mutating func take(
    _ row: inout RecordBuffer, from first: UInt64, _ changes: EntityChanges
  ) throws(StoreError) -> Bool {
    precondition(records.count == 0, "rows are taken into an empty buffer")
    precondition(changes.entity.derivations == nil, "rows have no derived attributes")
    if changes.hasConstraints {
      for position in 0..<row.count {
        try check(row[position], id: first &+ UInt64(position), changes)
      }
      if !broken.isEmpty {
        row.removeAll()
        return false
      }
    }
    row.giveIDs(from: first)
    swap(&records, &row)
    return true
  }

  private mutating func check(
    _ record: UnsealedRecord, id: UInt64, _ changes: EntityChanges
  ) throws(StoreError) {
    try broken.collect(at: checkedCount) { () throws(StoreError) in
      try changes.check(try changes.entity.view(record), id: id, isNew: true)
    }
    checkedCount &+= 1
  }

  /// Throws the broken rules of all records, if there are any.
  func checkRules() throws(StoreError) { try broken.check() }

  /// Moves the records to `row`, which must be empty, and takes its memory.
  mutating func move(to row: inout RecordBuffer) {
    precondition(row.count == 0, "records are moved to an empty buffer")
    swap(&records, &row)
  }

  mutating func removeAll() { records.removeAll() }
}
