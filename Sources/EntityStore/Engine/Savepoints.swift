/// The savepoints of one write, through all of its runs.
///
/// LMDB's nested transactions are of no use for this: they end with an error where a transaction alone
/// writes pages to the disk. Instead the write runs again without what failed, as it does when the file
/// has to grow. A savepoint is known by its position in the order in which the closure begins them; those
/// inside of one that failed are not begun again.
///
/// Used by one thread at a time: the one that runs the write.
final class Savepoints: @unchecked Sendable {
  private var failures: [Int: any Error] = [:]
  private var next = 0
  /// Whether one has failed in this run.
  private var mustRunAgain = false

  /// One run of a write; throws ``SavepointFailed`` when it has to run again.
  func run<R>(_ core: TransactionCore, _ body: (TransactionCore) throws -> R) throws -> R {
    core.savepoints = self
    next = 0
    mustRunAgain = false
    let result = Result { try body(core) }
    if mustRunAgain { throw SavepointFailed() }
    return try result.get()
  }

  /// The position of the next savepoint.
  func begin() -> Int {
    defer { next += 1 }
    return next
  }

  /// Why the savepoint failed in an earlier run; `nil` for one that is to run.
  func failure(of number: Int) -> (any Error)? { failures[number] }

  /// Notes that a savepoint has failed; only the first of a run stands, as what follows was done on top of
  /// what is to be undone.
  func fail(_ number: Int, _ error: any Error) {
    guard !mustRunAgain else { return }
    failures[number] = error
    mustRunAgain = true
  }
}

/// A savepoint has failed; the write has to run again without it.
struct SavepointFailed: Error {}
