#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An entity store in one file.
///
///     let store = try Store(at: "pods.lodestore", entities: [Pod.self, Film.self])
///     try store.write { tx in try tx.insert(pod) }
///     let count = try store.read { snapshot in try snapshot.count(Pod.all) }
///
/// Any number of threads and processes may use the file at once: one writes, the others read, and
/// readers neither wait nor make wait. Opening the same file again in one process shares it.
///
/// Errors are ``StoreError``; what a closure throws comes through as it is. After an error of a
/// read the store goes on; after one of a write nothing of that write is kept. After
/// ``StoreError/Code/poisoned`` only closing and opening again helps.
public final class Store: Sendable {
  let core: StoreCore
  /// Builds what is to be built while the store is used; `nil` where nothing is.
  let builder: IndexBuilder?
  /// What is built upon the store and ends with it.
  let companions = StoreCompanions()

  /// The path that the store was opened at; empty for one in memory.
  public var path: String { core.path }

  /// Opens the store at `path`, and makes it when there is none.
  ///
  /// The schema in the file is brought up to that of `entities`: see <doc:Entities>. What cannot be
  /// is refused with ``StoreError/Code/incompatibleSchema``, and the file stays as it was. Entities
  /// of the file that are not listed stay as they are, and so do attributes that are not declared:
  /// every update of a record carries their values along, and a new record has their initial values
  /// or null. Where one of them is required and has no initial value, inserting throws
  /// ``StoreError/Code/unstorableValue``. While there is such an attribute, indexes that are not
  /// declared stay too. What is to go is named in the schema, under `removed`.
  ///
  /// - Parameters:
  ///   - path: of a regular file on a local disk; beside it a lock file appears, with `-lock`
  ///     appended to its name. While a process has the store open, neither may be replaced, moved or
  ///     removed, and all processes must use the same path: anything else is refused with
  ///     ``StoreError/Code/mismatchedFiles``, here or by the next write.
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

  /// Makes a store in memory, for tests and previews: a file without a name on a memory file
  /// system, so that everything behaves as it does on disk.
  ///
  /// It is gone when it is closed.
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
    // The options of the core: a sealed file is read-only, whatever the caller asks for.
    let (core, options) = (core, core.options)
    let builds = options.buildsIndexesInUse && !options.isReadOnly
    builder = builds && core.schema.isBuilding ? IndexBuilder(core) : nil
    if let interval = options.evictionInterval, !options.isReadOnly, core.schema.evicts {
      companions.companion { EvictionKeeper(core, interval: interval) }.start()
    }
  }

  /// The declarations of `entities`, each once.
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
  /// Waits for asynchronous reads that run. Reads on other threads go on, and lazy results
  /// (``FetchedResults``) and sequences of batches keep their commit: the file is closed with the
  /// last of them, and opening it again in this process waits for that, 10 seconds at most, then
  /// throws.
  ///
  /// Inside a write of this store it returns at once: that write is committed as usual, those that
  /// wait for their turn throw ``StoreError/Code/closed``, and the file is closed when the write
  /// and the running reads have ended. Loops over updates and pinned snapshots end.
  ///
  /// A store that is no longer referenced closes itself.
  public func close() {
    companions.close()
    core.close()
  }

  // MARK: Reading

  /// Runs `body` on the newest commit, on the calling thread.
  ///
  /// The snapshot does not change while `body` runs, whatever is written meanwhile. Keep it short:
  /// pages that it can still see are not reused, and the file grows.
  public func read<R>(_ body: (borrowing Snapshot) throws -> R) throws -> R {
    try core.read { core in try body(Snapshot(core: core)) }
  }

  /// Runs `body` on the newest commit, on a thread of the store.
  ///
  /// Long reads do not hold up short ones, whatever their number. Of reads that wait, those of
  /// tasks with a higher priority begin first; after sixteen of them one with a lower priority
  /// begins.
  ///
  /// - Throws: what `body` throws; `CancellationError` when the task was cancelled before.
  public func read<R: Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> R
  ) async throws -> R {
    try Task.checkCancellation()
    let core = core
    return try await core.onReader { try core.read { core in try body(Snapshot(core: core)) } }
  }

  // MARK: Writing

  /// Runs `body` as the one writer, on the calling thread, and commits what it did.
  ///
  /// Waits for other writers of this and other processes. When `body` throws, nothing is kept.
  /// `body` runs again, on a clean transaction, when the file had to grow in its midst; it should
  /// have no effects but on the transaction.
  ///
  /// - Parameters:
  ///   - author: who writes, for the history; ``StoreOptions/author`` where it is left out.
  ///   - contextName: what part of the program writes; ``StoreOptions/contextName`` where it is left out.
  /// - Throws: what `body` throws; ``StoreError/Code/nestedWrite`` inside another write of the
  ///   store; ``StoreError/Code/diskFull``, with the last commit whole.
  @discardableResult
  public func write<R>(
    author: String? = nil, contextName: String? = nil,
    _ body: (inout WriteTransaction) throws -> R
  ) throws -> R {
    try core.write(origin: WriteOrigin(author: author, context: contextName)) { core in
      var transaction = WriteTransaction(core: core)
      return try body(&transaction)
    }
  }

  /// Runs `body` as the one writer, on the store's writer thread, and commits what it did.
  ///
  /// The caller's thread is free meanwhile. Writes run in the order in which they were asked for.
  /// Those that wait while another is committed share the next commit, which costs the disk one
  /// sync for all of them. Each sees what those before it did, and is all or nothing by itself:
  /// what `body` throws undoes `body` alone. The call returns when the disk has its own changes.
  ///
  /// `body` runs again, on a clean transaction, when the file had to grow, or when another write
  /// that shares the commit throws; it should have no effects but on the transaction, and not wait
  /// for what happens after another write.
  ///
  /// - Parameters:
  ///   - author: who writes, for the history; ``StoreOptions/author`` where it is left out.
  ///   - contextName: what part of the program writes; ``StoreOptions/contextName`` where it is left out.
  /// - Throws: as the synchronous form. A commit that fails throws to each call that shares it, and
  ///   nothing of them is kept. `CancellationError` when the task is cancelled before `body` first
  ///   runs, or while it updates or deletes what a query finds; otherwise it is committed all the
  ///   same.
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
