/// The savepoints of one write, across all of its runs.
///
/// A savepoint is begun by the program, or by a call that may fail after some of its changes.
/// LMDB's nested transactions cannot be used: they fail with an error when a transaction writes
/// pages to the disk early. Instead, the write runs again without the failed savepoint, as it does
/// when the file must grow. A savepoint is identified by its position in the order in which the
/// closure begins them. Savepoints inside a failed one are not begun again.
///
/// Only the thread that runs the write uses the object.
final class Savepoints: @unchecked Sendable {
  /// A savepoint that failed in an earlier run.
  struct Failure {
    let error: any Error
    /// The name of the call; `nil` for a savepoint of the program.
    let call: String?
  }

  @exclusivity(unchecked) private var failures: [Int: Failure] = [:]
  // Only one thread uses the object, for every call, so exclusivity is not checked.
  @exclusivity(unchecked) private var next = 0
  /// The failure in this run, because of which the write must run again.
  private var failed: Failure?

  /// Runs the write once; throws ``SavepointFailed`` when it must run again.
  func run<Core: TreeWriteCore, R>(_ core: Core, _ body: (Core) throws -> R) throws -> R {
    core.savepoints = self
    next = 0
    failed = nil
    let result = Result { try body(core) }
    guard let failed else { return try result.get() }
    // The closure has ended with the error of the failed call. A second run would end in the same
    // way, so the write fails now.
    if failed.call != nil, case .failure(let error as StoreError) = result,
      let cause = failed.error as? StoreError, error.isSame(as: cause)
    {
      throw error
    }
    throw SavepointFailed()
  }

  /// Returns the position of the next savepoint.
  func begin() -> Int {
    defer { next += 1 }
    return next
  }

  /// Returns the failure of this savepoint in an earlier run; `nil` for a savepoint that must run.
  func failure(of number: Int) -> Failure? { failures.isEmpty ? nil : failures[number] }

  /// Notes the failure of a savepoint.
  ///
  /// Only the first failure of a run counts; later ones are based on changes that will be undone.
  func fail(_ number: Int, _ error: any Error, call: String? = nil) {
    guard failed == nil else { return }
    let failure = Failure(error: error, call: call)
    failures[number] = failure
    failed = failure
  }
}

/// Thrown when a savepoint has failed and the write must run again without it.
struct SavepointFailed: Error {}

extension TreeWriteCore {
  /// Runs one call of a program that may fail after some of its changes.
  ///
  /// When the call fails after its first change, the write runs again, and the call then throws the
  /// same error without changing anything. A closure that catches the error then sees the state
  /// before the call. All further calls of the first run are refused. A successful call costs only
  /// a counter. Calls that this call makes itself are parts of it, and are not repeated separately.
  ///
  /// A cancelled batch ends the transaction, because nobody waits for the rest of it. Outside the
  /// closure of a write, as in a migration, the error ends the transaction too.
  ///
  /// - Parameter name: the name of the call, for messages.
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
        !writing.hasFailed
      {
        savepoints.fail(number, error, call: "\(name)")
        abandon()
      }
      throw error
    }
  }
}

extension StoreError {
  /// Returns whether two errors have equal content.
  fileprivate func isSame(as other: StoreError) -> Bool {
    code == other.code && message == other.message && recordID == other.recordID
  }

  /// The error of calls after ``TreeWriteCore/abandon()``.
  static let abandoned = StoreError(
    .brokenTransaction,
    "cannot continue: a part of the write failed after some changes, and the write runs again without "
      + "that part; let this error end the closure")

  fileprivate static func otherRun(call: String, failed: String?) -> StoreError {
    StoreError(
      .brokenTransaction,
      "cannot continue: the closure of the write ran again after an error that it had caught, and called "
        + "'\(call)' instead of '\(failed ?? "savepoint")'; the closure must not depend on anything "
        + "that it changes outside the transaction")
  }
}
