internal import LMDB
internal import LodestoreFormat

/// One run of a write, for the folders below `Changes`.
///
/// These folders write trees, keys and index entries, and know no changes of records. Each run is a
/// ``WriteCore``, which adds the changes.
class TreeWriteCore: TransactionCore {
  /// The number of changes of records and buckets.
  @exclusivity(unchecked) final var changeCount = 0
  /// The optional trees that this transaction has created.
  final var madeTrees: [TreeName: Tree] = [:]
  /// Whether an ordered relationship has renumbered its links in this write, so that remembered
  /// positions of removed links are invalid.
  @exclusivity(unchecked) final var hasSpreadOrder = false

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
  final var brokenBy: StoreError?
  /// Reports the progress of a batch; `nil` when nobody needs it.
  final var batchReport: BatchReport?

  override init(writing transaction: Transaction, schema: StoredSchema, store: StoreCore) {
    writer = RecordWriter(sizeLimit: store.options.recordSizeLimitInBytes)
    super.init(writing: transaction, schema: schema, store: store)
  }

  final override func tree(_ name: TreeName) -> Tree? { madeTrees[name] ?? super.tree(name) }
}
