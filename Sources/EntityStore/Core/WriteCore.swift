internal import LMDB
internal import LodestoreFormat

/// One run of a write: a ``TransactionCore`` with the state of its changes.
final class WriteCore: TransactionCore {
  /// Whether records are checked against constraints and rules when they are written.
  ///
  /// False in the steps of stages, whose final values are checked at the end of the opening.
  let checksRules: Bool
  /// The author of the write, and the part of the program.
  var origin = WriteOrigin()
  /// The number of changes of records and buckets.
  @exclusivity(unchecked) var changeCount = 0
  /// The next record id of each entity for which this transaction has asked.
  var nextIDs: [EntityNumber: UInt64] = [:]
  /// The values to which this transaction has raised the counters of entities.
  var raisedCounters: [EntityNumber: UInt64] = [:]
  /// The optional trees that this transaction has created.
  var madeTrees: [TreeName: Tree] = [:]
  /// The entities whose change mark this transaction has cleared.
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

  // MARK: Scratch

  // One thread uses the writer for every record, and never recursively, so exclusivity is not
  // checked; ``key`` is used in the same way.
  @exclusivity(unchecked) var writer: RecordWriter
  /// The key of a record before the change; ``key`` is the key after it.
  @exclusivity(unchecked) var oldKey = KeyEncoder()

  // MARK: Changes

  /// The state of the folder `Changes` during a write; see ``ChangeState``.
  @exclusivity(unchecked) var changeState: AnyObject?
  /// Whether an order has renumbered its links, so that positions of removed links are invalid.
  @exclusivity(unchecked) var hasSpreadOrder = false

  // MARK: Calls

  /// The savepoints of the write to which this run belongs.
  var savepoints: Savepoints?
  /// Whether an atomic call is running; see ``asOneCall(_:_:)``.
  var isWithinCall = false
  /// The error of a batch that failed after some changes; this run of the write can then only be
  /// aborted.
  var brokenBy: StoreError?
  /// Reports the progress of a batch; `nil` when nobody needs it.
  var batchReport: BatchReport?

  // MARK: History

  /// The steps of the write that the history records separately.
  var steps: [WriteStep] = []
  /// The number of the write that this write has undone, and ``changeCount`` after the undo.
  ///
  /// A ``changeCount`` that is higher at the end shows that this write has made other changes too.
  var undone: (number: UInt64, changeCount: Int)?

  init(
    _ transaction: Transaction, schema: StoredSchema, store: StoreCore, checksRules: Bool = true
  ) {
    self.checksRules = checksRules
    writer = RecordWriter(sizeLimit: store.options.recordSizeLimitInBytes)
    super.init(writing: transaction, schema: schema, store: store)
  }

  /// Creates a write with a single entity.
  convenience init(
    _ transaction: Transaction, only entity: StoredEntity, store: StoreCore,
    checksRules: Bool = true
  ) {
    self.init(
      transaction, schema: StoredSchema(number: .unread, entities: [entity]), store: store,
      checksRules: checksRules)
  }

  override func tree(_ name: TreeName) -> Tree? { madeTrees[name] ?? super.tree(name) }
}
