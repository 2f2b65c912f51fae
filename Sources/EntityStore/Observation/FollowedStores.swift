internal import LMDB
internal import LodestoreFormat

/// The store whose results a loop follows.
struct ObservedStore: Sendable {
  let center: ObservationCenter
  /// Of a sequence of stores: keeps the store open while the loop follows it.
  let store: Store?
}

/// The stores whose results one loop follows, one after the other: a single store, or the newest of
/// a sequence of stores.
final class FollowedStores: Sendable {
  /// Where the stores come from.
  enum Origin: Sendable {
    case one(ObservationCenter)
    /// Passes each store of a sequence on, until the sequence ends.
    case newest(@Sendable (StoreMailbox) async throws -> Void)

    init<Stores: AsyncSequence & Sendable>(_ stores: Stores) where Stores.Element == Store {
      self = .newest { mailbox in
        for try await store in stores { mailbox.put(store) }
      }
    }
  }

  private let mailbox: StoreMailbox
  /// Reads the sequence, for as long as the loop is there.
  private let task: Task<Void, Never>?

  init(_ origin: Origin) {
    switch origin {
    case .one(let center):
      mailbox = StoreMailbox(ObservedStore(center: center, store: nil))
      task = nil
    case .newest(let pump):
      let mailbox = StoreMailbox(nil)
      self.mailbox = mailbox
      task = Task {
        do {
          try await pump(mailbox)
          mailbox.end(nil)
        } catch {
          mailbox.end(error)
        }
      }
    }
  }

  deinit { task?.cancel() }

  /// Whether other stores may come.
  var isSequence: Bool { task != nil }

  /// Whether ``next()`` has something to return at once.
  var hasNews: Bool { mailbox.hasNews }

  /// Returns the newest store that was not returned yet, and waits for one.
  ///
  /// The result is `nil` when no store follows, or the task is cancelled.
  func next() async throws -> ObservedStore? {
    // No store follows a single one.
    guard isSequence || hasNews else { return nil }
    return try await mailbox.next()
  }

  /// Has `observer` woken when there is news, in place of the one before.
  func wakeOnNews(_ observer: Observer?) { mailbox.watch(observer) }
}

/// The newest store of a sequence, until the loop takes it.
///
/// Mutable state, under one lock: the store, the end of the sequence, and the task or observer that
/// waits for either.
final class StoreMailbox: Sendable {
  private struct State {
    var arrived: ObservedStore?
    var isOver = false
    var failure: (any Error)?
    var isCancelled = false
    var waiting: UnsafeContinuation<Void, Never>?
    var observer: Observer?

    var hasNews: Bool { arrived != nil || isOver }
  }

  private let state: Guarded<State>

  init(_ first: ObservedStore?) {
    var state = State()
    state.arrived = first
    self.state = Guarded(state)
  }

  var hasNews: Bool { state.withLock { $0.hasNews } }

  func watch(_ observer: Observer?) { state.withLock { $0.observer = observer } }

  func put(_ store: Store) {
    let observed = ObservedStore(center: store.observations, store: store)
    // A store that nobody has taken is released outside of the lock.
    let before = tell { state in
      defer { state.arrived = observed }
      return state.arrived
    }
    withExtendedLifetime(before) {}
  }

  /// No store follows.
  func end(_ failure: (any Error)?) {
    tell { state in
      state.isOver = true
      state.failure = failure
    }
  }

  /// Changes the state, and wakes who waits for that.
  @discardableResult
  private func tell<R: Sendable>(_ change: @Sendable (inout State) -> R) -> R {
    let (result, waiting, observer) = state.withLock { state in
      defer { state.waiting = nil }
      return (change(&state), state.waiting, state.observer)
    }
    waiting?.resume()
    observer?.wake(0)
    return result
  }

  func next() async throws -> ObservedStore? {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let isReady = state.withLock { state in
          if state.hasNews || state.isCancelled { return true }
          state.waiting = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      let waiting = state.withLock { state in
        state.isCancelled = true
        defer { state.waiting = nil }
        return state.waiting
      }
      waiting?.resume()
    }
    return try state.withLock { state in
      if state.isCancelled { return nil }
      if let arrived = state.arrived {
        state.arrived = nil
        return arrived
      }
      if let failure = state.failure { throw failure }
      return nil
    }
  }
}

extension StoredEntity {
  /// Whether records of this entity and of `other`, of another store, have equal values where they
  /// have equal bytes.
  func hasLayouts(of other: StoredEntity) -> Bool {
    description.layouts.allSatisfy { mine in
      guard let theirs = other.layout(number: mine.number) else { return true }
      return words(of: mine) == other.words(of: theirs)
    }
  }

  /// A hash of what the values of records in `layout` depend on besides their bytes.
  func stamp(of layout: RecordLayout) -> UInt32 {
    var checksum = Checksum()
    for word in words(of: layout) {
      var word = word + "\n"
      word.withUTF8 { checksum.combine(UnsafeRawBufferPointer($0)) }
    }
    return checksum.value
  }

  /// The attributes that a layout has, then the initial values of those that the program declares
  /// and the layout lacks.
  private func words(of layout: RecordLayout) -> [String] {
    let stored = layout.attributes.map { attribute in
      let name = description.attribute(number: attribute.number)?.name ?? ""
      return "\(name) \(attribute.type.name) \(attribute.isOptional)"
    }
    let initial = declared.compactMap { description.attribute(number: $0.number) }
      .filter { layout.slotIndex(ofAttribute: $0.number) == nil }
      .map { "\($0.name) = \($0.initial)" }
    return stored + initial.sorted()
  }
}
