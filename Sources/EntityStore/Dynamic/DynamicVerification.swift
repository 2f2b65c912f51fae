internal import LMDB
package import LodestoreFormat

/// A record with a wrong value of an attribute that is derived with a condition.
///
/// The value differs from the value computed from the related records.
package struct DynamicDerivedFault: Sendable {
  package var entity: String
  package var entityNumber: EntityNumber
  package var attribute: String
  package var record: UInt64
  package var detail: String
}

extension DynamicSnapshot {
  /// Calls `body` with each wrong value of an attribute derived with a condition.
  ///
  /// The verifier checks all other derived attributes. Only this library can evaluate conditions.
  ///
  /// - Throws: ``StoreError/Code/badSchema`` for a condition that this version cannot read;
  ///   `CancellationError` once `isCancelled` returns true.
  /// - Complexity: O(*n* + *m*) for *n* records with such attributes and *m* related records.
  package func verifyConditional(
    isCancelled: () -> Bool = { false }, _ body: (DynamicDerivedFault) throws -> Void
  ) throws {
    for derivation in core.schema.derived where derivation.condition != nil {
      let entity = derivation.owner
      let reader = try RelatedReader(derivation, core: core)
      let records = try Cursor(entity.records, in: core.transaction)
      var found = try records.first()
      while found {
        if isCancelled() { throw CancellationError() }
        let id = records.integerKey
        let values = try entity.values(of: try entity.view(records.value, id: id))
        let stored = values[derivation.position]
        if try !reader.isRight(stored, of: id) {
          try body(
            DynamicDerivedFault(
              entity: entity.name, entityNumber: entity.number,
              attribute: entity.attributeName(at: derivation.position), record: id,
              detail:
                "is not the \(derivation.kind.rawValue) of the records that it leads to and that "
                + "fulfil '\(derivation.condition ?? "")'"))
        }
        found = try records.next()
      }
    }
  }
}
