internal import LMDB
internal import LodestoreFormat
import Synchronization

/// The sinks of one run of a write.
final class ChangeSinks {
  let all: [any ChangeSink]
  let count = ChangeCount()

  init(_ all: [any ChangeSink]) { self.all = all }

  /// The maximum number of rounds in which sinks may react to each other's changes.
  static let largestRoundCount = 32

  /// Lets the sinks make their own changes, until no further changes occur.
  ///
  /// Throws after too many rounds, with the names of the entities that change in each round.
  func flush(_ core: WriteCore) throws(StoreError) {
    for _ in 0..<Self.largestRoundCount {
      guard count.takeChanged() else { return }
      for sink in all { try sink.flush(core) }
    }
    let entities = count.changedEntities
    guard !entities.isEmpty else { return }
    throw StoreError.endlessChanges(
      entities: entities, sinks: all.map(\.name), rounds: Self.largestRoundCount)
  }
}

extension WriteCore {
  /// Called before the closure of a write begins.
  func beginChanges(_ observers: ChangeObservers) throws(StoreError) {
    let others = observers.sinks(for: self)
    // Sinks that may still change records come first.
    var all: [any ChangeSink] = others?.all ?? []
    if purpose != .replay, let derived = DerivedAttributes(schema, core: self) {
      all.append(derived)
    }
    if let order = try OrderedLinks(schema, core: self) { all.append(order) }
    let computed = try ComputedIndexes(schema, core: self)
    if let computed { all.append(computed) }
    if let check = LinkCheck(schema) { all.append(check) }
    if let rules = LateRules(schema, core: self) { all.append(rules) }
    if let history = try HistoryRecorder(schema, core: self) { all.append(history) }
    setSinks(all)
    pendingEntries = computed
  }

  /// Reports all changes to `sink`, in a transaction that no store has begun.
  func reportChanges(to sink: any ChangeSink) {
    setSinks([sink])
  }

  /// Reports added or removed links to the sinks.
  func report(_ change: consuming LinkChange) throws(StoreError) {
    guard let sinks else { return }
    sinks.count.note(change.end.source)
    for sink in sinks.all { try sink.record(change) }
  }

  /// Runs `body`, which changes the order of the targets of `owner`, and reports the moved targets.
  ///
  /// A link that the write removed and added again is reported as moved too. The history ignores
  /// moves of new links.
  ///
  /// - Parameter body: returns the ids of the moved targets.
  func moveLinks(
    of owner: UInt64, by end: RelationshipEnd, _ body: () throws(StoreError) -> [UInt64]
  ) throws(StoreError) {
    let moved = try body()
    if moved.isEmpty { return }
    countChange()
    guard let sinks else { return }
    sinks.count.note(end.source)
    for sink in sinks.all { try sink.recordMoves(moved, of: owner, by: end) }
  }

  /// Called after the closure of a write: sinks make their changes, and will be informed of the
  /// commit.
  func endChanges() throws(StoreError) {
    guard let sinks else { return }
    dropUndoBeforeChanges()
    try sinks.flush(self)
    if let brokenBy { throw .brokenTransaction(by: brokenBy) }
    // The history records an undo even if nothing was left to change.
    if sinks.count.hasEverChanged || undone != nil {
      for sink in sinks.all { try sink.finish(self) }
    }
    let hasChanged = sinks.count.hasEverChanged
    guard hasChanged || sinks.all.contains(where: \.hearsEveryCommit) else { return }
    writing.afterCommit { number, commit in
      for sink in sinks.all where hasChanged || sink.hearsEveryCommit {
        sink.committed(CommittedWrite(number: WriteNumber(number), commit: CommitNumber(commit)))
      }
    }
  }
}

/// The entities that have changed since the last round of the sinks.
final class ChangeCount {
  // Exclusivity is not checked, because only one thread accesses the object and the checks would
  // slow down each record.
  @exclusivity(unchecked) private var last: StoredEntity?
  @exclusivity(unchecked) private var others: Set<String> = []
  /// Whether any record or link has changed since the write began.
  @exclusivity(unchecked) private(set) var hasEverChanged = false

  @inline(__always)
  func note(_ entity: StoredEntity) {
    if last === entity { return }
    if let last { others.insert(last.name) }
    last = entity
    hasEverChanged = true
  }

  var changedEntities: [String] { (others.union(last.map { [$0.name] } ?? [])).sorted() }

  /// Returns whether an entity has changed since the last call.
  func takeChanged() -> Bool {
    assert(others.isEmpty || last != nil, "the entity that changed last is in `last`")
    assert(last == nil || hasEverChanged, "a change is never forgotten for the commit")
    defer {
      last = nil
      others = []
    }
    return last != nil
  }
}

/// Holds the closures that create sinks for all writes in an environment.
///
/// Each environment has one such object. Several stores may share a file, and a change by any of
/// them is reported.
final class ChangeObservers: Sendable {
  /// Creates the sink for one run of a write; returns `nil` when none is needed.
  typealias MakeSink = @Sendable (WriteCore) -> (any ChangeSink)?

  private struct State {
    var next = 0
    var makers: [(key: Int, make: MakeSink)] = []
  }

  private let state = Guarded(State())
  /// Whether no sink is registered; each write reads this without the lock.
  private let isEmpty = Atomic<Bool>(true)

  init() {}

  /// Registers `make`, which is called for each later run of a write, until ``remove(_:)``.
  func add(_ make: @escaping MakeSink) -> Int {
    state.withLock { state in
      state.next += 1
      state.makers.append((state.next, make))
      isEmpty.store(false, ordering: .releasing)
      return state.next
    }
  }

  func remove(_ key: Int) {
    // The closure is released outside the lock: it may hold the last reference to a store, whose
    // deinit removes another closure.
    _ = state.withLock { state in
      let index = state.makers.firstIndex { $0.key == key }
      let removed = index.map { state.makers.remove(at: $0) }
      isEmpty.store(state.makers.isEmpty, ordering: .releasing)
      return removed
    }
  }

  /// The number of registered closures.
  var count: Int { state.withLock { $0.makers.count } }

  /// Creates the sinks for a run of a write; returns `nil` when no sink is needed.
  func sinks(for core: WriteCore) -> ChangeSinks? {
    if isEmpty.load(ordering: .acquiring) { return nil }
    let makers = state.withLock { $0.makers }
    let sinks = makers.compactMap { $0.make(core) }
    return sinks.isEmpty ? nil : ChangeSinks(sinks)
  }
}

extension StoreError {
  fileprivate static func endlessChanges(
    entities: [String], sinks: [String], rounds: Int
  ) -> StoreError {
    StoreError(
      .endlessChanges,
      "cannot commit: \(sinks.joined(separator: ", ")) still change "
        + "\(entities.joined(separator: ", ")) after \(rounds) rounds; the values that they compute "
        + "depend on each other in a circle: break it by removing one of these dependencies",
      entity: entities.first)
  }
}
