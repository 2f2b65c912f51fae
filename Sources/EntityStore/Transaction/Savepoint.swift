extension WriteTransaction {
  /// Runs `body` as a part of this write that can fail separately.
  ///
  /// If `body` throws, its changes are undone and the error is rethrown. The write can continue.
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
  /// Savepoints may be nested. A single call needs no savepoint: after its error the state is that
  /// from before the call.
  ///
  /// A `body` that succeeds costs nothing. When `body` fails after a change, the closure of the
  /// write runs again on a clean transaction. This call then throws the error again without running
  /// `body`. The closure must therefore have no side effects outside the transaction, and must
  /// repeat its calls. Later calls and errors of the first run are ignored.
  ///
  /// - Complexity: when `body` fails after a change, the time of the whole write so far.
  @discardableResult
  public mutating func savepoint<R>(_ body: (inout WriteTransaction) throws -> R) throws -> R {
    // Savepoints are missing only outside the closure of a write, where no program has a
    // transaction.
    guard let savepoints = core.savepoints else { return try body(&self) }
    let number = savepoints.begin()
    if let failure = savepoints.failure(of: number) { throw failure.error }
    let changeCount = core.changeCount
    do {
      return try body(&self)
    } catch {
      if core.changeCount != changeCount || core.brokenBy != nil, !core.writing.hasFailed {
        savepoints.fail(number, error)
      }
      throw error
    }
  }
}
