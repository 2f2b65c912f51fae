public import EntityStore
internal import Synchronization

/// A copy of a replica's store on this machine, which follows the log.
///
///     let follower = try await Replica.follower(at: "copy", of: bucket, entities: [Pod.self])
///     let pods = try follower.store.fetch(Pod.where { $0.stars > 3 })
///     for try await update in follower.updates(of: Pod.all) { show(update.items) }
///
/// Programs read the store at local speed, and nobody can write through it. Each transaction of the
/// follower has whole writes of the writer, in their order, and the follower's place in the log.
/// After a crash the follower continues exactly there.
///
/// A base replaces the file when the writer's schema has changed, and when the follower was away
/// for longer than the log is kept. ``store`` then is another object. ``stores`` and
/// ``updates(of:)`` follow the replacement.
public final class ReplicaFollower: Sendable {
  private let loop: FollowerLoop

  init(_ loop: FollowerLoop) { self.loop = loop }

  deinit { loop.cancel() }

  /// The current store, read-only.
  public var store: Store { loop.shared.store }

  /// The current store, and each one that replaces it.
  ///
  /// The sequence ends when the follower is stopped.
  public var stores: AsyncStream<Store> { loop.shared.stores() }

  /// The results of a query, and again after each commit and each replacement that changes them.
  @inlinable
  public func updates<E: Entity>(of query: Query<E>) -> ResultUpdates<E> {
    stores.updates(of: query)
  }

  /// The state of the follower.
  public var status: ReplicaFollowerStatus { loop.currentStatus }

  /// Applies all entries that the log has now.
  ///
  /// If a poll is in progress, the call waits for it and polls again.
  ///
  /// - Throws: ``ReplicaError``; `CancellationError`. The store then has the entries that were
  ///   applied before, and the follower goes on unless ``ReplicaFollowerStatus/end`` is set.
  public func catchUp() async throws { try await loop.catchUp() }

  /// Ends the follower; the store stays open.
  ///
  /// ``stores`` and ``updates(of:)`` end. The folder is then free for another follower, or for a
  /// takeover.
  public func stop() async { await loop.stop() }
}

/// The state of a follower that callers on any thread read.
final class FollowerShared: Sendable {
  private struct State {
    var store: Store
    var status = ReplicaFollowerStatus()
    var waiting: [Int: AsyncStream<Store>.Continuation] = [:]
    var last = 0
    var isEnded = false
  }

  private let state: Mutex<State>
  private let onStatus: (@Sendable (ReplicaFollowerStatus) -> Void)?

  init(_ store: Store, _ onStatus: (@Sendable (ReplicaFollowerStatus) -> Void)?) {
    state = Mutex(State(store: store))
    self.onStatus = onStatus
  }

  var store: Store { state.withLock { $0.store } }

  var status: ReplicaFollowerStatus { state.withLock { $0.status } }

  func change(_ body: (inout ReplicaFollowerStatus) -> Void) {
    let status = state.withLock { state in
      body(&state.status)
      return state.status
    }
    onStatus?(status)
  }

  func stores() -> AsyncStream<Store> {
    let (stream, continuation) = AsyncStream<Store>.makeStream(
      bufferingPolicy: .bufferingNewest(1))
    let number: Int? = state.withLock { state in
      continuation.yield(state.store)
      if state.isEnded { return nil }
      state.last += 1
      state.waiting[state.last] = continuation
      return state.last
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.waiting.removeValue(forKey: number) }
    }
    return stream
  }

  func replace(_ store: Store) {
    let waiting = state.withLock { state in
      state.store = store
      return Array(state.waiting.values)
    }
    for continuation in waiting { continuation.yield(store) }
  }

  /// Ends all sequences.
  func end() {
    let waiting = state.withLock { state in
      state.isEnded = true
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for continuation in waiting { continuation.finish() }
  }
}
