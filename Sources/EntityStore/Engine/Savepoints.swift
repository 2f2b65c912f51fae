/// The savepoints of one write, through all of its runs.
///
/// A program begins some of them; each call that can fail half-way is one, too. LMDB's nested
/// transactions are of no use for this: they end with an error where a transaction alone writes
/// pages to the disk. Instead the write runs again without what failed, as it does when the file
/// has to grow. A savepoint is known by its position in the order in which the closure begins them.
/// Savepoints inside of one that failed are not begun again.
///
/// Used by one thread at a time: the one that runs the write.
final class Savepoints: @unchecked Sendable {
  /// A savepoint that failed in an earlier run.
  struct Failure {
    let error: any Error
    /// The name of the call; `nil` for a savepoint of the program.
    let call: String?
  }

  @exclusivity(unchecked) private var failures: [Int: Failure] = [:]
  // Used for every call, by one thread.
  @exclusivity(unchecked) private var next = 0
  /// The failure of this run, which makes the write run again.
  private var failed: Failure?

  /// One run of a write; throws ``SavepointFailed`` when it has to run again.
  func run<R>(_ core: WriteCore, _ body: (WriteCore) throws -> R) throws -> R {
    core.savepoints = self
    next = 0
    failed = nil
    let result = Result { try body(core) }
    guard let failed else { return try result.get() }
    // The error of a call has ended the closure: a second run would end in the same way.
    if failed.call != nil, case .failure(let error as StoreError) = result,
      let cause = failed.error as? StoreError, error.isSame(as: cause)
    {
      throw error
    }
    throw SavepointFailed()
  }

  /// The position of the next savepoint.
  func begin() -> Int {
    defer { next += 1 }
    return next
  }

  /// Returns the failure of this savepoint in an earlier run; `nil` for one that is to run.
  func failure(of number: Int) -> Failure? { failures.isEmpty ? nil : failures[number] }

  /// Notes that a savepoint has failed.
  ///
  /// Only the first failure of a run counts: later ones happened on top of changes that are undone.
  func fail(_ number: Int, _ error: any Error, call: String? = nil) {
    guard failed == nil else { return }
    let failure = Failure(error: error, call: call)
    failures[number] = failure
    failed = failure
  }
}

/// A savepoint has failed; the write has to run again without it.
struct SavepointFailed: Error {}

extension WriteCore {
  /// Runs one call of a program that can fail half-way; `name` is the call's, for messages.
  ///
  /// When the call fails after its first change, the write runs again, and the call throws the same
  /// error without changing anything. A closure that catches the error then finds the state before
  /// the call. Until then all further calls of the first run are refused. A call that succeeds pays
  /// for a counter. Calls within the call belong to it.
  ///
  /// A cancelled batch still ends the transaction, since nobody waits for the rest of it. Outside
  /// of the closure of a write, as in a migration, the error ends the transaction, too.
  func asOneCall<R>(
    _ name: StaticString, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    guard let savepoints, !isWithinCall else { return try body() }
    let number = savepoints.begin()
    if let failure = savepoints.failure(of: number) {
      guard failure.call == "\(name)", let error = failure.error as? StoreError else {
        throw .otherRun(call: "\(name)", failed: failure.call)
      }
      throw error
    }
    let changeCount = changeCount
    isWithinCall = true
    defer { isWithinCall = false }
    do throws(StoreError) {
      return try body()
    } catch {
      if changeCount != self.changeCount || brokenBy != nil, error.code != .cancelled,
        !transaction.hasFailed
      {
        savepoints.fail(number, error, call: "\(name)")
        giveUp()
      }
      throw error
    }
  }
}

extension StoreError {
  /// Whether two errors say the same.
  fileprivate func isSame(as other: StoreError) -> Bool {
    code == other.code && message == other.message && recordID == other.recordID
  }

  static let givenUp = StoreError(
    .brokenTransaction,
    "cannot go on: a part of the write failed half-way, and the write runs again without that part; let "
      + "this error end the closure")

  fileprivate static func otherRun(call: String, failed: String?) -> StoreError {
    StoreError(
      .brokenTransaction,
      "cannot go on: the closure of the write ran again after an error that it had caught, and called "
        + "'\(call)' where it had called '\(failed ?? "savepoint")'; let the closure depend on nothing "
        + "that it changes outside of the transaction")
  }
}
