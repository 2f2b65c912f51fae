internal import LMDB
internal import LodestoreFormat

extension Store {
  /// Opens the store at `path`, runs the pending stages, and then applies the declarations of
  /// `entities`.
  ///
  /// See ``MigrationStage``, and ``init(at:entities:options:)-(String,_,_)``.
  ///
  /// - Throws: also ``StoreError/Code/incompatibleSchema`` when a step cannot run, and when the
  ///   file has a higher version than these stages and lacks parts that `entities` declare.
  public convenience init(
    at path: String, entities: [any Entity.Type], migrating stages: [MigrationStage],
    options: StoreOptions = StoreOptions()
  ) throws(StoreError) {
    try self.init(
      path: path, isInMemory: false, entities: entities, options: options,
      stages: try MigrationPlan(stages))
  }

  /// Opens the store on a thread of its own, with progress; see
  /// ``open(at:entities:options:onProgress:)``.
  public static func open(
    at path: String, entities: [any Entity.Type], migrating stages: [MigrationStage],
    options: StoreOptions = StoreOptions(), onProgress: (@Sendable (WorkProgress) -> Void)? = nil
  ) async throws -> Store {
    let plan = try MigrationPlan(stages)
    return try await open(
      at: path, entities: entities, options: options, stages: plan, onProgress: onProgress)
  }
}

extension Store {
  /// The steps of stages that ran when this store was opened, in their order, with their effects.
  ///
  ///     print(store.migrationSteps)  // [Film: deduplicate Film by episode: 3 records are merged into 2, …]
  ///
  /// The array is empty when no stage was pending. The property may be read on any thread.
  public var migrationSteps: [SchemaChange] { core.migrationSteps.withLock { $0 } }
}

/// The stages of a program.
struct MigrationPlan: OpeningStages {
  private let stages: [MigrationStage]

  init(_ stages: [MigrationStage]) throws(StoreError) {
    for (stage, next) in zip(stages, stages.dropFirst()) where stage.version >= next.version {
      throw .badStages("stage \(next.version) comes after stage \(stage.version)")
    }
    if let first = stages.first, first.version < 1 {
      throw .badStages("a stage leads to version \(first.version), and versions begin at 1")
    }
    self.stages = stages
  }

  var version: UInt64 { stages.last.map { UInt64($0.version) } ?? 0 }

  func isPending(after version: UInt64, in _: StoredSchema) -> Bool { self.version > version }

  private func pending(_ version: UInt64) -> [MigrationStage] {
    stages.filter { UInt64($0.version) > version }
  }

  func workCount(
    after version: UInt64, in schema: StoredSchema, _ transaction: Transaction
  ) throws -> Int {
    try pending(version).flatMap(\.steps).reduce(0) { sum, step in
      guard let entity = step.pass.flatMap({ schema.entity(named: $0) }) else { return sum }
      return try sum + transaction.count(of: entity.records)
    }
  }

  func run(
    after version: UInt64, _ store: StoreCore, in transaction: WritingTransaction,
    _ work: OpeningWork?
  ) throws -> any OpenedStages {
    let run = MigrationRun(store, transaction, work)
    try self.run(after: version, run)
    return run
  }

  /// Runs the steps after `version`.
  func run(after version: UInt64, _ run: MigrationRun) throws {
    for stage in pending(version) {
      for step in stage.steps {
        run.begin(step, of: stage)
        do {
          try step.run(run)
        } catch let error as StoreError where error.isOfValues {
          throw StoreError.cannotMigrate(
            "stage \(stage.version), step '\(step.text)': \(error.message)", entity: error.entity,
            attribute: error.attribute, recordID: error.recordID, cause: error)
        } catch let error where !(error is StoreError || error is LMDBError || error is FormatError)
        {
          throw StoreError.cannotMigrate(
            "stage \(stage.version), step '\(step.text)': \(error)", cause: error)
        }
      }
      try run.buildDeferredIndexes()
    }
  }
}

extension MigrationRun: OpenedStages {}

extension StoreError {
  /// Whether the error comes from the step or the values that it changes.
  ///
  /// If false, the file or the machine caused the error.
  fileprivate var isOfValues: Bool {
    [
      .deleteDenied, .uniqueViolation, .noSuchRecord, .invalidValue, .unstorableValue,
      .unknownEntity,
      .missingTarget, .brokenTransaction,
    ].contains(code)
  }

  fileprivate static func badStages(_ reason: String) -> StoreError {
    StoreError(.badSchema, "cannot use the migration's stages: \(reason)")
  }
}
