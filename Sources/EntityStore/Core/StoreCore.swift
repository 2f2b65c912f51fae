internal import LMDB
internal import LodestoreEssentials
internal import LodestoreFormat
internal import LodestorePages
import Synchronization

/// A store without Swift types: the environment and the last known catalogue.
///
/// ``Store`` is the typed interface, ``DynamicStore`` the interface for tools.
///
/// The mutable state is the schema, which is replaced when the file has a newer one, the steps of
/// stages, the caches and two flags. The flags are atomic, and each other part has a lock.
final class StoreCore: Sendable {
  let environment: Environment
  /// The options; read-only for a sealed file, whatever the program requests.
  let options: StoreOptions
  /// The seal of a sealed file.
  let seal: SealDescription?
  let path: String
  /// The name of the store in error messages.
  var label: String { path.isEmpty ? "the store in memory" : "'\(path)'" }
  let trees: Catalogue.Trees
  private let currentSchema: Guarded<StoredSchema>
  /// The steps of stages that ran during opening.
  let migrationSteps = Guarded<[SchemaChange]>([])
  private let names: [ObjectIdentifier: String]
  let declared: [DeclaredEntity]
  /// The cached plans of queries.
  let recent = CommitCache()
  let expiredRecords = ExpiredRecordsCache()
  let unevictableRecords = UnevictableRecords()
  /// Whether a commit has left an entity far above its limit, and the ``EvictionKeeper`` has not
  /// evicted since.
  let evictsSoon = Atomic<Bool>(false)
  private let isOpen = Atomic<Bool>(true)

  /// Opens the file and checks its header, without reading the catalogue.
  init(
    opening path: String, isInMemory: Bool, declared: [DeclaredEntity],
    types: [ObjectIdentifier: String], options: StoreOptions, work: OpeningWork?
  ) throws(StoreError) {
    self.path = path
    names = types
    self.declared = declared
    environment = try wrappingErrors { try Self.open(path, isInMemory: isInMemory, options, work) }
    var options = options
    if environment.isSealed { options.access = .readOnly }
    self.options = options
    environment.addTurnPolicy(options.turnPolicy)
    do {
      trees = try Self.checkHeader(environment, path: path, options: options)
      seal = environment.isSealed ? try Self.readSeal(environment) : nil
      currentSchema = Guarded(StoredSchema(number: .unread, entities: []))
    } catch {
      EnvironmentRegistry.close(environment)
      throw StoreError(wrapping: error)
    }
  }

  deinit { close() }

  func close() {
    if isOpen.exchange(false, ordering: .relaxed) { EnvironmentRegistry.close(environment) }
  }

  private static func open(
    _ path: String, isInMemory: Bool, _ options: StoreOptions, _ work: OpeningWork?
  ) throws -> Environment {
    var engine = EnvironmentOptions()
    // LMDB's memory map also limits the size of the file, so its size must not exceed the program's
    // limit.
    engine.mapSizeInBytes = max(min(options.mapSizeInBytes, options.fileSizeLimitInBytes), 1)
    engine.mapGrowthLimitInBytes = options.fileSizeLimitInBytes
    engine.durability = options.durability == .full ? .full : .mayLoseLastCommit
    engine.allowsUnlockedReading = options.allowsUnlockedReading
    engine.allowsAnyFileSystem = options.allowsAnyFileSystem
    engine.isNamed = options.isNamed
    engine.usesPlainEngine = options.usesPlainEngine
    engine.readsInPages = options.readsInPages
    if options.convertsOtherEngine { engine.convertsFilesWithTree = TreeName.header.text }
    let trust: EnvironmentOptions.Trust =
      switch options.trust {
      case .verifyFirst: .verifyFirst
      case .checkHeader: .verifyBeforeWrite
      case .none: .always
      }
    engine.checkPages(when: trust)
    engine.access =
      switch options.access {
      case .create: .readWrite(create: true)
      case .existing: .readWrite(create: false)
      case .readOnly, .previousCommit: .readOnly
      }
    func onCheck(done: Int, total: Int) -> Bool { work?.check(done: done, total: total) ?? true }
    if options.access == .previousCommit {
      return try EnvironmentRegistry.openPrevious(path, options: engine, onCheck: onCheck)
    }
    let now = Date().timeIntervalSinceReferenceDate
    func initialise(_ transaction: WritingTransaction) throws {
      try Catalogue.initialise(transaction, environment: transaction.environment, now: now)
    }
    return isInMemory
      ? try EnvironmentRegistry.openInMemory(options: engine, initialise: initialise)
      : try EnvironmentRegistry.open(
        path, options: engine, onCheck: onCheck, initialise: initialise)
  }

