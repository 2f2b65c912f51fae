/// The commits of this process that are not reported to observers yet.
///
/// Numbers of commits are consecutive over all processes. A commit that the log lacks was made by
/// another process.
struct CommitLog {
  /// Commits that are reported together.
  struct News {
    /// The last commit that was reported before.
    let from: UInt64
    /// The changes of each commit; `nil` where the log lacks one of them.
    let deltas: [ChangeDelta]?
  }

  /// Ascending.
  private var commits: [(number: UInt64, delta: ChangeDelta)] = []
  /// Writes of commits up to this one may be missing from the log.
  private var doubtfulThrough: UInt64 = 0
  /// The last commit that observers know of.
  private(set) var reported: UInt64 = 0
  /// The last write in the history at the commit ``reported``; `nil` where no entity keeps a history.
  private(set) var reportedWrite: UInt64?

  /// The last commit that is reported or waits for it.
  var newest: UInt64 { max(reported, commits.last?.number ?? 0) }
  /// The number of commits that wait.
  var count: Int { commits.count }

  /// A write of `commit`, or of an earlier one, may have begun while nobody noted its changes.
  mutating func doubt(through commit: UInt64) { doubtfulThrough = max(doubtfulThrough, commit) }

  /// Adds the changes of one write of `commit`; writes come in their order.
  mutating func note(_ delta: ChangeDelta, of commit: UInt64) {
    if commits.last?.number == commit {
      commits[commits.count - 1].delta.merge(delta)
    } else {
      commits.append((commit, delta))
    }
  }

  /// Ends `commit`, of which all writes are noted.
  ///
  /// A commit without a noted write is a migration, or the like: anything may have changed.
  mutating func end(_ commit: UInt64) {
    if commit <= doubtfulThrough || commits.last?.number != commit { note(.unknown, of: commit) }
  }

  /// Drops all commits up to `commit`: whoever observes next reads it, or a later one, first.
  mutating func drop(through commit: UInt64) {
    commits = []
    reported = max(reported, commit)
    reportedWrite = nil
  }

  /// Takes the commits up to `commit` that are not reported yet; returns `nil` for none.
  mutating func take(through commit: UInt64) -> News? {
    let count = commits.prefix { $0.number <= commit }.count
    let found = commits[..<count].filter { $0.number > reported }.map(\.delta)
    commits.removeFirst(count)
    guard commit > reported else { return nil }
    return News(from: reported, deltas: UInt64(found.count) == commit - reported ? found : nil)
  }

  /// Notes that observers know of `commit`, at which `write` is the last in the history.
  ///
  /// A commit before one that was dropped meanwhile changes nothing.
  mutating func report(_ commit: UInt64, lastWrite write: UInt64?) {
    guard commit >= reported else { return }
    reported = commit
    reportedWrite = write
  }
}
