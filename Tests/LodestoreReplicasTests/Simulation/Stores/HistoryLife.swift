#if Datasets
  import EntityStore
  import Foundation

  @testable import LodestoreReplicas

  /// A machine of a history, whose folder stays when its process ends.
  ///
  /// All calls come from the thread of the history.
  final class HistoryMachine: @unchecked Sendable {
    let number: Int
    /// The difference of the machine's calendar from the true one, in seconds.
    let calendarOffset: Double
    var folder: String
    /// An earlier copy of the folder.
    var backup: String?
    /// The folder was replaced by the earlier copy, so its store is an older one.
    var isRolledBack = false
    /// The store's history was purged, so an opening may be unable to compare entries with it.
    var hasPurged = false
    /// Entries that are on their way to the storage.
    var late: [Late] = []

    typealias Late = (number: Int, call: HistoryCall, sender: HistorySender)

    init(number: Int, calendarOffset: Double, folder: String) {
      self.number = number
      self.calendarOffset = calendarOffset
      self.folder = folder
    }

    /// Continues with an empty folder.
    func replaceFolder(by folder: String) {
      self.folder = folder
      (backup, isRolledBack, hasPurged) = (nil, false, false)
    }
  }

  /// The facts about a process when it sends a request, by which the oracle judges the request.
  struct HistorySender {
    let life: HistoryLife
    let retention: Duration?
    let followerTimeout: Duration
    /// The time of the list of followers by which a running collection goes.
    let followersListedAt: Int64

    /// The time of the machine's calendar at a true time.
    func calendar(at time: Int64) -> Double {
      let history = life.history
      return history.calendar + life.machine.calendarOffset - Double(history.time - time) * 1e-9
    }
  }

  /// A process of a machine, from its start to its end or its death.
  ///
  /// All calls come from the thread of the history.
  final class HistoryLife: @unchecked Sendable {
    let history: StoreHistory
    let machine: HistoryMachine
    let number: Int
    let folder: String
    let executor = HistoryExecutor()
    /// The process is killed: its tasks end, and reach nobody any more.
    private(set) var isDead = false
    /// The tasks of the process have ended.
    var isOver = false
    /// The writer's store has labels.
    var hasLabels = false
    /// The options of the process's writer.
    var writerOptions = ReplicaWriterOptions()
    /// The times of the last two lists of followers.
    private var followerLists: [Int64] = []
    /// The process is stopped until this time.
    var frozenUntil: Int64 = 0
    /// The network is cut until this time.
    var cutUntil: Int64 = 0
    private var task: Task<Void, Never>?
    /// The ends of all waits, by their numbers.
    private var waits: [Int: () -> Void] = [:]
    private var lastWait = 0

    init(_ history: StoreHistory, _ machine: HistoryMachine, number: Int) {
      self.history = history
      self.machine = machine
      self.number = number
      folder = machine.folder
    }

    var name: String { "machine \(machine.number)" }
    var isFrozen: Bool { frozenUntil > history.time }
    var storePath: String { folder + "/store.lodestore" }
    var copyPath: String { folder + "/copy" }
    var storage: ReplicaStorage { ReplicaStorage(HistoryStorage(life: self), clock: clock) }

    var clock: ReplicaClock {
      let history = history
      return ReplicaClock(
        now: { [machine] in history.calendar + machine.calendarOffset },
        instant: { history.start.advanced(by: .nanoseconds(history.time)) },
        sleep: { [self] in try await sleep($0) },
        random: { history.random(in: $0) }, executor: executor, watchesFiles: false)
    }

    func begin(_ body: @escaping @Sendable () async -> Void) {
      task = Task(executorPreference: executor) {
        await body()
        self.isOver = true
      }
    }

    /// Ends the process without a further step that reaches the storage or the machine's folder.
    func die() {
      guard !isDead else { return }
      isDead = true
      frozenUntil = 0
      task?.cancel()
      for number in waits.keys.sorted() { waits[number]?() }
    }

    // MARK: Requests

    func noteFollowerList(at time: Int64) { followerLists = followerLists.suffix(1) + [time] }

    /// The facts about the process when it sends a request.
    var sender: HistorySender {
      // Two collections may run at once, so that the earlier one of the last two lists counts.
      HistorySender(
        life: self, retention: writerOptions.retention,
        followerTimeout: writerOptions.followerTimeout,
        followersListedAt: followerLists.first ?? -1)
    }

    // MARK: Waits

    /// Suspends the task until `begin`'s closure receives a value.
    func parked<R: Sendable>(
      whenCancelled cancelled: R, _ begin: (@escaping @Sendable (R) -> Void) -> Void
    ) async -> R {
      let place = Place<R>()
      return await withTaskCancellationHandler {
        await withUnsafeContinuation { continuation in
          if isDead || place.isCancelled { return continuation.resume(returning: cancelled) }
          place.continuation = continuation
          lastWait += 1
          let number = lastWait
          waits[number] = { place.end(cancelled) }
          begin { [self] value in
            waits[number] = nil
            place.end(value)
          }
        }
      } onCancel: {
        place.isCancelled = true
        place.end(cancelled)
      }
    }

    func sleep(_ duration: Duration) async throws {
      let isDone = await parked(whenCancelled: false) { done in
        history.schedule(after: Int64(duration / .nanoseconds(1)), for: self) { done(true) }
      }
      if !isDone { throw CancellationError() }
    }

    /// Waits a random time.
    func rest(_ seconds: ClosedRange<Double>) async throws {
      try await sleep(.seconds(history.random(in: seconds)))
    }
  }

  /// A task that waits, which the first value resumes.
  private final class Place<R: Sendable>: @unchecked Sendable {
    var continuation: UnsafeContinuation<R, Never>?
    var isCancelled = false

    func end(_ value: R) {
      let waiting = continuation
      continuation = nil
      waiting?.resume(returning: value)
    }
  }
#endif
