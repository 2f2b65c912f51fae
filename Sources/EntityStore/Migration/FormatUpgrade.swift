internal import LMDB
internal import LodestoreFormat

/// Converts data of earlier versions to the form that this version expects.
///
/// A file is not upgraded only to raise its version number. Most features of a new version are
/// recorded in the header when a program first uses them. A step is for existing data that this
/// version would misinterpret. All steps run in one transaction when a store is opened for writing,
/// and do nothing the second time. A store opened read-only is never upgraded.
struct FormatUpgrade {
  /// One step: its condition, and its effect on an entity.
  struct Step: Sendable {
    /// The format version in whose form the step leaves the data.
    let version: FormatVersion
    /// Returns whether the entity may need the step, according to its description.
    let isNeeded: @Sendable (EntityDescription) -> Bool
    /// Rewrites the entity within the transaction; returns `nil` when it must stay unchanged.
    let apply: @Sendable (EntityDescription, WritingTransaction) throws -> EntityDescription?
  }

  /// The steps, in ascending order of versions.
  static let steps: [Step] = [.recordIDs]

  static func isNeeded(_ entity: EntityDescription) -> Bool {
    steps.contains { $0.isNeeded(entity) }
  }

  /// Runs the steps that the file needs; returns whether anything was written.
  @discardableResult
  static func run(_ trees: Catalogue.Trees, in transaction: WritingTransaction) throws -> Bool {
    var isChanged = false
    for step in steps {
      for entity in try trees.descriptions(in: transaction.reads) where step.isNeeded(entity) {
        guard let upgraded = try step.apply(entity, transaction) else { continue }
        try trees.put(upgraded, in: transaction)
        isChanged = true
      }
    }
    if isChanged {
      try trees.raiseSchemaNumber(in: transaction)
      // Steps write the bytes of records without updating the ledger's sizes and digests, so these
      // are recounted.
      ContentLedger.of(transaction, trees).recount()
    }
    return isChanged
  }
}
