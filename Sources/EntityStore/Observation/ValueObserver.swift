internal import LMDB
internal import LodestoreFormat

/// The dependencies of a value, which determine when it may have changed.
enum ObservedSubject {
  case record(EntityNumber, UInt64)
  case query(ObservedQuery)
  /// The value depends on the entities and relationships that its last read used.
  case tracked

  fileprivate var region: ObservedRegion {
    switch self {
    case .record(let entity, _): ObservedRegion(entities: [entity])
    case .query(let query): query.region
    case .tracked: ObservedRegion()
    }
  }
}

/// Reads a value again when records have changed on which it depends.
///
/// The mutable state belongs to the task of the loop.
final class ValueObserver<Value: Sendable>: TrackingObserver, FollowedObserver, @unchecked Sendable
{
  /// A value, with a closure to call when the loop delivers the value.
  struct Reading {
    let value: Value
    let noteDelivery: @Sendable () -> Void
  }

  private let subject: ObservedSubject
  /// Reads the value; returns `nil` when it equals the value that was delivered last.
  private let read: @Sendable (_ core: TransactionCore) throws -> Reading?
  /// The reading that the loop has not taken.
  private var reading: Reading?

  init(
    _ subject: ObservedSubject, _ read: @escaping @Sendable (TransactionCore) throws -> Reading?
  ) {
    self.subject = subject
    self.read = read
    super.init(subject.region)
  }

  override func isConcerned(by changes: ObservationRound) -> Bool {
    switch subject {
    case .record(let entity, let id):
      guard let delta = changes.delta.entity(entity) else { return false }
      return delta.isUnknown || delta.touched.contains(id)
    case .query(let query): return query.isConcerned(by: changes)
    case .tracked: return true
    }
  }

  func follow(_ last: ValueObserver, of older: StoreCore, _ core: TransactionCore) throws -> Bool {
    if case .query(let query) = subject, query.dependsOnTime { return false }
    return try goOn(from: last, of: older, core)
  }

  func fetch(_ core: TransactionCore) throws {
    if case .tracked = subject {
      reading = try tracking(core) { try read(core) }
    } else {
      reading = try read(core)
      start(at: core)
    }
  }

  func takeUpdate() -> Value? {
    defer { reading = nil }
    reading?.noteDelivery()
    return reading?.value
  }
}

/// Values that follow the store, each after a commit that changes its dependencies.
///
/// The first value is that of the newest commit. Commits made while the loop body runs are merged.
/// The loop ends when its task is cancelled or the store is closed.
public struct ValueUpdates<Value: Sendable>: AsyncSequence, Sendable {
  /// A value.
  @_documentation(visibility: internal)
  public typealias Element = Value

  fileprivate let makeFeed: @Sendable () -> FollowedFeed<ValueObserver<Value>>

  /// Creates an iterator that begins with the current value.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(feed: makeFeed()) }

  /// A loop over values.
  @_documentation(visibility: internal)
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let feed: FollowedFeed<ValueObserver<Value>>

    /// The next value; `nil` when the task is cancelled or the store is closed.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> Value? { try await feed.next() }
  }
}

extension FollowedOrigin {
  /// Values that are read again when their dependencies have changed.
  ///
  /// - Parameter read: receives the mark of the value delivered last, which is the data for
  ///   recognizing an equal value. Returns `nil` for an equal value, otherwise the value and its
  ///   mark.
  private func values<Value: Sendable, Mark: Sendable>(
    of subject: @escaping @Sendable (TransactionCore) throws -> ObservedSubject,
    _ read: @escaping @Sendable (TransactionCore, Mark?) throws -> (value: Value, mark: Mark)?
  ) -> ValueUpdates<Value> {
    ValueUpdates {
      let last = Guarded<Mark?>(nil)
      return FollowedFeed(self) { core, _ in
        ValueObserver(try subject(core)) { core in
          guard let (value, mark) = try read(core, last.withLock { $0 }) else { return nil }
          return ValueObserver.Reading(value: value) { last.withLock { $0 = mark } }
        }
      }
    }
  }

  func updates<E: Entity>(of id: RecordID<E>) -> ValueUpdates<E?> {
    // The bytes of the record show whether it has changed. For a record of another store, the
    // layouts are compared too.
    typealias Mark = (entity: StoredEntity, bytes: [UInt8]?)
    return values(of: { .record(try $0.entity(E.self).number, id.rawValue) }) {
      (core, last: Mark?) in
      let entity = try core.entity(E.self)
      let bytes = try core.record(id.rawValue, of: entity)
      let fresh = bytes.map { Array($0) }
      if let last, last.bytes == fresh,
        last.entity === entity || last.entity.hasLayouts(of: entity)
      {
        return nil
      }
      let value: E? = try bytes.map { try core.decode(E.self, $0, id: id.rawValue, of: entity) }
      return (value, (entity, fresh))
    }
  }

  func updates<E: Entity>(ofCount query: Query<E>) -> ValueUpdates<Int> {
    values(of: { .query(try ObservedQuery(query.unordered(), $0)) }) { (core, last: Int?) in
      let count = try core.run(query.unordered(), wantsOnlyEntries: true).count()
      return count == last ? nil : (count, count)
    }
  }

  func values<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> Value
  ) -> ValueUpdates<Value> {
    values(of: { _ in .tracked }) { (core, _: Void?) in (try body(Snapshot(core: core)), ()) }
  }

  func distinctValues<Value: Equatable & Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> Value
  ) -> ValueUpdates<Value> {
    values(of: { _ in .tracked }) { (core, last: Value?) in
      let value = try body(Snapshot(core: core))
      return value == last ? nil : (value, value)
    }
  }
}

extension Store {
  /// The record with `id` after each commit that changes it; `nil` while no record has the id.
  public func updates<E: Entity>(of id: RecordID<E>) -> ValueUpdates<E?> {
    followed.updates(of: id)
  }

  /// The number of results of `query`, after each commit that changes it.
  public func updates<E: Entity>(ofCount query: Query<E>) -> ValueUpdates<Int> {
    followed.updates(ofCount: query)
  }

  /// The result of `body`, recomputed after each commit that may change it.
  ///
  /// A commit counts if it changes records of an entity, or links of a relationship, that `body`
  /// has read.
  ///
  ///     for try await total in store.updates({ try $0.aggregate(Pod.all, .sum(\.downloads)) }) { … }
  public func updates<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> Value
  ) -> ValueUpdates<Value> {
    followed.values(body)
  }

  /// The result of `body`, after each commit that changes it; equal values are not delivered twice.
  public func updates<Value: Equatable & Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> Value
  ) -> ValueUpdates<Value> {
    followed.distinctValues(body)
  }
}
