internal import LMDB
internal import LodestoreFormat

/// What a program has done to a file before its declared types are looked at: the stages of migrations.
protocol OpeningStages: Sendable {
  /// The version of the model that the declared types are of.
  var version: UInt64 { get }

  /// How many records stages behind `version` go through.
  func workCount(after version: UInt64, in schema: StoredSchema, _ transaction: Transaction) throws
    -> Int

  /// Takes the steps behind `version`.
  func run(
    after version: UInt64, _ store: StoreCore, in transaction: Transaction, _ work: OpeningWork?
  ) throws -> any OpenedStages
}

/// What is left to do once the catalogue is what is declared.
protocol OpenedStages {
  /// The entities whose derived attributes are to be worked out anew.
  var touched: Set<EntityNumber> { get }

  /// Makes the links that steps have left, and what follows from the records that they have changed, but for
  /// derived attributes.
  func finish() throws
}
