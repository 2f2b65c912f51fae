internal import LMDB
internal import LodestoreFormat

/// One write, or one run of it: what ``TransactionCore`` has, and the state of its changes.
final class WriteCore: TransactionCore {
  /// Whether records are checked against constraints and rules when they are written; false in the
  /// steps of stages, whose final values are checked at the end of the opening.
  let checksRules: Bool
  /// Who writes.
  var origin = WriteOrigin()
  /// How often records or buckets were written.
  @exclusivity(unchecked) var changeCount = 0
  /// Next record id by the number of each entity that this transaction has asked for.
  var nextIDs: [EntityNumber: UInt64] = [:]
  /// The values to which this transaction has raised the counters of entities.
  var raisedCounters: [EntityNumber: UInt64] = [:]
  /// The optional trees that this transaction has made.
  var madeTrees: [TreeName: Tree] = [:]
  /// The numbers of the entities whose change mark this transaction has cleared, and the last of
  /// them; ``EntityNumber/none`` before it.
  var notedEntities: Set<EntityNumber> = []
  @exclusivity(unchecked) var notedEntity = EntityNumber.none
  /// The entities whose records the write itself has changed, and the last of them; derived
  /// attributes that the store keeps do not count.
  var writtenEntities: Set<EntityNumber> = []
  @exclusivity(unchecked) var writtenEntity = EntityNumber.none
  /// By entity, the records that this write has removed because they had expired.
  var evictedIDs: [EntityNumber: IDRuns] = [:]

  // MARK: Scratch

  // Used for every record by one thread, and never from within their own use, as ``key`` is.
  @exclusivity(unchecked) var writer: RecordWriter
  /// The key that a record had before the change; ``key`` is its new one.
  @exclusivity(unchecked) var oldKey = KeyEncoder()

  // MARK: Changes

  /// The state of `Changes` for the length of a write; see ``ChangeState``.
  @exclusivity(unchecked) var changeState: AnyObject?
  /// Whether an order has given its links other positions, so that positions of removed links are
  /// stale.
  @exclusivity(unchecked) var hasSpreadOrder = false

  // MARK: Calls

  /// Of the write that this is a run of.
  var savepoints: Savepoints?
  /// Whether a call runs that fails or succeeds as a whole; see ``asOneCall(_:_:)``.
  var isWithinCall = false
  /// Set when a batch failed half-way: this run of the write can only be aborted.
  var brokenBy: StoreError?
  /// Tells how far a batch is, where somebody wants to know.
  var batchReport: BatchReport?

  // MARK: History

  /// The steps of the write that the history tells one by one.
  var steps: [WriteStep] = []
  /// The write that this one has taken back, and ``changeCount`` after that; `nil` at the end of
  /// one that has done more.
  var undone: (number: UInt64, changeCount: Int)?

  init(
    _ transaction: Transaction, schema: StoredSchema, store: StoreCore, checksRules: Bool = true
  ) {
    self.checksRules = checksRules
    writer = RecordWriter(sizeLimit: store.options.recordSizeLimitInBytes)
    super.init(writing: transaction, schema: schema, store: store)
  }

  /// A write that knows one entity.
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
