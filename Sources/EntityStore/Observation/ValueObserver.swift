internal import LMDB
internal import LodestoreFormat

/// Reads a value again when the records that it depends on have changed.
final class ValueObserver<Value: Sendable>: Observer, @unchecked Sendable {
  /// The kind of the value, which says when it may have changed.
  enum Subject {
    case record(EntityNumber, UInt64)
    case query(ObservedQuery)
    /// Found out by each read.
    case tracked
  }

  /// A value, and what notes that the loop has delivered it.
  struct Reading: Sendable {
    let value: Value
    let noteDelivery: @Sendable () -> Void

    init(_ value: Value, noteDelivery: @escaping @Sendable () -> Void = {}) {
      self.value = value
      self.noteDelivery = noteDelivery
    }
  }

  /// Reads the value; `nil` where it is the one that was delivered last.
  typealias Read = @Sendable (_ core: TransactionCore) throws -> Reading?

  private let read: Read
  private let subject: Subject
  private var region: ObservedRegion
  /// Whether the last read has read an entity or relationship for the first time.
  ///
  /// Commits to it since the read began may have been reported to nobody.
  private(set) var hasGrown = false

  init(_ subject: Subject, _ read: @escaping Read) {
    self.subject = subject
    self.read = read
    region = ObservedRegion()
    switch subject {
    case .record(let entity, _): region.entities = [entity]
    case .query(let query): region = query.region
    case .tracked: break
    }
  }

  override var dependencies: ObservedRegion { region }

  override func isConcerned(by changes: CommittedChanges) -> Bool {
    switch subject {
    case .record(let entity, let id):
      guard let delta = changes.delta.entity(entity) else { return false }
      return delta.isUnknown || delta.touched.contains(id)
    case .query(let query): return query.isConcerned(by: changes)
    case .tracked: return true
    }
  }

  /// Goes on from an observer of the store before, when nothing has changed of what its value
  /// depends on.
  ///
  /// - Returns: whether that is so; otherwise the value has to be read.
  func follow(
    _ before: ValueObserver, of older: StoreCore, _ core: TransactionCore
  ) throws -> Bool {
    if case .query(let query) = subject, query.dependsOnTime { return false }
    let region = before.dependencies
    guard try StoreReplacement.delta(from: older, to: core, in: region)?.isEmpty == true else {
      return false
    }
    lock.lock()
    self.region = region
    lock.unlock()
    start(at: core)
    return true
  }

  /// Reads; returns `nil` where the value is the one that was delivered last.
  func fetch(_ core: TransactionCore) throws -> Reading? {
    var tracker: ReadTracker?
    if case .tracked = subject {
      tracker = ReadTracker()
      core.tracker = tracker
    }
    defer { core.tracker = nil }
    let fresh = try read(core)
    if let tracker {
      hasGrown =
        !tracker.entities.isSubset(of: region.entities)
        || !tracker.relationships.isSubset(of: region.relationships)
      lock.lock()
      region.entities.formUnion(tracker.entities)
      region.relationships.formUnion(tracker.relationships)
      lock.unlock()
    }
    start(at: core)
    return fresh
  }
}

extension ValueObserver where Value: Equatable {
  /// Makes an observer of values that are not delivered twice when they are equal.
  ///
  /// - Parameter last: the value that was delivered last, of this observer or one before it.
  convenience init(
    _ subject: Subject, _ last: Guarded<Value?>,
    droppingEqual read: @escaping @Sendable (TransactionCore) throws -> Value
  ) {
    self.init(subject) { core in
      let fresh = try read(core)
      if let last = last.withLock({ $0 }), last == fresh { return nil }
      return Reading(fresh) { last.withLock { $0 = fresh } }
    }
  }
}

/// Values that follow the store: each after a commit that changes what they depend on.
///
/// The first is that of the newest commit. Commits that come while the loop is busy are one; the
/// loop ends when its task is cancelled or the store is closed.
public struct ValueUpdates<Value: Sendable>: AsyncSequence, Sendable {
  /// One value.
  @_documentation(visibility: internal)
  public typealias Element = Value

  /// Makes an observer of one store after the other, which know the last value.
  typealias Make = @Sendable () -> @Sendable (TransactionCore) throws -> ValueObserver<Value>

  let stores: FollowedStores.Origin
  let make: Make

  /// Begins with the value as it is.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  /// A loop over values.
  @_documentation(visibility: internal)
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let feed: ValueFeed<Value>

    init(_ updates: ValueUpdates) { feed = ValueFeed(updates.stores, updates.make()) }

    /// The next value; `nil` when the task is cancelled or the store is closed.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> Value? { try await feed.next() }
  }
}

/// The values of one loop.
final class ValueFeed<Value: Sendable>: @unchecked Sendable {
  // Used by the one task that loops.
  private let stores: FollowedStores
  private let make: @Sendable (TransactionCore) throws -> ValueObserver<Value>
  private var current: (store: ObservedStore, handle: ObserverHandle<ValueObserver<Value>>)?
  private var isOver = false

  init(
    _ origin: FollowedStores.Origin,
    _ make: @escaping @Sendable (TransactionCore) throws -> ValueObserver<Value>
  ) {
    stores = FollowedStores(origin)
    self.make = make
  }

  func next() async throws -> Value? {
    if isOver || Task.isCancelled { return nil }
    do {
      while true {
        if let current, !stores.hasNews {
          if let value = try await value(of: current) { return value }
          if isOver { return nil }
        } else {
          guard let next = try await stores.next() else { return end() }
          if let value = try await begin(next) { return value }
        }
        if Task.isCancelled { return end() }
      }
    } catch {
      _ = end()
      throw error
    }
  }

