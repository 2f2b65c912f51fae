internal import LMDB
internal import LodestoreFormat

extension StoreCore {
  /// Opens the store at `path` and applies the declarations, reporting progress.
  convenience init(
    path: String, isInMemory: Bool = false, declared: [DeclaredEntity] = [],
    types: [ObjectIdentifier: String] = [:], options: StoreOptions, work: OpeningWork? = nil,
    stages: (any OpeningStages)? = nil
  ) throws(StoreError) {
    try self.init(
      opening: path, isInMemory: isInMemory, declared: declared, types: types, options: options,
      work: work)
    // After an error, `close()` is called here. A second call, from `deinit`, does nothing, so the
    // environment is not closed for another store on the file.
    do {
      try bringUpToDate(declared, work, stages)
    } catch {
      close()
      throw StoreError(wrapping: error)
    }
  }

  /// Applies the declarations to the file, in one transaction; when it throws, the file is
  /// unchanged.
  func bringUpToDate(
    _ declared: [DeclaredEntity], _ work: OpeningWork? = nil, _ stages: (any OpeningStages)? = nil
  ) throws {
    try reloadForReading()
    if !options.isReadOnly,
      schema.entities.contains(where: { FormatUpgrade.isNeeded($0.description) }),
      try environment.write({ try FormatUpgrade.run(self.trees, in: $0) })
    {
      try reloadForReading()
    }
    let declared = declared.map { $0.keepingHistory(options.history) }
    let stored = schema
    let model = try environment.read { try trees.modelVersion(in: $0) }
    let isPending = stages?.isPending(after: model, in: stored) ?? false
    if !isPending, try declared.allSatisfy({ try fitsDeclaration($0, in: stored) }),
      try doRelationshipsFit(declared, in: stored),
      try doDerivationsFit(declared, in: stored),
      try options.isReadOnly || environment.read({ try outgrownIndexes(stored, $0).isEmpty })
    {
      return
    }
    if options.isReadOnly {
      for entity in declared where stored.entity(named: entity.name) == nil {
        throw seal == nil
          ? StoreError.missingInReadOnly(entity.name) : .missingInSealed(entity.name)
      }
      for entity in declared
      where try !fitsDeclaration(entity, in: stored) || !doRelationshipsFit([entity], in: stored) {
        throw seal == nil
          ? StoreError.evolutionInReadOnly(entity.name) : .evolutionInSealed(entity.name)
      }
    }
    try environment.write { transaction in
      // The version is read again in the transaction, because another process may have changed the
      // file before it began.
      let model = try self.trees.modelVersion(in: transaction.reads)
      try self.checkModel(model, stages, declared, in: transaction)
      let isPending =
        try stages?.isPending(after: model, in: self.load(in: transaction.reads)) ?? false
      let isNew = try isPending && transaction.count(of: self.trees.catalogue) == 0
      let opening = try Opening(self, declared, in: transaction, work)
      if let stages, isPending, !isNew {
        try opening.run(stages, after: model)
      } else {
        try work?.begin(total: opening.workCount())
      }
      try opening.evolve()
      try opening.renewLists()
      self.migrationSteps.withLock { $0 = opening.stages?.steps ?? [] }
      try self.recordRestarts(of: opening.restarted, in: transaction)
      if let stages, stages.version > model {
        try self.trees.putModelVersion(stages.version, in: transaction)
      }
      try trees.raiseSchemaNumber(in: transaction)
    }
    try reloadForReading()
    work?.end()
  }

  /// Throws when an older program would change the file.
  ///
  /// A program can use a file of a newer model if the file has everything that the program
  /// declares. Otherwise the program would treat attributes of the newer model as missing ones.
  private func checkModel(
    _ model: UInt64, _ stages: (any OpeningStages)?, _ declared: [DeclaredEntity],
    in transaction: WritingTransaction
  ) throws {
    let known = stages?.version ?? 0
    guard model > known else { return }
    let current = try load(in: transaction.reads)
    var unknown: [String] = []
    for entity in declared where !entity.isPartial {
      guard let stored = current.entity(named: entity.name) else {
        unknown.append("\(entity.name), which is not there")
        continue
      }
      unknown += entity.differences(from: stored.description)
    }
    guard !unknown.isEmpty else { return }
    throw StoreError.newerModel(model, known: known, unknown)
  }

  private func fitsDeclaration(
    _ entity: DeclaredEntity, in stored: StoredSchema
  ) throws(StoreError) -> Bool {
    guard let match = stored.entity(named: entity.name) else { return false }
    guard !options.isReadOnly || !FormatUpgrade.isNeeded(match.description) else {
      throw seal == nil ? .upgradeInReadOnly(entity.name) : .upgradeInSealed(entity.name)
    }
    let evolution = try SchemaEvolution(
      from: match.description, to: entity, hasRecords: false,
      linkAttributes: stored.linkAttributes(of: match), buildsInUse: options.buildsIndexesInUse)
    return options.isReadOnly
      ? !evolution.concernsReaders : !evolution.isChanged && !evolution.changesConstraints
  }

  /// Returns whether the file's relationships equal the declared ones.
  func doRelationshipsFit(
    _ declared: [DeclaredEntity], in stored: StoredSchema
  ) throws(StoreError) -> Bool {
    let evolution = try RelationshipEvolution(
      stored.relationships.map(\.description), declared: declared,
      entities: stored.entities.map(\.description))
    return options.isReadOnly ? !evolution.concernsReaders : !evolution.isChanged
  }

