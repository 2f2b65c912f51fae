internal import LMDB
internal import LodestoreFormat

/// Brings what earlier versions wrote into the form that this version knows it by.
///
/// A file is not upgraded for the sake of its number: most of what a version adds is used, and asked
/// for in the header, when a program first writes it. A step is for what the file has already and this
/// version would not take for what it is. All steps run in one transaction, when a store is opened for
/// writing; each finds nothing to do the second time. A store that is opened read-only is never
/// upgraded.
struct FormatUpgrade {
  /// One step: what it is for, and what it does to an entity.
  struct Step: Sendable {
    /// The version whose form it makes.
    let version: FormatVersion
    /// Whether the entity may need it, as far as its description tells.
    let isNeeded: @Sendable (EntityDescription) -> Bool
    /// Rewrites the entity within the transaction; `nil` when it has to stay as it is.
    let apply: @Sendable (EntityDescription, Transaction) throws -> EntityDescription?
  }

  /// In ascending order of versions.
  static let steps: [Step] = [.recordIDs]

  static func isNeeded(_ entity: EntityDescription) -> Bool {
    steps.contains { $0.isNeeded(entity) }
  }

  /// Runs the steps that the file needs; returns whether something was written.
  @discardableResult
  static func run(_ trees: Catalogue.Trees, in transaction: Transaction) throws -> Bool {
    var isChanged = false
    for step in steps {
      for entity in try trees.descriptions(in: transaction) where step.isNeeded(entity) {
        guard let upgraded = try step.apply(entity, transaction) else { continue }
        try trees.put(upgraded, in: transaction)
        isChanged = true
      }
    }
    if isChanged {
      try trees.raiseSchemaNumber(in: transaction)
      // Steps write records as bytes.
      ContentLedger.of(transaction, trees).recount()
    }
    return isChanged
  }
}
