internal import LMDB
internal import LodestoreFormat

/// One run of a write, for the folders below `Changes`.
///
/// These folders write trees, keys and index entries, and know no changes of records. Each run is a
/// ``WriteCore``, which adds the changes.
class TreeWriteCore: TransactionCore {
  /// The transaction with the calls that change trees.
  ///
  /// ``TransactionCore/transaction`` is the same transaction for reads.
  final let writing: WritingTransaction
  /// The number of changes of records, links, orders and buckets.
  @exclusivity(unchecked) final private(set) var changeCount = 0
  /// The optional trees that this transaction has created.
  final var madeTrees: [TreeName: Tree] = [:]
  /// Whether an ordered relationship has renumbered its links in this write, so that remembered
  /// positions of removed links are invalid.
  @exclusivity(unchecked) final var hasSpreadOrder = false

  /// The index entries that this write has collected, to be written before a query reads them.
  final var pendingEntries: (any PendingEntries)?
  /// Whether the current run of a write is abandoned.
  ///
  /// The write is then repeated without the savepoint or call that failed.
  private final var isAbandoned = false

  // MARK: Scratch

  // One thread uses the writer for every record, and never recursively, so exclusivity is not
  // checked; ``key`` is used in the same way.
  @exclusivity(unchecked) final var writer: RecordWriter
  /// The encoder for the index key of a record before its change; ``key`` encodes the key after the
  /// change.
  @exclusivity(unchecked) final var oldKey = KeyEncoder()

  // MARK: Calls

  /// The savepoints of the write to which this run belongs.
  final var savepoints: Savepoints?
  /// Whether a call of ``asOneCall(_:_:)`` is running, which changes everything or nothing.
  final var isWithinCall = false
  /// Set when a batch failed after some changes; this run of the write can then only be aborted.
  final private(set) var brokenBy: StoreError?
  /// Reports the progress of a batch; `nil` when nobody needs it.
  final var batchReport: BatchReport?

  init(writing transaction: WritingTransaction, schema: StoredSchema, store: StoreCore) {
    writing = transaction
    writer = RecordWriter(sizeLimit: store.options.recordSizeLimitInBytes)
    super.init(writing: transaction.reads, schema: schema, store: store)
  }

  /// Counts a change of a record, a link, an order or a bucket.
  ///
  /// Called for each record.
  @inline(__always)
  final func countChange() { changeCount &+= 1 }

  /// Sets ``brokenBy``; the first error stays, because later ones may follow from it.
  final func breakRun(by error: StoreError) {
    if brokenBy == nil { brokenBy = error }
  }

  /// Sets ``changeCount`` back to `count`, because the changes since then are undone.
  final func forgetChanges(since count: Int) { changeCount = count }

  /// Calls `body` with the cursor, for changes, at each existing record of the ascending `ids`.
  ///
  /// Expired records are visited too, because a write must see the unfiltered file.
  @inline(__always)
  final func forEachChangeable(
    _ ids: [UInt64], of entity: StoredEntity, _ body: (UInt64, WritingCursor) throws -> Void
  ) throws {
    let cursor = try WritingCursor(entity.records, in: writing)
    try forEachStored(ids, of: entity, at: cursor.reads) { id in try body(id, cursor) }
  }

  /// Abandons this run of the write.
  ///
  /// Every later call that names an entity is refused, because it would see incomplete changes.
  final func abandon() {
    isAbandoned = true
    forgetEntity()
  }

  final override func checkNotAbandoned() throws(StoreError) {
    if isAbandoned { throw .abandoned }
  }

  final override func prepareSearch() throws(StoreError) { try pendingEntries?.write() }

  final override func tree(_ name: TreeName) -> Tree? { madeTrees[name] ?? super.tree(name) }
}

/// Entries of indexes that a write collects and has not written yet.
protocol PendingEntries: AnyObject {
  /// Writes the entries of all changes so far.
  func write() throws(StoreError)
}
