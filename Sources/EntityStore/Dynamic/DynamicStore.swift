/// A store without Swift types, for tools that know a file only by its schema.
///
/// `kvdump` uses this interface, and an inspector could. Besides the public API, the package's
/// tools use only this interface and the plain values listed below. All other declarations are
/// internal.
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
/// The interface:
/// - ``DynamicStore``: opening, the schema, transactions, copies.
/// - ``DynamicSnapshot``: reads at one commit; ``DynamicTransaction``: changes.
/// - ``DynamicEntity``, ``DynamicIndex``: the content of the catalogue. ``DynamicRecord``: one
///   record.
/// - ``DynamicQuery``: a planned query, its results, counts, groups and explanation.
/// - ``DynamicImport``: pages of JSON records into an entity. ``DynamicPage``, ``DynamicText``,
///   ``DynamicRows``: pages from files.
/// - ``DynamicFacts``: numbers of the file and its header.
/// - ``SchemaInference``, ``AttributeNames``, ``TextConversion``, ``DateForm``,
///   ``DynamicMergePolicy``: schemas from records, and rules for reading imported values.
///
/// Plain values that other folders declare:
/// - `Value`, `EntityDescription` and the other types of `LodestoreFormat`; the reader and writer
///   of JSON.
/// - ``QueryRequest``, ``SortTerm``, ``ValuePath``, ``TextOptions``, ``RunControl``: requests of
///   queries.
/// - ``DeclaredEntity``, ``AttributeStorage``: an entity that a tool declares.
/// - ``JSONRecord``, ``ColumnPage``, ``FileReading``: pages and their records.
/// - ``ValueMismatch``, ``ExactJSON``, ``KeyText``, ``DocumentText``: values from and to text.
/// - ``NearestName``: suggestions for a mistyped name.
package final class DynamicStore: Sendable {
  let core: StoreCore

  /// Opens the store at `path` with the schema in the file.
  package init(path: String, options: StoreOptions) throws(StoreError) {
    core = try StoreCore(path: path, options: options)
  }

  /// Creates the interface for a store that a program has opened; the program must close the store.
  package init(_ store: Store) { core = store.core }

  /// Closes the store; a second call does nothing.
  package func close() { core.close() }

  /// Whether the store has a lock file; without one, reads are safe only while nobody writes.
  package var hasLockFile: Bool { core.environment.hasLockFile }
  /// The version of LMDB that created the file, when it differs from this process's version.
  package var otherEngine: String? { core.environment.otherEngine }

  // MARK: Schema

  /// The entities of the schema as of this store's last transaction, in the order of their numbers.
  package var entities: [DynamicEntity] { core.schema.entities.map(DynamicEntity.init) }

  /// Changes the file's schema to fit `entities`, in one transaction; when it throws, the file is
  /// unchanged.
  ///
  /// Numbers in the file are converted to a wider declared type, for example integers to doubles. A
  /// value that the type cannot represent exactly is an error, which names the record.
  package func declare(_ entities: [DeclaredEntity]) throws {
    try core.bringUpToDate(widening: entities)
  }

  // MARK: Transactions

  /// Runs `body` on the newest commit.
  ///
  /// The snapshot is valid until `body` returns.
  package func read<R>(_ body: (DynamicSnapshot) throws -> R) throws -> R {
    try core.read { try body(DynamicSnapshot(core: $0)) }
  }

  /// Runs `body` as the only writer, on the calling thread, and commits.
  ///
  /// Waits for other writers. `body` may run more than once. When it throws, the store stays
  /// unchanged.
  package func write<R>(_ body: (DynamicTransaction) throws -> R) throws -> R {
    try core.write { try body(DynamicTransaction(core: $0)) }
  }

  /// Removes the records that have expired or are above a limit, some thousands in each
  /// transaction.
  package func evict() throws -> EvictionReport {
    try core.checkWritable()
    try core.checkOpen("evict records of")
    return try core.evict()
  }

  // MARK: Copies

  /// Copies the newest commit to `destination`, which must not exist.
  ///
  /// - Parameter compacting: whether to leave out free pages.
  package func copy(to destination: String, compacting: Bool) throws(StoreError) {
    try core.copy(to: destination, compacting: compacting)
  }
}
