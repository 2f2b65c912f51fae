internal import LMDB
internal import LodestoreFormat

/// The changes that a program makes in a file before those for its declared types: the stages of
/// migrations.
protocol OpeningStages: Sendable {
  /// The version of the model that the declared types are of.
  var version: UInt64 { get }

  /// Whether a file whose model has `version` lacks some of the steps.
  func isPending(after version: UInt64, in schema: StoredSchema) -> Bool

  /// The number of records that the stages after `version` go through.
  func workCount(after version: UInt64, in schema: StoredSchema, _ transaction: Transaction) throws
    -> Int

  /// Takes the steps after `version`.
  func run(
    after version: UInt64, _ store: StoreCore, in transaction: Transaction, _ work: OpeningWork?
  ) throws -> any OpenedStages
}

/// The remaining work once the catalogue fits the declared types.
protocol OpenedStages {
  /// The entities whose derived attributes have to be computed again.
  var touched: Set<EntityNumber> { get }

  /// Hears of the records whose derived attributes change after the steps; `nil` where none has to.
  var sink: (any ChangeSink)? { get }

  /// The steps that were taken, with their effects.
  var steps: [SchemaChange] { get }

  /// Makes the links that steps have left, and the data that follows from changed records, except
  /// derived attributes.
  func finish() throws

  /// Checks the changed records against constraints and rules, once all values are final.
  ///
  /// - Parameter core: a transaction with the schema of the declared types.
  func checkRules(_ core: WriteCore) throws
}
