package import LMDB
internal import LodestoreFormat
import Synchronization

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A store without Swift types: the environment, and the catalogue as last seen.
///
/// ``Store`` is its typed face; `kvdump` uses it directly.
///
/// Mutable state: `schema`, replaced whole when the file has a newer one, and `names`, the entity
/// names of the declared types, both under their `Mutex`; `isOpen`, set once.
package final class StoreCore: Sendable {
  package let environment: Environment
  package let options: StoreOptions
  package let path: String
  let trees: Catalogue.Trees
  /// Who is told of the changes of records, by any store of the file.
  package let observers: ChangeObservers
  private let currentSchema: Mutex<StoredSchema>
  private let names: [ObjectIdentifier: String]
  private let declared: [DeclaredEntity]
  private let isOpen = Atomic<Bool>(true)

  package init(
    path: String, isInMemory: Bool = false, declared: [DeclaredEntity] = [],
    types: [ObjectIdentifier: String] = [:], options: StoreOptions
  ) throws(StoreError) {
    self.path = path
    self.options = options
    names = types
    self.declared = declared
    do {
      environment = try Self.open(path, isInMemory: isInMemory, options: options)
    } catch {
      throw StoreError(wrapping: error)
    }
    do {
      trees = try Self.checkHeader(environment, path: path, options: options)
      observers = environment.companion { ChangeObservers() }
      currentSchema = Mutex(StoredSchema(generation: .max, entities: []))
    } catch {
      EnvironmentRegistry.close(environment)
      throw StoreError(wrapping: error)
    }
    // From here on `deinit` runs when this throws: closing goes through `close()`, which does it
    // once, so that another store on the same file keeps its environment.
    do {
      try bringUpToDate(declared)
    } catch {
      close()
      throw StoreError(wrapping: error)
    }
  }

  deinit { close() }

  package func close() {
    if isOpen.exchange(false, ordering: .relaxed) { EnvironmentRegistry.close(environment) }
  }

  private static func open(
    _ path: String, isInMemory: Bool, options: StoreOptions
  ) throws -> Environment {
    var engine = EnvironmentOptions()
    engine.mapSizeInBytes = options.mapSizeInBytes
    engine.mapGrowthLimitInBytes = options.fileSizeLimitInBytes
    engine.durability = options.durability == .full ? .full : .mayLoseLastCommit
    engine.allowsUnlockedReading = options.allowsUnlockedReading
    engine.allowsAnyFileSystem = options.allowsAnyFileSystem
    engine.isNamed = options.isNamed
    engine.usesPlainEngine = options.usesPlainEngine
    engine.access =
      switch options.access {
      case .create: .readWrite(create: true)
      case .existing: .readWrite(create: false)
      case .readOnly: .readOnly
      }
    let now = Date().timeIntervalSinceReferenceDate
    func initialise(_ transaction: Transaction) throws {
      try Catalogue.initialise(transaction, environment: transaction.environment, now: now)
    }
    return isInMemory
      ? try EnvironmentRegistry.openInMemory(options: engine, initialise: initialise)
      : try EnvironmentRegistry.open(path, options: engine, initialise: initialise)
  }

  private static func checkHeader(
    _ environment: Environment, path: String, options: StoreOptions
  ) throws -> Catalogue.Trees {
    func tree(_ name: TreeName) throws -> Tree? {
      try environment.openExistingTree(name.text, hasIntegerKeys: false)
    }
    guard let header = try tree(.header) else {
      let trees = try environment.read { try $0.treeNames() }
      throw StoreError.foreignFile(path, trees: trees)
    }
    let requirement = try environment.read { transaction in
      guard let bytes = try transaction.get(HeaderField.format.key, in: header) else {
        throw FormatError("the header has no field 'format'")
      }
      return try FormatRequirement(bytes: bytes)
    }
    let known = FormatVersion.current.rawValue
    guard requirement.lowestReader <= known else {
      throw StoreError.newerFormat(path, needed: requirement.lowestReader, isWriting: false)
    }
    guard options.access == .readOnly || requirement.lowestWriter <= known else {
      throw StoreError.newerFormat(path, needed: requirement.lowestWriter, isWriting: true)
    }
    guard let catalogue = try tree(.catalogue), let counters = try tree(.counters),
      let buckets = try tree(.buckets), let imports = try tree(.imports)
    else {
      throw FormatError("a tree that every store has is missing")
    }
    return Catalogue.Trees(
      header: header, catalogue: catalogue, counters: counters, buckets: buckets,
      imports: imports)
  }

  func name<E: Entity>(of _: E.Type) -> String? { names[ObjectIdentifier(E.self)] }

  package var schema: StoredSchema { currentSchema.withLock { $0 } }

  // MARK: Transactions

  /// Runs `body` on the newest commit.
  package func read<R>(_ body: (TransactionCore) throws -> R) throws -> R {
    try checkOpen("read")
    while true {
      let schema = self.schema
      let result: R? = try mapped {
        try environment.read { transaction in
          guard try Catalogue.generation(trees, in: transaction) == schema.generation else {
            return nil
          }
          return try body(
            TransactionCore(
              transaction: transaction, schema: schema, store: self, isWrite: false))
        }
      }
      if let result { return result }
      try mapped { try reloadForReading() }
    }
  }

  /// Runs `body` as the one writer, on the calling thread, and commits.
  package func write<R>(_ body: (TransactionCore) throws -> R) throws -> R {
    try checkWritable()
    try checkOpen("write")
    while true {
      let result: R? = try mapped {
        do {
          return try environment.write { try self.run(body, in: $0) }
        } catch is SchemaIsOld {
          return nil
        }
      }
      if let result { return result }
      try mapped { try reloadForReading() }
    }
  }

  /// Runs `body` as the one writer, on the writer's thread, and commits, perhaps together with
  /// others that wait; see ``Environment/writeTogether(_:)``.
  package func writeTogether<R: Sendable>(
    _ body: @escaping @Sendable (TransactionCore) throws -> R
  ) async throws -> R {
    try checkWritable()
    try checkOpen("write")
    do {
      return try await environment.writeTogether { transaction in
        try self.checkOpen("write")
        return try self.run(body, in: transaction)
      }
    } catch is SchemaIsOld {
      return try await onWriter { try self.write(body) }
    } catch let error as LMDBError {
      throw StoreError(error)
    } catch let error as FormatError {
      throw StoreError(wrapping: error)
    }
  }

  private func run<R>(
    _ body: (TransactionCore) throws -> R, in transaction: Transaction
  ) throws -> R {
    let schema = self.schema
    guard try Catalogue.generation(trees, in: transaction) == schema.generation else {
      throw SchemaIsOld()
    }
    let core = TransactionCore(
      transaction: transaction, schema: schema, store: self, isWrite: true)
    core.sinks = observers.sinks(for: core)
    let result = try body(core)
    if let cause = core.brokenBy { throw StoreError.brokenTransaction(by: cause) }
    try core.endChanges()
    return result
  }

  private func checkWritable() throws(StoreError) {
    guard options.access != .readOnly else {
      throw StoreError(.readOnly, "cannot write: the store was opened read-only")
    }
  }

  /// The environment stays open while another store of this process has the file open.
  private func checkOpen(_ verb: String) throws(StoreError) {
    guard isOpen.load(ordering: .relaxed) else {
      throw StoreError(.closed, "cannot \(verb) '\(path)': the store is closed")
    }
  }

  /// Another process has changed the catalogue since it was read here.
  private struct SchemaIsOld: Error {}

  /// Leaves the errors of the user's closure as they are; the engine's become ``StoreError``.
  private func mapped<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as LMDBError {
      throw StoreError(error)
    } catch let error as FormatError {
      throw StoreError(wrapping: error)
    }
  }

  // MARK: Catalogue

  private func reloadForReading() throws {
    let (generation, descriptions) = try environment.read { transaction in
      (
        try Catalogue.generation(trees, in: transaction),
        try Catalogue.descriptions(trees, in: transaction)
      )
    }
    // Only now: a handle must be opened before the transaction that reads through it begins.
    let entities = try descriptions.map { description in
      try StoredEntity(
        description: description, declared: declaration(of: description), tree: self.existing)
    }
    let loaded = StoredSchema(generation: generation, entities: entities, declared: declared)
    currentSchema.withLock { $0 = loaded }
  }

  private func declaration(of description: EntityDescription) -> DeclaredEntity? {
    declared.first { $0.name == description.name }
  }

  private func existing(_ name: TreeName, _ hasIntegerKeys: Bool) throws -> Tree {
    guard
      let tree = try environment.openExistingTree(name.text, hasIntegerKeys: hasIntegerKeys)
    else { throw FormatError("tree '\(name.text)' of the catalogue is missing") }
    return tree
  }

  private func load(in transaction: Transaction) throws -> StoredSchema {
    let generation = try Catalogue.generation(trees, in: transaction)
    let descriptions = try Catalogue.descriptions(trees, in: transaction)
    let entities = try descriptions.map { description in
      try StoredEntity(
        description: description, declared: declaration(of: description)
      ) { name, hasIntegerKeys in
        guard
          let tree = try environment.tree(
            name.text, isCreated: false, hasIntegerKeys: hasIntegerKeys, in: transaction)
        else { throw FormatError("tree '\(name.text)' of the catalogue is missing") }
        return tree
      }
    }
    return StoredSchema(generation: generation, entities: entities, declared: declared)
  }

  /// Makes the file's schema fit `declared`, in one transaction, or throws and leaves it as it was.
  package func bringUpToDate(_ declared: [DeclaredEntity]) throws {
    try reloadForReading()
    let stored = schema
    if try declared.allSatisfy({ try isSettled($0, in: stored) }) { return }
    if options.access == .readOnly {
      for entity in declared where stored.entity(named: entity.name) == nil {
        throw StoreError.missingInReadOnly(entity.name)
      }
      for entity in declared where try !isSettled(entity, in: stored) {
        throw StoreError.evolutionInReadOnly(entity.name)
      }
    }
    try environment.write { transaction in
      for entity in declared { try self.evolve(entity, in: transaction) }
      try Catalogue.raiseGeneration(trees, in: transaction)
    }
    try reloadForReading()
  }

  private func isSettled(
    _ entity: DeclaredEntity, in stored: StoredSchema
  ) throws(StoreError) -> Bool {
    guard let match = stored.entity(named: entity.name) else { return false }
    let evolution = try SchemaEvolution(from: match.description, to: entity, hasRecords: false)
    return options.access == .readOnly
      ? !evolution.concernsReaders : !evolution.isChanged && !evolution.changesConstraints
  }

  private func evolve(_ declared: DeclaredEntity, in transaction: Transaction) throws {
    let current = try load(in: transaction)
    let evolution: SchemaEvolution
    if let stored = current.entity(named: declared.name) {
      evolution = try SchemaEvolution(
        from: stored.description, to: declared,
        hasRecords: try transaction.count(of: stored.records) > 0)
      for index in stored.indexes where evolution.droppedIndexes.contains(index.description.number)
      {
        try transaction.empty(index.tree)
      }
    } else {
      let next = try transaction.get(CounterKey.nextEntity, in: trees.counters)
      let highest = UInt64(current.entities.map(\.number).max() ?? 0)
      let counter = next.map { $0.count == 8 ? $0.uint64(at: 0) : 0 } ?? 1
      guard counter > highest, let number = UInt32(exactly: counter), number < .max else {
        throw FormatError(
          "the next entity number is \(counter), must be above \(highest), the highest in use")
      }
      try transaction.put(
        CounterKey.nextEntity, littleEndianBytes(UInt64(number) + 1), in: trees.counters)
      evolution = SchemaEvolution(creating: declared, number: number)
    }
    guard evolution.isChanged || evolution.changesConstraints else { return }
    // What is put must be readable: a number beyond its limit would close the store to everybody.
    _ = try EntityDescription(
      number: evolution.result.number, document: evolution.result.document)
    try Catalogue.put(evolution.result, trees, in: transaction)
    let entity = try StoredEntity(
      description: evolution.result, declared: nil
    ) { name, hasIntegerKeys in
      guard
        let tree = try environment.tree(
          name.text, isCreated: true, hasIntegerKeys: hasIntegerKeys, in: transaction)
      else { throw FormatError("cannot make tree \(name.text)") }
      return tree
    }
    let core = TransactionCore(
      transaction: transaction,
      schema: StoredSchema(generation: current.generation, entities: [entity]), store: self,
      isWrite: true)
    try core.checkPresence(of: evolution.tightened, in: entity)
    for index in entity.indexes where evolution.addedIndexes.contains(index.description.number) {
      try core.build(index, of: entity)
    }
  }
}