  private func end() -> Value? {
    isOver = true
    leave()
    return nil
  }

  private func leave() {
    stores.wakeOnNews(nil)
    current = nil
  }

  private func value(
    of current: (store: ObservedStore, handle: ObserverHandle<ValueObserver<Value>>)
  ) async throws -> Value? {
    let center = current.store.center
    switch await current.handle.observer.wait({ center.request() }) {
    case .ended:
      if stores.isSequence { leave() } else { _ = end() }
      return nil
    case .changed, .updated:
      if stores.hasNews { return nil }
      return try await goingOn { try await fetch(current.handle, center) }
    }
  }

  private func begin(_ next: ObservedStore) async throws -> Value? {
    let before = current
    leave()
    let core = next.center.core
    let make = make
    return try await goingOn {
      try core.checkOpen("observe")
      let observer = try await core.onReader { try core.read { try make($0) } }
      let handle = try ObserverHandle(observer, in: next.center)
      current = (next, handle)
      stores.wakeOnNews(observer)
      if let before {
        let (last, older) = (before.handle.observer, before.store.center.core)
        // A store before that is closed or damaged tells nothing.
        let isSame = try await core.onReader {
          try core.read { (try? observer.follow(last, of: older, $0)) ?? false }
        }
        if isSame {
          next.center.extend(observer)
          return nil
        }
      }
      return try await fetch(handle, next.center)
    }
  }

  /// Runs `body`; where another store may follow, the closing of this one is no error.
  private func goingOn(_ body: () async throws -> Value?) async throws -> Value? {
    do {
      return try await body()
    } catch let error as StoreError where error.code == .closed && stores.isSequence {
      leave()
      return nil
    }
  }

  /// Reads until all that the value depends on was observed before the read began.
  ///
  /// - Returns: `nil` where the value is the one that was delivered last.
  private func fetch(
    _ handle: ObserverHandle<ValueObserver<Value>>, _ center: ObservationCenter
  ) async throws -> Value? {
    let core = center.core
    let observer = handle.observer
    var reading: ValueObserver<Value>.Reading?
    repeat {
      reading = try await core.onReader { try core.read { try observer.fetch($0) } }
      center.extend(observer)
    } while observer.hasGrown
    reading?.noteDelivery()
    return reading?.value
  }
}

extension FollowedStores.Origin {
  func updates<E: Entity>(of id: RecordID<E>) -> ValueUpdates<E?> {
    ValueUpdates(stores: self) {
      // The bytes of the record say whether it has changed; in another store also its layouts.
      let last = Guarded<(entity: StoredEntity, bytes: [UInt8]?)?>(nil)
      return { core in
        let entity = try core.entity(E.self)
        return ValueObserver(.record(entity.number, id.rawValue)) { core in
          let entity = try core.entity(E.self)
          let bytes = try core.record(id.rawValue, of: entity)
          let fresh = bytes.map { Array($0) }
          if let last = last.withLock({ $0 }), last.bytes == fresh,
            last.entity === entity || last.entity.hasLayouts(of: entity)
          {
            return nil
          }
          let value: E? = try bytes.map {
            try core.decode(E.self, $0, id: id.rawValue, of: entity)
          }
          return .init(value) { last.withLock { $0 = (entity, fresh) } }
        }
      }
    }
  }

  func updates<E: Entity>(ofCount query: Query<E>) -> ValueUpdates<Int> {
    ValueUpdates(stores: self) {
      let last = Guarded<Int?>(nil)
      return { core in
        let observed = try ObservedQuery(query.unordered(), core)
        return ValueObserver(.query(observed), last) { core in
          try core.run(query.unordered(), wantsOnlyEntries: true).count()
        }
      }
    }
  }

  func values<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> Value
  ) -> ValueUpdates<Value> {
    ValueUpdates(stores: self) {
      { _ in ValueObserver(.tracked) { core in .init(try body(Snapshot(core: core))) } }
    }
  }

  func distinctValues<Value: Equatable & Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> Value
  ) -> ValueUpdates<Value> {
    ValueUpdates(stores: self) {
      let last = Guarded<Value?>(nil)
      return { _ in ValueObserver(.tracked, last) { core in try body(Snapshot(core: core)) } }
    }
  }
}

extension Store {
  /// The record with `id` after each commit that changes it; `nil` while no record has the id.
  public func updates<E: Entity>(of id: RecordID<E>) -> ValueUpdates<E?> {
    FollowedStores.Origin.one(observations).updates(of: id)
  }

  /// How many records `query` finds, after each commit that changes it.
  public func updates<E: Entity>(ofCount query: Query<E>) -> ValueUpdates<Int> {
    FollowedStores.Origin.one(observations).updates(ofCount: query)
  }

  /// The value that `body` reads, again after each commit that changes records of an entity, or
  /// links of a relationship, that `body` has read.
  ///
  ///     for try await total in store.values({ try $0.sum(Pod.all, \.downloads) }) { … }
  public func values<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> Value
  ) -> ValueUpdates<Value> {
    FollowedStores.Origin.one(observations).values(body)
  }

  /// The value that `body` reads, after each commit that changes it: equal values are not delivered
  /// twice.
  public func values<Value: Equatable & Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> Value
  ) -> ValueUpdates<Value> {
    FollowedStores.Origin.one(observations).distinctValues(body)
  }
}
