/// An observer of one store that reads the values that a loop delivers.
protocol FollowedObserver: Observer {
  associatedtype Update: Sendable

  /// Continues from the observer of the previous store, with the changes from that store to this
  /// one.
  ///
  /// - Returns: whether the changes are known; if not, the caller calls ``fetch(_:)``.
  func follow(_ last: Self, of older: StoreCore, _ core: TransactionCore) throws -> Bool

  /// Reads the state of the transaction's commit.
  func fetch(_ core: TransactionCore) throws

  /// Whether the last read used an entity or relationship for the first time.
  ///
  /// Commits that changed it since the read began may not have been reported to this observer.
  var hasGrown: Bool { get }

  /// Returns the update that the loop delivers; `nil` when nothing differs from the last delivered
  /// state.
  func takeUpdate() -> Update?
}

/// The updates of one loop, from one store or from the newest of a sequence of stores.
///
/// The `Sendable` conformance is unchecked, because only the task of the loop uses the feed.
final class FollowedFeed<O: FollowedObserver>: @unchecked Sendable {
  /// Creates the observer of a store; `last` is the observer of the previous store.
  typealias Make = @Sendable (_ core: TransactionCore, _ last: O?) throws -> O

  private let stores: FollowedStores
  private let make: Make
  /// The followed store; `nil` before the first store and after the last.
  private var current: (store: ObservedStore, handle: ObserverHandle<O>)?
  /// The observer that performed the last read.
  private var last: O?
  private var isOver = false

  init(_ origin: FollowedOrigin, _ make: @escaping Make) {
    stores = FollowedStores(origin)
    self.make = make
  }

  func next() async throws -> O.Update? {
    if isOver || Task.isCancelled { return nil }
    do {
      while true {
        if let current, !stores.hasArrival {
          if let update = try await nextUpdate(of: current.handle) { return update }
          if isOver { return nil }
        } else {
          guard let next = try await stores.next() else { return end() }
          if let update = try await begin(next) { return update }
        }
        if Task.isCancelled { return end() }
      }
    } catch {
      _ = end()
      throw error
    }
  }

  private func end() -> O.Update? {
    isOver = true
    stopFollowing()
    return nil
  }

  private func stopFollowing() {
    stores.wakeOnArrival(nil)
    current = nil
  }

  /// Waits for an update of the followed store; returns `nil` when the next store may have arrived
  /// instead.
  private func nextUpdate(of handle: ObserverHandle<O>) async throws -> O.Update? {
    switch await handle.observer.wait({ handle.center.request() }) {
    case .ended:
      // A loop over a single store ends when the store is closed.
      if !stores.isSequence { return end() }
      stopFollowing()
      return nil
    case .updated: return handle.observer.takeUpdate()
    case .changed:
      if stores.hasArrival { return nil }
      return try await continuingIfClosed { try await fetch(handle) }
    }
  }

  /// Continues with another store: with the changes from the previous store if they are known,
  /// otherwise with a read.
  private func begin(_ next: ObservedStore) async throws -> O.Update? {
    let before = current?.store
    stopFollowing()
    let core = next.center.core
    let (make, last) = (make, last)
    return try await continuingIfClosed {
      try core.checkOpen("observe")
      let observer = try await core.onReader { try core.read { try make($0, last) } }
      let handle = try ObserverHandle(observer, in: next.center)
      current = (next, handle)
      stores.wakeOnArrival(observer)
      if let last, let older = before?.center.core {
        // When the previous store is closed or damaged, its changes are unknown.
        let follows = try await core.onReader {
          try core.read { (try? observer.follow(last, of: older, $0)) ?? false }
        }
        if follows {
          next.center.extend(observer)
          self.last = observer
          return observer.takeUpdate()
        }
      }
      return try await fetch(handle)
    }
  }

  /// Runs `body`; returns `nil` instead of an error if this store was closed and another may
  /// follow.
  private func continuingIfClosed(_ body: () async throws -> O.Update?) async throws -> O.Update? {
    do {
      return try await body()
    } catch let error as StoreError where error.code == .closed && stores.isSequence {
      stopFollowing()
      return nil
    }
  }

  /// Reads until a read uses only entities and relationships that were observed before it began.
  private func fetch(_ handle: ObserverHandle<O>) async throws -> O.Update? {
    let (core, observer) = (handle.center.core, handle.observer)
    repeat {
      try await core.onReader { try core.read { try observer.fetch($0) } }
      // If the schema has changed, the read may have used more entities than earlier reads. Changes
      // of these entities must be reported too.
      handle.center.extend(observer)
    } while observer.hasGrown
    last = observer
    return observer.takeUpdate()
  }
}
