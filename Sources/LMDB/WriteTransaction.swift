internal import CLMDB

/// The one transaction that changes an environment: all or nothing.
///
/// Given to the body of ``Environment/write(_:)`` and bound to its thread. Any failure inside the
/// engine ends its chance to commit, whether or not the body catches the error; failures found
/// before the engine was asked (sizes, kinds of keys) leave it as it was.
package struct WriteTransaction: ~Copyable {
  /// The same transaction for reading, for code that serves both kinds.
  package let reading: ReadTransaction
  let session: WriteSession

  init(raw: OpaquePointer, environment: Environment) {
    session = WriteSession()
    reading = ReadTransaction(raw: raw, environment: environment, session: session)
  }

  deinit {
    if !session.isFinished {
      session.isFinished = true
      mdb_txn_abort(reading.raw)
    }
  }

  /// Ends the transaction. Returns the engine's code; whatever it is, the transaction is gone.
  consuming func commit() -> Int32 {
    session.isFinished = true
    return mdb_txn_commit(reading.raw)
  }

  consuming func abort() {}

  /// The number that this transaction's commit will have.
  package var transactionID: UInt64 { reading.transactionID }

  /// The value under `key`, or `nil`. Valid until the next change in this transaction.
  package borrowing func get(
    _ key: UnsafeRawBufferPointer, in tree: Tree
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try reading.get(key, in: tree)
  }

  /// The value under `key`, or `nil`. Valid until the next change in this transaction.
  package borrowing func get(
    _ key: UInt64, in tree: Tree
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try reading.get(key, in: tree)
  }

  /// A cursor without a position, which can also change the tree. End it before the transaction.
  package borrowing func cursor(in tree: Tree) throws(LMDBError) -> Cursor {
    try reading.cursor(in: tree)
  }
}
