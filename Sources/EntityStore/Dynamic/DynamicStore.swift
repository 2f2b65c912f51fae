/// A store without Swift types: what a tool opens that knows a file by its schema alone.
///
/// `kvdump` stands on this face, and so may an inspector. It is all that the package's tools use of
/// the module beside its public API and the plain values listed below; everything else is internal.
///
///     let store = try DynamicStore(path: "catalog.lodestore", options: .readOnly)
///     defer { store.close() }
///     try store.read { snapshot in
///       guard let pod = snapshot.entity(named: "Pod") else { return }
///       let query = try snapshot.query(QueryRequest(format: "stars > 3"), of: pod)
///       try query.forEach { record in
///         print(record.id, try record.reader().value(of: pod.description.declaredAttributes[0]))
///         return true
///       }
///     }
///
/// The face:
/// - ``DynamicStore``: opening, the schema, transactions, copies.
/// - ``DynamicSnapshot``: what can be read at one commit; ``DynamicTransaction``: changes.
/// - ``DynamicEntity``, ``DynamicIndex``: what the catalogue says. ``DynamicRecord``: one record.
/// - ``DynamicQuery``: a planned query, its results, counts, groups and explanation.
/// - ``DynamicImport``: pages of JSON records into an entity. ``DynamicPage``, ``DynamicText``,
///   ``DynamicRows``: how they are made of files.
/// - ``DynamicFacts``: numbers of the file and its header.
/// - ``SchemaInference``, ``AttributeNames``, ``TextConversion``, ``DateForm``, ``DynamicMergePolicy``:
///   schemas from records, and how imported values are read.
///
/// Plain values that it shares with the folders below, which declare them:
/// - `Value`, `EntityDescription` and the other types of `LodestoreFormat`; the reader and writer
///   of JSON.
/// - ``QueryRequest``, ``SortTerm``, ``ValuePath``, ``TextOptions``, ``RunControl``: what is asked
///   for.
/// - ``DeclaredEntity``, ``AttributeStorage``: an entity that a tool declares.
/// - ``JSONRecord``, ``ColumnPage``, ``FileReading``: pages and their records.
/// - ``ValueMismatch``, ``ExactJSON``, ``KeyText``, ``DocumentText``: values from and to text.
/// - ``NearestName``: what a mistyped name may have meant.
package final class DynamicStore: Sendable {
  let core: StoreCore

  /// Opens the store at `path` with the schema that the file has.
  package init(path: String, options: StoreOptions) throws(StoreError) {
    core = try StoreCore(path: path, options: options)
  }

  /// The same face of a store that a program has open, and closes itself.
  package init(_ store: Store) { core = store.core }

  /// Closes the store; the second time it does nothing.
  package func close() { core.close() }

  /// Whether the store has a lock file: without one, reading is safe only while nobody writes.
  package var hasLockFile: Bool { core.environment.hasLockFile }
  /// The LMDB that made the file, where it is not the one of this process.
  package var otherEngine: String? { core.environment.otherEngine }

  // MARK: Schema

  /// The entities as of the last transaction, in the order of their numbers.
  package var entities: [DynamicEntity] { core.schema.entities.map(DynamicEntity.init) }

  /// Makes the file's schema fit `entities`, in one transaction, or throws and leaves it as it was.
  ///
  /// Numbers of the file become numbers of a wider declared type, as an integer a double. A value
  /// that is not the same in that type is an error, which names the record.
  package func declare(_ entities: [DeclaredEntity]) throws {
    try core.bringUpToDate(widening: entities)
  }

  // MARK: Transactions

  /// Runs `body` on the newest commit.
  ///
  /// What it is given is valid until it returns.
  package func read<R>(_ body: (DynamicSnapshot) throws -> R) throws -> R {
    try core.read { try body(DynamicSnapshot(core: $0)) }
  }

  /// Runs `body` as the one writer, on the calling thread, and commits; what it throws leaves the
  /// store as it was.
  ///
  /// Waits for other writers. `body` may run more than once.
  package func write<R>(_ body: (DynamicTransaction) throws -> R) throws -> R {
    try core.write { try body(DynamicTransaction(core: $0)) }
  }

  /// Removes the records that have expired or are above a limit, in transactions of some thousands.
  package func evict() throws -> EvictionReport {
    try core.checkWritable()
    try core.checkOpen("evict records of")
    return try core.evict()
  }

  // MARK: Copies

  /// Copies the newest commit to `destination`, where nothing may be.
  ///
  /// - Parameter compacting: whether to leave out free pages.
  package func copy(to destination: String, compacting: Bool) throws(StoreError) {
    try core.copy(to: destination, compacting: compacting)
  }
}
