internal import EntityStore
internal import Synchronization

/// Tells open pages of each commit that any process makes.
///
/// One watch of the store serves all pages, and exists only while a page is open. No transaction is
/// open between commits. A page that is slow to take its events gets the newest one alone.
final class LiveFeed: Sendable {
  enum Event: Sendable, Equatable {
    /// The number of the newest commit; repeated at intervals.
    case commit(UInt64)
    /// The last event of a page whose place another page has taken.
    case replaced
  }

  struct Limits: Sendable {
    /// The number of open pages; the oldest gives its place to a new one.
    var pages = 24
    /// The time after which the newest commit is reported again, which shows the server whether the
    /// page is still open.
    var heartbeat = Duration.seconds(15)
    /// The least time between two commits that are reported, in milliseconds.
    var rest: Int32 = 200
  }

  private struct State {
    var pages: [(number: Int, events: AsyncStream<Event>.Continuation)] = []
    var nextNumber = 0
    var commit: UInt64 = 0
    var run: Run?
    var isEnded = false
  }

  private struct Added {
    let number: Int
    /// The events of the page that gives its place to the new one.
    let oldest: AsyncStream<Event>.Continuation?
  }

  /// The work that goes on while a page is open.
  private struct Run {
    let watch: CommitWatch
    let heartbeat: Task<Void, Never>
  }

  private let store: DynamicStore
  private let limits: Limits
  private let state = Mutex(State())

  init(_ store: DynamicStore, limits: Limits = Limits()) {
    self.store = store
    self.limits = limits
  }

  deinit { end() }

  /// The number of open pages.
  var pageCount: Int { state.withLock { $0.pages.count } }

  /// Whether the store is being watched.
  var isWatching: Bool { state.withLock { $0.run != nil } }

  /// Returns the events for one page, which begin with the newest commit.
  ///
  /// The events end when the page no longer takes them, when the store is closed, or by ``end()``.
  func events() throws -> AsyncStream<Event> {
    let (stream, events) = AsyncStream.makeStream(
      of: Event.self, bufferingPolicy: .bufferingNewest(1))
    let commit = try store.read { $0.commitNumber }
    let added = try state.withLock { state -> Added? in
      guard !state.isEnded else { return nil }
      state.commit = max(state.commit, commit)
      if state.run == nil { state.run = try begin(after: state.commit) }
      let oldest =
        state.pages.count >= limits.pages ? state.pages.removeFirst().events : nil
      state.nextNumber += 1
      state.pages.append((state.nextNumber, events))
      events.yield(.commit(state.commit))
      return Added(number: state.nextNumber, oldest: oldest)
    }
    guard let added else {
      events.finish()
      return stream
    }
    events.onTermination = { [weak self] _ in self?.remove(added.number) }
    // An end calls back, so it must not happen inside the lock.
    added.oldest?.yield(.replaced)
    added.oldest?.finish()
    return stream
  }

  private func begin(after commit: UInt64) throws -> Run {
    let watch = try store.watchCommits(after: commit, restMilliseconds: limits.rest) {
      [weak self] commit in
      if let commit { self?.report(commit) } else { self?.end() }
    }
    let heartbeat = Task { [weak self, interval = limits.heartbeat] in
      while (try? await Task.sleep(for: interval)) != nil {
        guard let self else { return }
        self.report(nil)
      }
    }
    return Run(watch: watch, heartbeat: heartbeat)
  }

  /// Reports a commit, or repeats the newest one.
  private func report(_ commit: UInt64?) {
    state.withLock { state in
      state.commit = max(state.commit, commit ?? 0)
      for page in state.pages { page.events.yield(.commit(state.commit)) }
    }
  }

  private func remove(_ number: Int) {
    let run = state.withLock { state -> Run? in
      state.pages.removeAll { $0.number == number }
      return state.pages.isEmpty ? state.run.take() : nil
    }
    run?.heartbeat.cancel()
  }

  /// Ends the events of all pages, for good.
  func end() {
    let (pages, run) = state.withLock { state in
      state.isEnded = true
      defer { state.pages = [] }
      return (state.pages.map(\.events), state.run.take())
    }
    run?.heartbeat.cancel()
    for events in pages { events.finish() }
  }
}

/// Server-sent events as text.
struct EventText {
  static let contentType = "text/event-stream"

  private var last: UInt64?

  /// The bytes of the next event; a commit that was sent before becomes a comment.
  mutating func bytes(of event: LiveFeed.Event) -> [UInt8] {
    switch event {
    case .replaced: return Array("retry: 60000\n\n".utf8)
    case .commit(let number) where number == last: return Array(": \(number)\n\n".utf8)
    case .commit(let number):
      let start = last == nil ? "retry: 2000\n" : ""
      last = number
      return Array("\(start)event: commit\nid: \(number)\ndata: \(number)\n\n".utf8)
    }
  }
}
