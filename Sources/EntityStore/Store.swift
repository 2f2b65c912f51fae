public import LodestoreEssentials

/// An entity store in one file.
///
///     let store = try Store(at: "pods.lodestore", entities: [Pod.self, Film.self])
///     try store.write { tx in try tx.insert(pod) }
///     let count = try store.read { snapshot in try snapshot.count(Pod.all) }
///
/// Any number of threads and processes may use the file concurrently: one writes and the others
/// read. Readers neither wait for writers nor block them. Opening the file again in one process
/// shares it.
///
/// Errors are ``StoreError``; errors of a closure are rethrown unchanged. After an error of a read
/// the store remains usable. After an error of a write, nothing of that write is stored. After
/// ``StoreError/Code/poisoned``, close the store and open it again.
public final class Store: Sendable {
  let core: StoreCore
  /// The builder of indexes under construction; `nil` when no index is under construction.
  let builder: IndexBuilder?
  /// The objects of higher layers that belong to the store and end with it.
  let companions = StoreCompanions()

  /// The path at which the store was opened; empty for a store in memory.
  public var path: String { core.path }

  /// Opens the store at `path`, creating it if it does not exist.
  ///
  /// The schema in the file is changed to match `entities`: see <doc:Entities>. An impossible
  /// change is refused with ``StoreError/Code/incompatibleSchema``, and the file stays unchanged.
  /// Entities of the file that are not listed stay, and so do attributes that are not declared. An
  /// update of a record keeps their values. A new record has their initial values or null. If one
  /// of them is required and has no initial value, inserting throws
  /// ``StoreError/Code/unstorableValue``. While an entity has an undeclared attribute, its
  /// undeclared indexes stay too. To remove attributes, name them in the schema, under `removed`.
  ///
  /// - Parameters:
  ///   - path: the path of a regular file on a local disk. A lock file is created next to it, with
  ///     `-lock` appended to its name. While a process has the store open, neither file may be
  ///     replaced, moved or removed, and all processes must use this path. Violations are refused
  ///     with ``StoreError/Code/mismatchedFiles``, here or by the next write.
  ///   - entities: the types that will be used.
  /// - Complexity: O(1) in the number of records, unless an index is added.
  public convenience init(
    at path: String, entities: [any Entity.Type], options: StoreOptions = StoreOptions()
  ) throws(StoreError) {
    try self.init(path: path, isInMemory: false, entities: entities, options: options)
  }

  /// Opens the store at a file URL; see ``init(at:entities:options:)-(String,_,_)``.
  public convenience init(
    at url: URL, entities: [any Entity.Type], options: StoreOptions = StoreOptions()
  ) throws(StoreError) {
    guard url.isFileURL else {
      throw StoreError(
        .unsuitablePath,
        "cannot open '\(url.absoluteString)': it is not a file URL; a store is a local file")
    }
    try self.init(path: url.path, isInMemory: false, entities: entities, options: options)
  }

