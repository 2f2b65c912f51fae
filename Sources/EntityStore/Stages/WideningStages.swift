internal import LMDB
internal import LodestoreFormat

/// Changes attributes of the file to the wider types that entities declare.
///
/// The model version in the file stays, because it counts only the stages of a program.
struct WideningStages: OpeningStages {
  let declared: [DeclaredEntity]

  var version: UInt64 { 0 }

  func isPending(after _: UInt64, in schema: StoredSchema) -> Bool {
    declared.contains { !widened($0, in: schema.entity(named: $0.name)?.description).isEmpty }
  }

  func workCount(
    after _: UInt64, in schema: StoredSchema, _ transaction: Transaction
  ) throws -> Int {
    try declared.reduce(0) { sum, declared in
      guard let entity = schema.entity(named: declared.name) else { return sum }
      return try sum + widened(declared, in: entity.description).count
        * transaction.count(of: entity.records)
    }
  }

  func run(
    after _: UInt64, _ store: StoreCore, in transaction: WritingTransaction, _ work: OpeningWork?
  ) throws -> any OpenedStages {
    let run = MigrationRun(store, transaction, work, rules: nil)
    for entity in declared {
      let stored = try run.entities().first { $0.name == entity.name }
      for attribute in widened(entity, in: stored) {
        let conversion = try ExactConversion(to: attribute.storage.type, dates: nil)
        try run.convert(attribute.name, of: entity.name, to: attribute.storage) {
          conversion.value($0)
        }
      }
    }
    try run.buildDeferredIndexes()
    return run
  }

  /// Returns the attributes that are declared with a wider type than their stored one.
  private func widened(
    _ entity: DeclaredEntity, in stored: EntityDescription?
  ) -> [DeclaredEntity.Attribute] {
    entity.attributes.filter { attribute in
      stored?.attribute(named: attribute.name)?.type.widens(to: attribute.storage.type) ?? false
    }
  }
}

extension StoreCore {
  /// Applies the declarations to the file in one transaction, widening the types of attributes.
  ///
  /// When it throws, the file is unchanged.
  ///
  /// - Throws: ``StoreError/Code/incompatibleSchema`` when the wider type cannot represent values
  ///   exactly, with the first ten records.
  func bringUpToDate(widening declared: [DeclaredEntity]) throws {
    try bringUpToDate(declared, nil, WideningStages(declared: declared))
  }
}