  private static func checkHeader(
    _ environment: Environment, path: String, options: StoreOptions
  ) throws -> Catalogue.Trees {
    guard let header = try environment.openExistingTrees([.header])[.header] else {
      let trees = try environment.read { try $0.treeNames() }
      throw StoreError.foreignFile(path, trees: trees)
    }
    let requirement = try environment.read { try Catalogue.requirement(header, in: $0) }
    try Catalogue.check(requirement, path: path, isWriting: !options.isReadOnly)
    let trees = try environment.openExistingTrees([.catalogue, .counters, .buckets, .imports])
    guard let catalogue = trees[.catalogue], let counters = trees[.counters],
      let buckets = trees[.buckets], let imports = trees[.imports]
    else { throw FormatError("a tree that every store has is missing") }
    return Catalogue.Trees(
      header: header, catalogue: catalogue, counters: counters, buckets: buckets, imports: imports)
  }

  private static func readSeal(_ environment: Environment) throws -> SealDescription {
    guard
      let tree = try environment.openExistingTrees([.seal])[.seal],
      let seal = try environment.read({ transaction in
        try transaction.get(SealDescription.key, in: tree).map { try SealDescription(body: $0) }
      })
    else { throw FormatError("it has the mark of a sealed file and no seal", .sealPair) }
    return seal
  }

  func name<E: Entity>(of _: E.Type) -> String? { names[ObjectIdentifier(E.self)] }

  var schema: StoredSchema { currentSchema.withLock { $0 } }

  // MARK: Transactions

  /// Runs `body` on the newest commit.
  func read<R>(_ body: (TransactionCore) throws -> R) throws -> R {
    try checkOpen("read")
    while true {
      let schema = self.schema
      let result: R? = try mapped {
        try environment.read { transaction in
          guard try trees.schemaNumber(in: transaction) == schema.number else { return nil }
          return try body(TransactionCore(reading: transaction, schema: schema, store: self))
        }
      }
      if let result { return result }
      try mapped { try reloadForReading() }
    }
  }

  /// Runs `body` on a reader thread, with precedence over the jobs of lower-priority tasks.
  func onReader<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    do {
      return try await environment.readerThreads.run(
        urgency: JobUrgency(Task.currentPriority), body)
    } catch let error as LMDBError {
      throw StoreError(error)
    }
  }

  func checkWritable() throws(StoreError) {
    if environment.isSealed { throw .sealed(label, seal) }
    guard !options.isReadOnly else {
      throw StoreError(.readOnly, "cannot write: the store was opened read-only")
    }
  }

  /// Throws when the store is closed.
  ///
  /// The environment stays open while another store of this process uses the file.
  func checkOpen(_ verb: String) throws(StoreError) {
    guard isOpen.load(ordering: .relaxed) else {
      throw StoreError(.closed, "cannot \(verb) \(label): the store is closed")
    }
  }

  /// Runs `body`; rethrows errors of the user's closure, and converts those of the engine to
  /// ``StoreError``.
  func mapped<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as LMDBError {
      throw StoreError(error)
    } catch let error as FormatError {
      throw StoreError(wrapping: error)
    }
  }

  // MARK: Catalogue

  func reloadForReading() throws {
    let (number, descriptions, relationships, named) = try environment.read { transaction in
      // Another program may have written features that this one does not know.
      try Catalogue.check(
        try Catalogue.requirement(trees.header, in: transaction), path: path,
        isWriting: !options.isReadOnly)
      return (
        try trees.schemaNumber(in: transaction), try trees.descriptions(in: transaction),
        try trees.relationships(in: transaction), try transaction.namedTrees()
      )
    }
    try Catalogue.checkTrees(named, descriptions, relationships)
    // Trees are opened here, because a handle must be opened before the transaction that reads
    // through it.
    let optional = named.compactMap { TreeName($0.name) }.filter(\.isOptional)
    let opened = try environment.openExistingTrees(
      descriptions.flatMap(\.trees) + relationships.flatMap(\.trees) + optional)
    func existing(_ name: TreeName) throws -> Tree {
      guard let tree = opened[name] else { throw FormatError.missingTree(name) }
      return tree
    }
    let described = Dictionary(descriptions.map { ($0.number, $0) }) { first, _ in first }
    for relationship in relationships { try relationship.check(described) }
    for entity in descriptions { try entity.checkDerivations(descriptions, relationships) }
    let loaded = try StoredSchema(
      number: number, descriptions, relationships, declared: declared,
      optionalTrees: opened.filter { $0.key.isOptional }, tree: existing)
    currentSchema.withLock { $0 = loaded }
  }

  func declaration(of description: EntityDescription) -> DeclaredEntity? {
    declared.first { $0.name == description.name }
  }
}

extension StoreOptions {
  /// The options on waiting for writers of other processes, in the form that the `LMDB` module
  /// takes.
  fileprivate var turnPolicy: TurnPolicy {
    var policy = TurnPolicy()
    policy.limitInSeconds = writeWaitLimit.map { $0 / .seconds(1) }
    policy.warningInSeconds = writeWaitWarningAge / .seconds(1)
    if let onWriteWaitWarning {
      policy.onLongWait = { seconds, holder in
        onWriteWaitWarning(WriteWaitWarning(holder, waited: .seconds(seconds)))
      }
    }
    return policy
  }
}
