internal import CLMDB

/// Who reads an environment at one moment, in all processes.
package struct ReaderTable: Sendable, Equatable {
  package struct Reader: Sendable, Equatable {
    package let processID: Int32
    /// The commit the reader sees; `nil` for a slot that is kept without a transaction.
    package let transactionID: UInt64?
  }

  package let readers: [Reader]
  package let lastTransactionID: UInt64

  /// How many commits ago the oldest open snapshot was taken; 0 without one. Pages freed since
  /// then cannot be used again.
  package var oldestSnapshotAgeInCommits: UInt64 {
    guard let oldest = readers.compactMap(\.transactionID).min() else { return 0 }
    return lastTransactionID > oldest ? lastTransactionID - oldest : 0
  }
}

extension Environment {
  /// The readers of all processes. Slots of processes that died are among them until
  /// ``clearDeadReaders()``.
  package func readerTable() throws(LMDBError) -> ReaderTable {
    let last = try information().lastTransactionID
    try gate.enterWithoutTransaction("list the readers")
    defer { leaveGate() }
    // The engine gives the table as lines of text only: process, thread and transaction, with a
    // dash for none, and headings that begin with no number.
    var text = ""
    let code = withUnsafeMutablePointer(to: &text) { text in
      mdb_reader_list(
        raw,
        { line, context in
          guard let line, let context else { return -1 }
          context.assumingMemoryBound(to: String.self).pointee += String(cString: line)
          return 0
        }, text)
    }
    guard code >= 0 else { throw failure(code, "list the readers") }
    let readers = text.split(separator: "\n").compactMap { line -> ReaderTable.Reader? in
      let columns = line.split(separator: " ")
      guard columns.count == 3, let processID = Int32(columns[0]) else { return nil }
      return ReaderTable.Reader(processID: processID, transactionID: UInt64(columns[2]))
    }
    return ReaderTable(readers: readers, lastTransactionID: last)
  }

  /// Frees the reader slots of processes that died. Returns how many there were.
  ///
  /// Done at opening, when no slot is free, and now and then by writers.
  @discardableResult
  package func clearDeadReaders() throws(LMDBError) -> Int {
    try checkNotForked("clear dead readers")
    try gate.enterWithoutTransaction("clear dead readers")
    defer { leaveGate() }
    var count: Int32 = 0
    let code = mdb_reader_check(raw, &count)
    guard code == MDB_SUCCESS else { throw failure(code, "clear dead readers") }
    return Int(count)
  }
}
