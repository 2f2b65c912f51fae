public import EntityStore
internal import Synchronization

/// A follower that becomes the writer after the present writer has ended.
///
///     let standby = try await Replica.standby(at: "copy", of: bucket, entities: [Pod.self])
///     let store = try await standby.waitToTakeOver()
///     let writer = try await Replica.writer(store, to: bucket)
///
/// The writer renews its lease in the storage. The standby measures the time without a renewal and
/// without new entries by its own clock, and takes over when this time exceeds the lease. A fence
/// in the log stops the former writer, also if it was only slow. Commits that it has not sent are
/// reported by its `ReplicaError` with the code `fenced`.
public final class ReplicaStandby: Sendable {
  private struct State {
    var follower: ReplicaFollower?
    var status = ReplicaStandbyStatus()
    var isStopped = false
  }

  private let state: Mutex<State>
  private let run: StandbyRun

  init(_ run: StandbyRun, _ follower: ReplicaFollower?) {
    self.run = run
    state = Mutex(State(follower: follower))
  }

  /// The follower whose store the program reads before the takeover.
  ///
  /// `nil` after a takeover, also an earlier one with the same folder.
  public var follower: ReplicaFollower? { state.withLock { $0.follower } }

  /// The state of the standby.
  public var status: ReplicaStandbyStatus {
    let (status, follower) = state.withLock { ($0.status, $0.follower) }
    return completed(status, follower)
  }

  private func completed(
    _ status: ReplicaStandbyStatus, _ follower: ReplicaFollower?
  ) -> ReplicaStandbyStatus {
    var status = status
    status.traffic = run.client.storage.traffic
    if let follower { status.follower = follower.status }
    return status
  }

  private var isStopped: Bool { state.withLock { $0.isStopped } }

  /// Waits until the writer has ended, takes over, and returns the store for writing.
  ///
  /// The call goes on after failures of the storage; ``status`` has the last one. If the
  /// folder's store has taken over earlier, the call returns at once. `Replica.writer` then reports
  /// whether this store is still the newest writer's.
  ///
  /// One task at a time may call this method. After cancellation the follower still runs.
  ///
  /// - Throws: ``ReplicaError`` for a failure that stays; `StoreError` if the entities do not fit
  ///   the store; `CancellationError`.
  public func waitToTakeOver() async throws -> Store {
    var watch = LeaseWatch(assuming: run.options.assumedLease)
    while let follower {
      let interval = watch.interval(atMost: run.options.leasePollInterval)
      do {
        // A takeover that has failed has ended the follower.
        if follower.status.end?.code == .stopped, !isStopped {
          try await followAgain()
          continue
        }
        let remaining = try await run.look(follower, &watch)
        note(watch, remaining)
        if remaining == .zero {
          if try await claimAndTakeOver(follower, watch) { break }
          watch.fail()
        }
      } catch let error as ReplicaError where error.isPassing {
        watch.fail()
        note(watch, nil, error)
      }
      let clock = run.client.clock
      try await clock.sleep(interval * clock.random(0.8...1))
    }
    guard !isStopped else { throw ReplicaError.stopped(run.folder.path) }
    return try run.store()
  }

  /// Ends the follower; the store stays open.
  ///
  /// A call of ``waitToTakeOver()`` is cancelled with its task.
  public func stop() async {
    let follower = state.withLock { state in
      state.isStopped = true
      defer { state.follower = nil }
      return state.follower
    }
    await follower?.stop()
  }

  // MARK: Steps

  private func note(
    _ watch: LeaseWatch, _ remaining: Duration?, _ failure: ReplicaError? = nil
  ) {
    let (status, follower) = state.withLock { state in
      state.status.leaseHolder = watch.lease?.holder
      state.status.timeUntilTakeover = remaining
      state.status.lastFailure = failure
      return (state.status, state.follower)
    }
    run.options.onStatus?(completed(status, follower))
  }

  /// Takes over, unless another standby or the writer has changed the lease.
  private func claimAndTakeOver(
    _ follower: ReplicaFollower, _ watch: LeaseWatch
  ) async throws -> Bool {
    guard try await run.claim(after: follower.status.epoch, watch) else { return false }
    await follower.stop()
    let report = try await run.takeOver()
    let status = state.withLock { state in
      state.follower = nil
      state.status.follower = follower.status
      state.status.takeover = report
      state.status.lastFailure = nil
      return state.status
    }
    run.options.onStatus?(completed(status, nil))
    return true
  }

  private func followAgain() async throws {
    let follower = try await run.follower()
    let isStopped = state.withLock { state in
      if !state.isStopped { state.follower = follower }
      return state.isStopped
    }
    if isStopped { await follower.stop() }
  }
}
