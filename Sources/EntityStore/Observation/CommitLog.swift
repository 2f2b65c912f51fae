/// The commits of this process that observers have not been told of yet.
///
/// Commits are told apart by their numbers, which are consecutive over all processes. A commit that
/// is in no log was made by another process.
struct CommitLog {
  /// Commits that are told together.
  struct News {
    /// The last commit that observers knew of before.
    let from: UInt64
    /// What each commit has changed; `nil` where the log lacks one of them.
    let deltas: [ChangeDelta]?
  }

  /// Ascending.
  private var commits: [(number: UInt64, delta: ChangeDelta)] = []
  /// A write of a commit up to this one may have told nothing.
  private var doubtfulThrough: UInt64 = 0
  /// The last commit that observers know of.
  private(set) var told: UInt64 = 0
  /// The last write in the history at that commit; `nil` where no entity keeps one.
  private(set) var toldWrite: UInt64?

  /// The last commit that was told or will be.
  var newest: UInt64 { max(told, commits.last?.number ?? 0) }
  /// How many commits wait to be told.
  var count: Int { commits.count }

  /// A write of a commit up to `commit` may have begun before anybody was told.
  mutating func doubt(through commit: UInt64) { doubtfulThrough = max(doubtfulThrough, commit) }

  /// Adds what one write of `commit` has changed; writes come in their order.
  mutating func note(_ delta: ChangeDelta, of commit: UInt64) {
    if commits.last?.number == commit {
      commits[commits.count - 1].delta.merge(delta)
    } else {
      commits.append((commit, delta))
    }
  }

  /// All writes of `commit` are noted.
  ///
  /// A commit that no write has told of is a migration, or the like.
  mutating func end(_ commit: UInt64) {
    if commit <= doubtfulThrough || commits.last?.number != commit { note(.unknown, of: commit) }
  }

  /// Drops all commits up to `commit`: whoever observes next reads it, or a later one, first.
  mutating func drop(through commit: UInt64) {
    commits = []
    told = max(told, commit)
    toldWrite = nil
  }

  /// Takes the commits up to `commit` that observers do not know of; `nil` for none.
  mutating func take(through commit: UInt64) -> News? {
    let count = commits.prefix { $0.number <= commit }.count
    let found = commits[..<count].filter { $0.number > told }.map(\.delta)
    commits.removeFirst(count)
    guard commit > told else { return nil }
    return News(from: told, deltas: UInt64(found.count) == commit - told ? found : nil)
  }

  /// Observers know of `commit`, at which `write` is the last in the history.
  ///
  /// A commit before those that were dropped meanwhile is passed by.
  mutating func tell(_ commit: UInt64, lastWrite write: UInt64?) {
    guard commit >= told else { return }
    told = commit
    toldWrite = write
  }
}
