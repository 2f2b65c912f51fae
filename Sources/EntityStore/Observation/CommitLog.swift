/// The commits of this process that have not been reported to observers.
///
/// Commit numbers are consecutive over all processes. A commit that is missing from the log was
/// made by another process.
struct CommitLog {
  /// Commits that are reported together.
  struct Batch {
    /// The last commit that was reported before these commits.
    let from: UInt64
    /// The changes of each commit; `nil` when a commit is missing from the log.
    let deltas: [CommitDelta]?
  }

  /// The waiting commits, in ascending order.
  private var commits: [(number: UInt64, delta: CommitDelta)] = []
  /// Commits up to this number may contain writes that are missing from the log.
  private var doubtfulThrough: UInt64 = 0
  /// The last commit that was reported to observers.
  private(set) var reported: UInt64 = 0
  /// The last write in the history as of the commit ``reported``; `nil` when no entity keeps a
  /// history.
  private(set) var reportedWrite: UInt64?

  /// The last commit in the log, or the last reported one.
  var newest: UInt64 { max(reported, commits.last?.number ?? 0) }
  /// The number of waiting commits.
  var count: Int { commits.count }

  /// Notes that a write of `commit`, or of an earlier commit, may be missing from the log.
  mutating func doubt(through commit: UInt64) { doubtfulThrough = max(doubtfulThrough, commit) }

  /// Adds the changes of one write of `commit`; calls must follow the order of the writes.
  mutating func note(_ delta: CommitDelta, of commit: UInt64) {
    if commits.last?.number == commit {
      commits[commits.count - 1].delta.merge(delta)
    } else {
      commits.append((commit, delta))
    }
  }

  /// Ends `commit`, all of whose writes have been added.
  ///
  /// A commit without an added write is a migration or similar, so anything may have changed.
  mutating func end(_ commit: UInt64) {
    if commit <= doubtfulThrough || commits.last?.number != commit { note(.unknown, of: commit) }
  }

  /// Drops all commits up to `commit`: the next observer begins by reading this commit or a later
  /// one.
  mutating func drop(through commit: UInt64) {
    commits = []
    reported = max(reported, commit)
    reportedWrite = nil
  }

  /// Removes and returns the unreported commits up to `commit`; returns `nil` without such commits.
  mutating func take(through commit: UInt64) -> Batch? {
    let count = commits.prefix { $0.number <= commit }.count
    let found = commits[..<count].filter { $0.number > reported }.map(\.delta)
    commits.removeFirst(count)
    guard commit > reported else { return nil }
    return Batch(from: reported, deltas: UInt64(found.count) == commit - reported ? found : nil)
  }

  /// Notes that `commit` was reported; `write` is the last write in its history.
  ///
  /// A commit older than the last reported one has no effect.
  mutating func report(_ commit: UInt64, lastWrite write: UInt64?) {
    guard commit >= reported else { return }
    reported = commit
    reportedWrite = write
  }
}
