internal import LMDB
internal import LodestoreFormat

/// Reads the facts on which a derived attribute depends from the related records.
final class RelatedReader {
  private let derivation: RelatedDerivation
  private let core: TransactionCore
  private let condition: RecordCondition?
  private let links: LinkCursor?
  private let records: Cursor
  private let owners: Cursor

  init(_ derivation: RelatedDerivation, core: TransactionCore) throws(StoreError) {
    self.derivation = derivation
    self.core = core
    condition = try core.condition(of: derivation)
    links = try derivation.end.links.map { (index) throws(StoreError) in
      try LinkCursor(index, core: core)
    }
    (records, owners) = try wrappingErrors {
      (
        try Cursor(derivation.end.target.records, in: core.transaction),
        try Cursor(derivation.owner.records, in: core.transaction)
      )
    }
  }

  /// The value that the related record `id` contributes; null when records are only counted.
  ///
  /// Returns `nil` when the condition excludes the record.
  func contribution(of id: UInt64) throws -> Value? {
    guard derivation.readsRecords else { return .null }
    guard try records.seek(id) else { return condition == nil ? .null : nil }
    return try contribution(of: try derivation.end.target.view(records.value, id: id), id: id)
  }

  /// The value that the related record `id` contributes, from the bytes in `view`.
  func contribution(of view: RecordView, id: UInt64) throws -> Value? {
    if let condition, try !condition.admits(view, id: id) { return nil }
    guard let source = derivation.source else { return .null }
    return try view.value(of: source)
  }

  /// Computes the derived attribute of record `id` from all its related records.
  ///
  /// - Complexity: O(*n*) in the number of its related records.
  func derive(_ id: UInt64) throws -> Value {
    guard let result = try aggregate(of: id).result else {
      throw StoreError.unfittingTotal(derivation, id)
    }
    return result
  }

  /// Returns whether `stored` is a correct value of record `id` by the rules of Format.md.
  func isRight(_ stored: Value, of id: UInt64) throws -> Bool {
    let aggregate = try aggregate(of: id)
    guard let expected = aggregate.result else { return false }
    return aggregate.admits(stored, for: expected)
  }

  private func aggregate(of id: UInt64) throws -> DerivedAggregate {
    var aggregate = DerivedAggregate(derivation.kind, type: derivation.type)
    if let links {
      try links.forEach(of: id) { other in
        if let value = try contribution(of: other) { try aggregate.add(value) }
        return true
      }
    } else if let attribute = derivation.end.attribute, try owners.seek(id),
      let other = try derivation.owner.recordID(
        ofAttribute: attribute.number, in: try derivation.owner.view(owners.value, id: id))
    {
      if let value = try contribution(of: other) { try aggregate.add(value) }
    }
    return aggregate
  }
}

extension StoreError {
  static func unfittingTotal(_ derivation: RelatedDerivation, _ id: UInt64) -> StoreError {
    StoreError(
      .unstorableValue,
      "cannot commit: the \(derivation.kind.rawValue) that '\(derivation.label)' is of record \(id) "
        + "does not fit \(derivation.type.name); change fewer or smaller values, or its type",
      entity: derivation.owner.name,
      attribute: derivation.owner.attributeName(at: derivation.position),
      recordID: id)
  }
}
