internal import LMDB

/// Reports the commits of a store, made by any process, until it is released.
package final class CommitWatch: Sendable {
  private let end: @Sendable () -> Void

  fileprivate init(end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }
}

extension DynamicStore {
  /// Calls `body` with the number of the newest commit after commits of any process, and with `nil`
  /// once the store is closed.
  ///
  /// The calls are on a thread of the watch, or on the writer's thread if the store is in memory.
  /// No transaction is open meanwhile. Commits between two calls are merged into one call.
  ///
  /// - Parameters:
  ///   - last: the number of the last known commit, which is not reported.
  ///   - restMilliseconds: the least time between two calls.
  package func watchCommits(
    after last: UInt64, restMilliseconds: Int32, _ body: @escaping @Sendable (UInt64?) -> Void
  ) throws(StoreError) -> CommitWatch {
    try core.checkOpen("observe")
    let environment = core.environment
    // The last reported commit; `nil` once the end was reported.
    let reported = Guarded<UInt64?>(last)
    let report: @Sendable () -> Void = { [core] in
      guard let known = reported.withLock({ $0 }) else { return }
      guard let newest = environment.newestCommit else {
        reported.withLock { $0 = nil }
        body(nil)
        return
      }
      guard newest != known else { return }
      // A commit that is still being written has a number, but no read sees it.
      guard let readable = try? core.read({ $0.commitNumber.rawValue }), readable != known else {
        return
      }
      reported.withLock { $0 = readable }
      body(readable)
    }
    guard let watch = FileWatch(environment, restMilliseconds: restMilliseconds, report) else {
      let listener = environment.addCommitListener { _ in report() }
      return CommitWatch { environment.removeCommitListener(listener) }
    }
    guard watch.start() else {
      throw StoreError(
        .busy,
        "cannot observe \(core.label): the system starts no further thread (EAGAIN); end others "
          + "first")
    }
    return CommitWatch { watch.stop() }
  }
}