  /// Creates a store in memory, for tests and previews.
  ///
  /// The store is a file without a name on a memory file system, so that everything behaves as on
  /// disk. Closing the store deletes it.
  public static func inMemory(
    entities: [any Entity.Type], options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> Store {
    try Store(path: "", isInMemory: true, entities: entities, options: options)
  }

  init(
    path: String, isInMemory: Bool, entities: [any Entity.Type], options: StoreOptions,
    work: OpeningWork? = nil, stages: (any OpeningStages)? = nil
  ) throws(StoreError) {
    var types: [ObjectIdentifier: String] = [:]
    let declared = try Self.declared(entities, types: &types)
    core = try StoreCore(
      path: path, isInMemory: isInMemory, declared: declared, types: types, options: options,
      work: work, stages: stages)
    // The core's options are used: a sealed file is read-only, whatever the caller requests.
    let (core, options) = (core, core.options)
    let builds = options.buildsIndexesInUse && !options.isReadOnly
    builder = builds && core.schema.isBuilding ? IndexBuilder(core) : nil
    if let interval = options.evictionInterval, !options.isReadOnly, core.schema.evicts {
      companions.companion { EvictionKeeper(core, interval: interval) }.start()
    }
  }

  /// The declarations of `entities`, without duplicates.
  static func declared(_ entities: [any Entity.Type]) throws(StoreError) -> [DeclaredEntity] {
    var types: [ObjectIdentifier: String] = [:]
    return try declared(entities, types: &types)
  }

  private static func declared(
    _ entities: [any Entity.Type], types: inout [ObjectIdentifier: String]
  ) throws(StoreError) -> [DeclaredEntity] {
    var declared: [DeclaredEntity] = []
    for type in entities where types[ObjectIdentifier(type)] == nil {
      let entity = try Self.declared(type)
      guard !types.values.contains(entity.name) else { throw .duplicateEntity(entity.name) }
      types[ObjectIdentifier(type)] = entity.name
      declared.append(entity)
    }
    DeclaredEntity.indexRelationships(of: &declared)
    return declared
  }

  private static func declared<E: Entity>(_: E.Type) throws(StoreError) -> DeclaredEntity {
    try DeclaredEntity(E.self)
  }

  /// Closes the store; later calls throw ``StoreError/Code/closed``.
  ///
  /// Waits for running asynchronous reads. Reads on other threads continue. Lazy results
  /// (``FetchedResults``) and sequences of batches keep their commit. The file is closed when the
  /// last of these has ended. Opening the file again in this process waits for the close, at most
  /// 10 seconds, and then throws.
  ///
  /// Inside a write of this store, the call returns at once. That write is committed normally, and
  /// waiting writes throw ``StoreError/Code/closed``. The file is closed when the write and the
  /// running reads have ended. Loops over updates and pinned snapshots end.
  ///
  /// A store that is no longer referenced closes itself.
  public func close() {
    companions.close()
    core.close()
  }

  // MARK: Reading

  /// Runs `body` on the newest commit, on the calling thread.
  ///
  /// The snapshot does not change while `body` runs, whatever is written meanwhile. Keep `body`
  /// short: pages that the snapshot can see are not reused, so the file grows.
  public func read<R>(_ body: (borrowing Snapshot) throws -> R) throws -> R {
    try core.read { core in try body(Snapshot(core: core)) }
  }

  /// Runs `body` on the newest commit, on a thread of the store.
  ///
  /// Long reads do not block short ones, whatever their number. Of several waiting reads, those of
  /// tasks with a higher priority start first. After sixteen of them, one with a lower priority
  /// starts.
  ///
  /// - Throws: the errors of `body`; `CancellationError` when the task was cancelled before `body`
  ///   ran.
  public func read<R: Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> R
  ) async throws -> R {
    try Task.checkCancellation()
    let core = core
    return try await core.onReader { try core.read { core in try body(Snapshot(core: core)) } }
  }

  // MARK: Writing

  /// Runs `body` as the only writer, on the calling thread, and commits its changes.
  ///
  /// Waits for other writers of this and other processes. When `body` throws, none of its changes
  /// is stored. `body` runs again, on a clean transaction, when the file must grow during the
  /// write. `body` also runs again after it catches the error of a savepoint, or of a call that
  /// failed half-way. In that run, the savepoint or the call throws the same error at once. Such a
  /// closure should have no side effects outside the transaction.
  ///
  /// - Parameters:
  ///   - author: the author for the history; by default ``StoreOptions/author``.
  ///   - contextName: the part of the program for the history; by default
  ///     ``StoreOptions/contextName``.
  /// - Throws: the errors of `body`; ``StoreError/Code/nestedWrite`` inside another write of the
  ///   store; ``StoreError/Code/diskFull``, after which the last commit is intact.
  @discardableResult
  public func write<R>(
    author: String? = nil, contextName: String? = nil, _ body: (inout WriteTransaction) throws -> R
  ) throws -> R {
    try core.write(origin: WriteOrigin(author: author, context: contextName)) { core in
      var transaction = WriteTransaction(core: core)
      return try body(&transaction)
    }
  }

  /// Runs `body` as the only writer, on the store's writer thread, and commits its changes.
  ///
  /// The caller's thread is not blocked. Writes run in the order of the calls. Writes that wait
  /// while another one is committed share the next commit, which saves disk syncs. Each write sees
  /// the changes of the earlier ones and is atomic: if `body` throws, only its own changes are
  /// undone. The call returns when its changes are on disk.
  ///
  /// `body` runs again, on a clean transaction, when the file must grow, or when another write in
  /// the commit throws. `body` also runs again after it catches the error of a savepoint, or of a
  /// call that failed half-way. In that run, the savepoint or the call throws the same error at
  /// once. Such a closure should have no side effects outside the transaction, and must not wait
  /// for events that follow another write.
  ///
  /// - Parameters:
  ///   - author: the author for the history; by default ``StoreOptions/author``.
  ///   - contextName: the part of the program for the history; by default
  ///     ``StoreOptions/contextName``.
  /// - Throws: the errors of the synchronous form. A failed commit throws in each call that shares
  ///   it, and none of their changes is stored. `CancellationError` when the task is cancelled
  ///   before `body` first runs, or while it updates or deletes the results of a query. At other
  ///   times the write is committed despite the cancellation.
  @discardableResult
  public func write<R: Sendable>(
    author: String? = nil, contextName: String? = nil,
    _ body: @escaping @Sendable (inout WriteTransaction) throws -> R
  ) async throws -> R {
    try await core.writeTogether(origin: WriteOrigin(author: author, context: contextName)) {
      core in
      var transaction = WriteTransaction(core: core)
      return try body(&transaction)
    }
  }
}