  /// Returns whether the file's derived attributes equal the declared ones; always true for a store
  /// that is opened for reading only.
  func doDerivationsFit(
    _ declared: [DeclaredEntity], in stored: StoredSchema
  ) throws(StoreError) -> Bool {
    if options.isReadOnly { return true }
    return try !DerivationEvolution(
      declared: declared, entities: stored.entities.map(\.description),
      relationships: stored.relationships.map(\.description)
    ).isChanged
  }

  /// The vector indexes that have too many vectors for their lists, and that nothing replaces yet.
  func outgrownIndexes(
    _ schema: StoredSchema, _ transaction: Transaction
  ) throws -> [(StoredEntity, StoredComputedIndex)] {
    try schema.entities.flatMap { entity in
      try entity.vectorIndexes.filter {
        try entity.description.replacement(of: $0.description) == nil
          && VectorLists.areOutgrown(
            in: $0, of: entity, limit: options.mostVectorsWithoutLists, in: transaction)
      }.map { (entity, $0) }
    }
  }

  func empty(_ names: [TreeName], in transaction: WritingTransaction) throws {
    for name in names {
      let entries = StoredIndex(
        description: .init(number: 0, attributes: [], isUnique: false),
        tree: try environment.existingTree(name, in: transaction.reads), name: name.text,
        entityName: "")
      try entries.empty(in: transaction)
      if let content = DigestedContent(of: name) {
        ContentLedger.of(transaction, trees).sum(of: content).clear()
      }
    }
  }

  /// Notes in the history that the history of these entities restarts.
  ///
  /// Their records may have changed without an entry: their history begins with this opening, or
  /// a stage has changed the records.
  func recordRestarts(of numbers: Set<EntityNumber>, in transaction: WritingTransaction) throws {
    let core = try writing(transaction)
    let entities = core.schema.entities.filter {
      numbers.contains($0.number) && $0.description.history != nil
    }
    guard !entities.isEmpty else { return }
    let log = try WritableHistoryLog(creatingIn: core)
    try log.append(
      number: try log.reads.lastNumber() + 1,
      origin: WriteOrigin(author: options.author, context: options.contextName), time: core.time,
      changes: entities.map {
        HistoryPart.Change(entity: $0.number, kind: .restarted, ids: IDRuns())
      }, links: [])
  }

  /// Returns a number that no entity of the file has had.
  func nextEntity(
    after entities: [EntityDescription], in transaction: WritingTransaction
  ) throws -> EntityNumber {
    EntityNumber(
      try nextNumber(
        CounterKey.nextEntity, "the next entity number",
        after: entities.map(\.number.rawValue).max() ?? 0, in: transaction))
  }

  /// Increments a counter and returns the next number, which is above all numbers in use.
  func nextNumber(
    _ key: [UInt8], _ name: String, after highest: UInt32, in transaction: WritingTransaction
  ) throws -> UInt32 {
    let stored = try transaction.get(key, in: trees.counters)
    let counter = stored.map { $0.count == 8 ? $0.uint64(at: 0) : 0 } ?? 1
    guard counter > UInt64(highest), let number = UInt32(exactly: counter), number < .max else {
      throw FormatError(
        "\(name) is \(counter), must be above \(highest), the highest in use")
    }
    try transaction.put(key, littleEndianBytes(UInt64(number) + 1), in: trees.counters)
    return number
  }

  /// Creates a `WriteCore` on `transaction` that uses the schema stored in the file as of this
  /// transaction.
  ///
  /// - Parameter isForStages: whether the core runs steps of stages. Such a core checks neither
  ///   constraints nor rules, because the final values are checked at the end of all stages.
  func writing(_ transaction: WritingTransaction, isForStages: Bool = false) throws -> WriteCore {
    WriteCore(
      transaction, schema: try load(in: transaction.reads, isForStages: isForStages), store: self,
      checksRules: !isForStages)
  }

  /// Creates a `WriteCore` on `transaction` that knows only one entity.
  ///
  /// The entity need not have the description that the file stores.
  func writing(
    _ transaction: WritingTransaction, only entity: StoredEntity, checksRules: Bool = true
  ) -> WriteCore {
    WriteCore(
      transaction, schema: StoredSchema(number: .unread, entities: [entity]), store: self,
      checksRules: checksRules)
  }

  /// Loads the schema that `transaction` sees.
  ///
  /// - Parameter isForStages: whether it is for the steps of stages, which do not use the declared
  ///   types and postpone the results of functions.
  func load(in transaction: Transaction, isForStages: Bool = false) throws -> StoredSchema {
    try StoredSchema(
      number: trees.schemaNumber(in: transaction), trees.descriptions(in: transaction),
      trees.relationships(in: transaction), declared: isForStages ? [] : declared,
      defersFunctions: isForStages
    ) { try environment.existingTree($0, in: transaction) }
  }
}

extension DeclaredEntity {
  /// - Parameter option: the history for a declaration without its own policy.
  func keepingHistory(_ option: StoreOptions.History?) -> DeclaredEntity {
    guard history == nil, let option else { return self }
    var result = self
    result.history =
      switch option {
      case .off: .off
      case .changes: .kept(images: false, preserved: [])
      case .images: .kept(images: true, preserved: [])
      }
    return result
  }
}
