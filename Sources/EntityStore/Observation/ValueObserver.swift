internal import LMDB
internal import LodestoreFormat

/// Reads something anew when what it depends on has changed.
final class ValueObserver<Value: Sendable>: Observer, @unchecked Sendable {
  /// What is read, and what it depends on.
  enum Subject {
    case record(EntityNumber, UInt64)
    case query(ObservedQuery)
    /// Found out by each read.
    case tracked
  }

  /// Reads the value; `nil` where it is the one before, unless it is the first.
  typealias Read = @Sendable (_ core: TransactionCore, _ isFirst: Bool) throws -> Value?

  private let read: Read
  private let subject: Subject
  private var region: ObservedRegion
  private(set) var value: Value?
  /// Whether the last read has looked at something for the first time: what was committed to that
  /// since the read began may have been told to nobody.
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

  /// Reads; returns whether the value is another one.
  func fetch(_ core: TransactionCore) throws -> Bool {
    var tracker: ReadTracker?
    if case .tracked = subject {
      tracker = ReadTracker()
      core.tracker = tracker
    }
    defer { core.tracker = nil }
    let fresh = try read(core, value == nil)
    if let fresh { value = fresh }
    if let tracker {
      hasGrown =
        !tracker.entities.isSubset(of: region.entities)
        || !tracker.relationships.isSubset(of: region.relationships)
      lock.lock()
      region.entities.formUnion(tracker.entities)
      region.relationships.formUnion(tracker.relationships)
      lock.unlock()
    }
    start(at: core.commitNumber.rawValue)
    return fresh != nil
  }
}

extension ValueObserver where Value: Equatable {
  /// The same, where equal values are the same.
  convenience init(
    _ subject: Subject, droppingEqual read: @escaping @Sendable (TransactionCore) throws -> Value
  ) {
    let last = Guarded<Value?>(nil)
    self.init(subject) { core, isFirst in
      let fresh = try read(core)
      let isSame = last.withLock { last in
        defer { last = fresh }
        return last == fresh
      }
      return isSame && !isFirst ? nil : fresh
    }
  }
}

/// Values that follow the store: each after a commit that changes what they depend on.
///
/// The first is that of the newest commit. Commits that come while the loop is busy are one; the loop ends when
/// its task is cancelled or the store is closed.
public struct ValueUpdates<Value: Sendable>: AsyncSequence, Sendable {
  /// One value.
  @_documentation(visibility: internal)
  public typealias Element = Value

  let center: ObservationCenter
  let make: @Sendable (TransactionCore) throws -> ValueObserver<Value>

  /// Begins with the value as it is.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(updates: self) }

  /// A loop over values.
  @_documentation(visibility: internal)
  public struct AsyncIterator: AsyncIteratorProtocol {
    let updates: ValueUpdates
    private var handle: ObserverHandle<ValueObserver<Value>>?
    private var isOver = false

    init(updates: ValueUpdates) { self.updates = updates }

    /// The next value; `nil` when the task is cancelled or the store is closed.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> Value? {
      if isOver || Task.isCancelled { return nil }
      do {
        guard let handle else { return try await first() }
        let center = updates.center
        while true {
          switch await handle.observer.wait({ center.request() }) {
          case .ended:
            isOver = true
            self.handle = nil
            return nil
          case .changed, .updated: if try await fetch(handle) { return handle.observer.value }
          }
        }
      } catch {
        isOver = true
        handle = nil
        throw error
      }
    }

    private mutating func first() async throws -> Value? {
      let (center, make) = (updates.center, updates.make)
      try center.core.checkOpen("observe")
      let observer = try await center.core.onReader { try center.core.read { try make($0) } }
      let handle = try ObserverHandle(observer, in: center)
      self.handle = handle
      _ = try await fetch(handle)
      return observer.value
    }

    /// Reads until all that the value depends on was observed before the read began.
    private func fetch(_ handle: ObserverHandle<ValueObserver<Value>>) async throws -> Bool {
      let core = updates.center.core
      let observer = handle.observer
      var isNew = false
      repeat {
        isNew = try await core.onReader { try core.read { try observer.fetch($0) } } || isNew
        updates.center.extend(observer)
      } while observer.hasGrown
      return isNew
    }
  }
}

extension Store {
  /// The record with `id` after each commit that changes it; `nil` while there is none.
  public func updates<E: Entity>(of id: RecordID<E>) -> ValueUpdates<E?> {
    ValueUpdates(center: observations) { core in
      let entity = try core.entity(E.self)
      // Its bytes tell whether it has changed.
      let last = Guarded<[UInt8]?>(nil)
      return ValueObserver(.record(entity.number, id.rawValue)) { core, isFirst in
        let entity = try core.entity(E.self)
        let bytes = try core.record(id.rawValue, of: entity)
        let isSame = last.withLock { last in
          let fresh = bytes.map { Array($0) }
          defer { last = fresh }
          return last == fresh
        }
        if isSame, !isFirst { return nil }
        let value: E? = try bytes.map {
          try core.decode(E.self, $0, id: id.rawValue, of: entity)
        }
        return .some(value)
      }
    }
  }

  /// How many records `query` finds, after each commit that changes it.
  public func updates<E: Entity>(ofCount query: Query<E>) -> ValueUpdates<Int> {
    ValueUpdates(center: observations) { core in
      let observed = try ObservedQuery(query.unordered(), core)
      return ValueObserver(
        .query(observed),
        droppingEqual: { core in
          try core.run(query.unordered(), wantsOnlyEntries: true).count()
        })
    }
  }

  /// What `body` reads, again after each commit that changes records of an entity, or links of a relationship,
  /// that it has looked at.
  ///
  ///     for try await total in store.values({ try $0.sum(Pod.all, \.downloads) }) { … }
  public func values<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> Value
  ) -> ValueUpdates<Value> {
    ValueUpdates(center: observations) { _ in
      ValueObserver(.tracked) { core, _ in .some(try body(Snapshot(core: core))) }
    }
  }

  /// What `body` reads, again after each commit that changes it: the same value is not told twice.
  public func values<Value: Equatable & Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> Value
  ) -> ValueUpdates<Value> {
    ValueUpdates(center: observations) { _ in
      ValueObserver(.tracked, droppingEqual: { core in try body(Snapshot(core: core)) })
    }
  }
}
