internal import LMDB
internal import LodestoreFormat

/// The changes of a file during opening, in one transaction, by which its schema fits the
/// declarations.
final class Opening {
  let store: StoreCore
  let transaction: WritingTransaction
  let declared: [DeclaredEntity]
  let work: OpeningWork?
  /// The stages whose steps have run; `nil` when there were none.
  var stages: (any OpenedStages)?
  /// Checks the records whose derived attributes change, if no stages have run.
  ///
  /// Stages check these records themselves.
  let rules = OpeningRules()
  /// The messages about stored conditions that already named missing attributes before the opening
  /// changed anything; opening does not refuse these conditions.
  let lost: Set<String>
  /// By entity, the new indexes over derived attributes.
  ///
  /// These indexes are built after the attributes' values are computed.
  private(set) var laterIndexes: [EntityNumber: Set<UInt32>] = [:]
  /// The entities whose history restarts, because records may have changed without being recorded.
  private(set) var restarted: Set<EntityNumber> = []

  init(
    _ store: StoreCore, _ declared: [DeclaredEntity], in transaction: WritingTransaction,
    _ work: OpeningWork?
  ) throws {
    self.store = store
    self.transaction = transaction
    self.declared = declared
    self.work = work
    lost = try store.lostNames(in: transaction.reads)
  }

  /// Runs the pending steps of stages; `version` is the version of the file's model.
  func run(_ stages: any OpeningStages, after version: UInt64) throws {
    try store.stopBuilding(in: transaction)
    let schema = try store.load(in: transaction.reads)
    try work?.begin(
      total: stages.workCount(after: version, in: schema, transaction.reads)
        + workCount(isExact: false))
    self.stages = try stages.run(after: version, store, in: transaction, work)
  }

  /// Applies the declared entities to the file, and completes the stages.
  func evolve() throws {
    var current = try store.load(in: transaction.reads)
    for entity in declared { current = try evolve(entity, current) }
    try evolveRelationships()
    try stages?.finish()
    restarted.formUnion(stages?.touched ?? [])
    restarted.formUnion(try evolveDerivations())
    let core = try store.writing(transaction)
    try core.checkConditions(Set(declared.map(\.name)))
    try stages?.checkRules(core)
    try rules.check(core, StoreError.afterDerivation)
  }

  /// The number of records to read and entries to write for the new schema.
  ///
  /// - Parameter isExact: false while stages may still change records that do not fit.
  func workCount(isExact: Bool = true) throws -> Int {
    let current = try store.load(in: transaction.reads)
    let outgrown =
      store.options.buildsIndexesInUse
      ? [] : try store.outgrownIndexes(current, transaction.reads)
    let rebuilt = try outgrown.reduce(0) { try $0 + transaction.count(of: $1.0.records) }
    return try declared.reduce(rebuilt) { sum, declared in
      guard let stored = current.entity(named: declared.name) else { return sum }
      let count = try transaction.count(of: stored.records)
      guard isExact else { return sum + 2 * count * declared.indexes.count }
      let evolution = try evolution(of: stored, to: declared, current)
      return sum + count
        * (2 * evolution.addedIndexes.count + evolution.addedComputedIndexes.count
          + (evolution.tightened.isEmpty ? 0 : 1) + (evolution.reshaped.isEmpty ? 0 : 1))
    }
  }

  /// Builds vector indexes again that have outgrown their lists, or begins to replace them in use.
  func renewLists() throws {
    let core = try store.writing(transaction)
    for (entity, index) in try store.outgrownIndexes(core.schema, transaction.reads) {
      if try beginReplacement(of: index, entity.number) { continue }
      try index.entries.empty(in: transaction)
      try core.build(index, of: entity, work)
    }
  }

  /// Adds an index that is built in use and then replaces `index`, which queries use until then.
  ///
  /// - Returns: whether the options and the limits of the schema allow the additional index.
  private func beginReplacement(
    of index: StoredComputedIndex, _ number: EntityNumber
  ) throws -> Bool {
    let current = try store.load(in: transaction.reads)
    guard store.options.buildsIndexesInUse, var description = current.entity(number)?.description,
      let highest = description.computedIndexes.map(\.number).max(), highest < .max
    else { return false }
    var replacement = index.description
    replacement.number = highest + 1
    replacement.isBuilding = true
    description.computedIndexes.append(replacement)
    guard (try? current.checkTreeCount(with: description)) != nil else { return false }
    _ = try store.environment.openOrMakeTree(replacement.tree(of: number), in: transaction)
    try store.trees.put(description, in: transaction)
    return true
  }

  private func evolution(
    of stored: StoredEntity, to declared: DeclaredEntity, _ schema: StoredSchema
  ) throws -> SchemaEvolution {
    try SchemaEvolution(
      from: stored.description, to: declared,
      hasRecords: try transaction.count(of: stored.records) > 0,
      linkAttributes: schema.linkAttributes(of: stored),
      buildsInUse: try store.buildsIndexesInUse(of: stored, in: transaction.reads))
  }

  /// Applies the declaration of one entity to the file; returns the schema afterwards.
  ///
  /// The whole schema is reloaded only for a changed entity. Reloading it for each of many new
  /// entities would take quadratic time.
  ///
  /// - Parameter current: the schema before the change.
  private func evolve(_ declared: DeclaredEntity, _ current: StoredSchema) throws -> StoredSchema {
    let stored = current.entity(named: declared.name)
    let evolution: SchemaEvolution
    if let stored {
      evolution = try self.evolution(of: stored, to: declared, current)
      for index in stored.indexes where evolution.droppedIndexes.contains(index.description.number)
      {
        try index.empty(in: transaction)
      }
      for index in stored.building
      where evolution.stoppedIndexes.contains(index.description.number) {
        try store.stopBuilding(index, of: stored, in: transaction)
      }
      for index in stored.computedIndexes
      where evolution.droppedComputedIndexes.contains(index.description.number) {
        try store.discard(index, of: stored, in: transaction)
      }
    } else {
      try store.checkResemblance(of: declared, in: current, transaction.reads)
      evolution = SchemaEvolution(
        creating: declared,
        number: try store.nextEntity(after: current.entities.map(\.description), in: transaction))
    }
    guard evolution.isChanged || evolution.changesConstraints else { return current }
    try current.checkTreeCount(with: evolution.result)
    try store.trees.put(evolution.result, in: transaction)
    if let stored {
      try store.renameInConditions(from: stored.description, to: evolution.result, in: transaction)
    }
    let entity = try StoredEntity(
      description: evolution.result, declared: nil
    ) { try store.environment.openOrMakeTree($0, in: transaction) }
    let core = store.writing(transaction, only: entity)
    _ = try core.rules(of: entity)
    if evolution.beginsHistory { restarted.insert(entity.number) }
    try core.checkPresence(of: evolution.tightened, in: entity, work)
    try core.checkDocuments(of: evolution.reshaped, in: entity, work)
    for index in entity.computedIndexes
    where evolution.addedComputedIndexes.contains(index.description.number) {
      try core.build(index, of: entity, work)
    }
    let derived = declared.numbersOfDerived(in: evolution.result)
    for index in entity.indexes where evolution.addedIndexes.contains(index.description.number) {
      if derived.isDisjoint(with: index.description.attributes) {
        try core.build(index, of: entity, work)
      } else {
        laterIndexes[entity.number, default: []].insert(index.description.number)
      }
    }
    guard stored == nil else { return try store.load(in: transaction.reads) }
    return StoredSchema(
      number: current.number, entities: current.entities + [entity],
      relationships: current.relationships)
  }
}
