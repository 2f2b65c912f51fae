internal import LMDB
internal import LodestoreFormat

/// One run of a write: a ``TransactionCore`` with the state of its changes.
final class WriteCore: TreeWriteCore {
  /// The reason of a write.
  enum Purpose {
    /// A program makes changes. The write begins after the eviction of records that have expired or
    /// exceed a limit.
    case program
    /// Records are evicted.
    case eviction
    /// Changes of another store are made in its copy. Their records have the derived attributes of
    /// that store, and its evictions are among the changes.
    case replay
  }

  let purpose: Purpose
  /// Whether records are checked against constraints and rules when they are written.
  ///
  /// False in the steps of stages, whose final values are checked at the end of the opening.
  let checksRules: Bool
  /// The author of the write, and the part of the program.
  var origin = WriteOrigin()
  /// The next record ids; only `RecordCounter.swift` reads and changes them.
  var recordCounter = RecordCounter()
  /// The entities whose mark for imports this transaction has already made even; see
  /// `ChangeMark.swift`.
  ///
  /// `notedEntity` is the last of them, or ``EntityNumber/none``.
  var notedEntities: Set<EntityNumber> = []
  @exclusivity(unchecked) var notedEntity = EntityNumber.none
  /// The entities whose records the write itself has changed; `writtenEntity` is the last of them.
  ///
  /// Changes of derived attributes by the store do not count.
  var writtenEntities: Set<EntityNumber> = []
  @exclusivity(unchecked) var writtenEntity = EntityNumber.none
  /// The records that this write has removed because they had expired, by entity.
  var evictedIDs: [EntityNumber: IDRuns] = [:]

  // MARK: Changes

  /// The sinks that receive the write's changes; `nil` without sinks.
  @exclusivity(unchecked) private(set) var sinks: ChangeSinks?
  /// The object that changes records of the entity that changed last.
  @exclusivity(unchecked) private var lastChanges: EntityChanges?
  /// The objects that change records of all other entities.
  @exclusivity(unchecked) private var otherChanges: [EntityNumber: EntityChanges] = [:]

  // MARK: History

  /// The steps of the write, such as pages of an import, that the history records as separate
  /// writes.
  private(set) var steps: [WriteStep] = []
  /// The number of the write that this write has undone, and ``changeCount`` after the undo.
  ///
  /// A ``changeCount`` that is higher at the end shows that this write has made other changes too.
  private(set) var undone: (number: UInt64, changeCount: Int)?

  init(
    _ transaction: WritingTransaction, schema: StoredSchema, store: StoreCore,
    _ purpose: Purpose = .program, checksRules: Bool = true
  ) {
    self.purpose = purpose
    self.checksRules = checksRules
    super.init(writing: transaction, schema: schema, store: store)
  }

  /// Returns the total length of the records of `entity`, including the changes of this write.
  ///
  /// The file does not have these changes yet; the ledger includes them.
  override func size(of entity: StoredEntity) throws(StoreError) -> Int {
    try wrappingErrors {
      try ContentLedger.of(self).size(of: entity.number, in: transaction)
    }
  }

  /// Returns the changes of `entity` in this transaction.
  func changes(of entity: StoredEntity) -> EntityChanges {
    if let lastChanges {
      if lastChanges.entity === entity { return lastChanges }
      // The dictionary is filled only when a second entity changes, so writes of a single entity
      // need none.
      otherChanges[lastChanges.entity.number] = lastChanges
    }
    let known = otherChanges[entity.number].flatMap { $0.entity === entity ? $0 : nil }
    let changes = known ?? EntityChanges(of: entity, core: self)
    lastChanges = changes
    return changes
  }

  /// Sets the steps that the history records separately.
  func recordSeparately(_ steps: [WriteStep]) { self.steps = steps }

  /// Notes that the changes up to now have undone the write with this number.
  func noteUndo(of number: UInt64) { undone = (number, changeCount) }

  /// Forgets the undo if other changes followed it; the write then does not count as an undo.
  func dropUndoBeforeChanges() {
    if undone?.changeCount != changeCount { undone = nil }
  }

  /// Sets the sinks, which must precede the first change.
  func setSinks(_ all: [any ChangeSink]) {
    assert(sinks == nil && lastChanges == nil, "sinks are made before the first change")
    if !all.isEmpty { sinks = ChangeSinks(all) }
  }

  /// Releases the sinks and the objects that change records, at the end of the run.
  ///
  /// Some of them refer to this object, so the reference cycle is broken here.
  func releaseChanges() {
    sinks = nil
    lastChanges = nil
    otherChanges = [:]
    pendingEntries = nil
  }
}
