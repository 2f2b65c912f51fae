extension WriteTransaction {
  /// Runs `body` as a part of this write that can fail by itself.
  ///
  /// If `body` throws, its changes are undone, and the error is thrown on; the write can go on.
  ///
  ///     let rejected = try store.write { tx in
  ///       var rejected: [Int] = []
  ///       for order in orders {
  ///         do {
  ///           try tx.savepoint { inner in
  ///             try inner.insert(order)
  ///             try inner.insert(order.lines)
  ///           }
  ///         } catch let error as StoreError where error.code == .uniqueViolation {
  ///           rejected.append(order.number)
  ///         }
  ///       }
  ///       return rejected
  ///     }
  ///
  /// Savepoints may be nested. A single call needs none: its error leaves the state before the
  /// call.
  ///
  /// A `body` that succeeds costs nothing. When `body` fails after a change, the closure of the
  /// write runs again on a clean transaction, and this call throws the same error without running
  /// `body`. The closure must therefore have no effects but on the transaction, and do the same
  /// again. Whatever the closure does and throws in the rest of the first run is ignored.
  ///
  /// - Complexity: when `body` fails after a change, that of all that the write has done so far.
  @discardableResult
  public mutating func savepoint<R>(
    _ body: (inout WriteTransaction) throws -> R
  ) throws -> R {
    // There are none outside of the closure of a write, where no one can have a transaction.
    guard let savepoints = core.savepoints else { return try body(&self) }
    let number = savepoints.begin()
    if let failure = savepoints.failure(of: number) { throw failure.error }
    let changeCount = core.changeCount
    do {
      return try body(&self)
    } catch {
      if core.changeCount != changeCount || core.brokenBy != nil, !core.transaction.hasFailed {
        savepoints.fail(number, error)
      }
      throw error
    }
  }
}
