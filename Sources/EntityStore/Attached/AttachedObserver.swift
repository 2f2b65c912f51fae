internal import LMDB
internal import LodestoreFormat

/// Notes what a read of one of two stores has looked at, and reports when that changes.
///
/// Mutable state: `region`, under the observer's lock; `hasGrown`, of the one task that reads.
final class AttachedObserver: Observer, @unchecked Sendable {
  private var region = ObservedRegion()
  private let report: @Sendable () -> Void
  /// Whether the last read has looked at something for the first time: what was committed to that
  /// since the read began may have been told to nobody.
  private(set) var hasGrown = false

  init(report: @escaping @Sendable () -> Void) { self.report = report }

  override var dependencies: ObservedRegion { region }

  override func notice() { report() }

  /// Runs `body` and notes which entities and relationships it reads.
  func tracking<R>(_ core: TransactionCore, _ body: () throws -> R) throws -> R {
    let tracker = ReadTracker()
    core.tracker = tracker
    defer { core.tracker = nil }
    let result = try body()
    hasGrown =
      !tracker.entities.isSubset(of: region.entities)
      || !tracker.relationships.isSubset(of: region.relationships)
    lock.lock()
    region.entities.formUnion(tracker.entities)
    region.relationships.formUnion(tracker.relationships)
    lock.unlock()
    start(at: core.commitNumber.rawValue)
    return result
  }
}

/// What a loop reads from both stores, again after each commit to one of them that may change it and after
/// each replacement of the dataset.
///
/// Unchecked: used by the one task that loops.
final class AttachedFeed<Value: Sendable>: @unchecked Sendable {
  typealias Read = @Sendable (borrowing AttachedSnapshot) throws -> Value

  private typealias Handle = ObserverHandle<AttachedObserver>

  private let attached: AttachedStore
  private let read: Read
  private let news: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation
  private var own: Handle?
  private var other: (store: Store, handle: Handle)?
  private var replacements: Task<Void, Never>?
  private var isOver = false

  init(_ attached: AttachedStore, _ read: @escaping Read) {
    self.attached = attached
    self.read = read
    (news, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  deinit { replacements?.cancel() }

  /// The next value; `nil` when the task is cancelled, or the store or the dataset is closed.
  func next() async throws -> Value? {
    if isOver || Task.isCancelled { return nil }
    do {
      if let value = try await waited() { return value }
    } catch {
      end()
      throw error
    }
    end()
    return nil
  }

  private func end() {
    isOver = true
    own = nil
    other = nil
    replacements?.cancel()
  }

  private func waited() async throws -> Value? {
    guard let own else { return try await first() }
    for await _ in news {
      if Task.isCancelled || own.observer.isOver { return nil }
      let current = try attached.dataset.currentStore
      let isReplaced = other?.store !== current
      if !isReplaced, other?.handle.observer.isOver ?? true { return nil }
      guard isReplaced || own.observer.hasNews || other?.handle.observer.hasNews ?? true else {
        continue
      }
      return try await fetch(own)
    }
    return nil
  }

  private func first() async throws -> Value? {
    let center = attached.store.observations
    try center.core.checkOpen("observe")
    let signal = signal
    replacements = Self.follow(attached.dataset, signal)
    let own = try Handle(AttachedObserver { signal.yield() }, in: center)
    self.own = own
    return try await fetch(own)
  }

  /// Has each replacement of the dataset wake the loop.
  private static func follow<D: AttachableDataset>(
    _ dataset: D, _ signal: AsyncStream<Void>.Continuation
  ) -> Task<Void, Never> {
    Task {
      var iterator = dataset.replacements.makeAsyncIterator()
      // What was replaced before this is no news of the iterator.
      signal.yield()
      // A sequence that throws tells no more: what is observed stays the store that it is.
      while (try? await iterator.next()) != nil { signal.yield() }
    }
  }

  /// Reads until all that the value depends on was observed before the read began.
  private func fetch(_ own: Handle) async throws -> Value? {
    while true {
      let current = try attached.dataset.currentStore
      do {
        let other = try handle(of: current)
        let value = try await value(own.observer, current, other.observer)
        own.center.extend(own.observer)
        other.center.extend(other.observer)
        if !own.observer.hasGrown, !other.observer.hasGrown { return value }
      } catch let error as StoreError where error.code == .closed {
        if own.observer.isOver { return nil }
        guard try attached.dataset.currentStore !== current else { throw error }
      }
    }
  }

  private func value(
    _ own: AttachedObserver, _ dataset: Store, _ other: AttachedObserver
  ) async throws -> Value {
    let (core, datasetCore, read) = (attached.store.core, dataset.core, read)
    return try await core.onReader {
      try core.read { core in
        try own.tracking(core) {
          try datasetCore.read { dataset in
            try other.tracking(dataset) { try read(AttachedSnapshot(core, dataset)) }
          }
        }
      }
    }
  }

  /// The observer of the dataset's current store.
  private func handle(of store: Store) throws -> Handle {
    if let other, other.store === store { return other.handle }
    let signal = signal
    let handle = try Handle(AttachedObserver { signal.yield() }, in: store.observations)
    other = (store, handle)
    return handle
  }
}
