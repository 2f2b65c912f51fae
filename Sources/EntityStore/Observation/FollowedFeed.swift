/// An observer of one store that reads what a loop delivers.
protocol FollowedObserver: Observer {
  associatedtype News: Sendable

  /// Goes on from the observer of the store before, by the changes from that store to this one.
  ///
  /// - Returns: whether the changes are known; otherwise the caller calls ``fetch(_:)``.
  func follow(_ last: Self, of older: StoreCore, _ core: TransactionCore) throws -> Bool

  /// Reads the state of a commit.
  func fetch(_ core: TransactionCore) throws

  /// Whether the last read has read an entity or relationship for the first time.
  ///
  /// Commits to it since the read began may have been reported to nobody.
  var hasGrown: Bool { get }

  /// Takes the news that the loop delivers; `nil` where nothing differs from the last ones.
  func takeNews() -> News?
}

/// The news that one loop delivers, of one store or of the newest of a sequence of stores.
///
/// Unchecked: used by the one task that loops.
final class FollowedFeed<O: FollowedObserver>: @unchecked Sendable {
  /// Makes the observer of a store; `last` is that of a store before.
  typealias Make = @Sendable (_ core: TransactionCore, _ last: O?) throws -> O

  private let stores: FollowedStores
  private let make: Make
  /// The store that is followed; `nil` before the first store and after the last.
  private var current: (store: ObservedStore, handle: ObserverHandle<O>)?
  /// The observer that has read last.
  private var last: O?
  private var isOver = false

  init(_ origin: FollowedOrigin, _ make: @escaping Make) {
    stores = FollowedStores(origin)
    self.make = make
  }

  func next() async throws -> O.News? {
    if isOver || Task.isCancelled { return nil }
    do {
      while true {
        if let current, !stores.hasNews {
          if let news = try await news(of: current.handle) { return news }
          if isOver { return nil }
        } else {
          guard let next = try await stores.next() else { return end() }
          if let news = try await begin(next) { return news }
        }
        if Task.isCancelled { return end() }
      }
    } catch {
      _ = end()
      throw error
    }
  }

  private func end() -> O.News? {
    isOver = true
    leave()
    return nil
  }

  private func leave() {
    stores.wakeOnNews(nil)
    current = nil
  }

  /// Waits for news of the store that is followed; `nil` where there are none, and the next store
  /// may have come.
  private func news(of handle: ObserverHandle<O>) async throws -> O.News? {
    switch await handle.observer.wait({ handle.center.request() }) {
    case .ended:
      // Without further stores, the end of the store is the end.
      if !stores.isSequence { return end() }
      leave()
      return nil
    case .updated: return handle.observer.takeNews()
    case .changed:
      if stores.hasNews { return nil }
      return try await goingOn { try await fetch(handle) }
    }
  }

  /// Goes on with another store: by the changes from the store before where these are known,
  /// otherwise by a read.
  private func begin(_ next: ObservedStore) async throws -> O.News? {
    let before = current?.store
    leave()
    let core = next.center.core
    let (make, last) = (make, last)
    return try await goingOn {
      try core.checkOpen("observe")
      let observer = try await core.onReader { try core.read { try make($0, last) } }
      let handle = try ObserverHandle(observer, in: next.center)
      current = (next, handle)
      stores.wakeOnNews(observer)
      if let last, let older = before?.center.core {
        // A store before that is closed or damaged tells nothing.
        let follows = try await core.onReader {
          try core.read { (try? observer.follow(last, of: older, $0)) ?? false }
        }
        if follows {
          next.center.extend(observer)
          self.last = observer
          return observer.takeNews()
        }
      }
      return try await fetch(handle)
    }
  }

  /// Runs `body`; where another store may follow, the closing of this one is no error.
  private func goingOn(_ body: () async throws -> O.News?) async throws -> O.News? {
    do {
      return try await body()
    } catch let error as StoreError where error.code == .closed && stores.isSequence {
      leave()
      return nil
    }
  }

  /// Reads until all that is read was observed before the read began.
  private func fetch(_ handle: ObserverHandle<O>) async throws -> O.News? {
    let (core, observer) = (handle.center.core, handle.observer)
    repeat {
      try await core.onReader { try core.read { try observer.fetch($0) } }
      // The read may have used more entities than the one before, of another schema.
      handle.center.extend(observer)
    } while observer.hasGrown
    last = observer
    return observer.takeNews()
  }
}
