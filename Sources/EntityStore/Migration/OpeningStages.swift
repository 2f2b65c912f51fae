internal import LMDB
internal import LodestoreFormat

/// The stages of migrations: a program's changes of a file before its declarations are applied.
protocol OpeningStages: Sendable {
  /// The version of the model to which the declared types belong.
  var version: UInt64 { get }

  /// Returns whether a file whose model has `version` lacks some of the steps.
  func isPending(after version: UInt64, in schema: StoredSchema) -> Bool

  /// The number of records that the stages after `version` process.
  func workCount(after version: UInt64, in schema: StoredSchema, _ transaction: Transaction) throws
    -> Int

  /// Runs the steps after `version`.
  func run(
    after version: UInt64, _ store: StoreCore, in transaction: WritingTransaction,
    _ work: OpeningWork?
  ) throws -> any OpenedStages
}

/// The remaining work of stages after the catalogue fits the declared types.
protocol OpenedStages {
  /// The entities whose derived attributes must be recomputed.
  var touched: Set<EntityNumber> { get }

  /// The receiver of the records whose derived attributes change after the steps; `nil` when none
  /// is needed.
  var sink: (any ChangeSink)? { get }

  /// The steps that have run, with their effects.
  var steps: [SchemaChange] { get }

  /// Creates the links that steps have requested, and rebuilds the element indexes and orders of
  /// changed records.
  func finish() throws

  /// Checks the changed records against constraints and rules, after all values are final.
  ///
  /// - Parameter core: a transaction with the schema of the declared types.
  func checkRules(_ core: WriteCore) throws
}
