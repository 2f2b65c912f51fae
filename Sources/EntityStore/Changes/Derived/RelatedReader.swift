internal import LMDB
internal import LodestoreFormat

/// Reads what a derived attribute depends on from the related records.
final class RelatedReader {
  private let derivation: RelatedDerivation
  private let core: TransactionCore
  private let links: LinkCursor?
  private let records: Cursor
  private let owners: Cursor

  init(_ derivation: RelatedDerivation, core: TransactionCore) throws(StoreError) {
    self.derivation = derivation
    self.core = core
    links = try derivation.end.links.map { (index) throws(StoreError) in
      try LinkCursor(index, core: core)
    }
    do {
      records = try Cursor(derivation.end.target.records, in: core.transaction)
      owners = try Cursor(derivation.owner.records, in: core.transaction)
    } catch {
      throw StoreError(error)
    }
  }

  /// The source's value of the related record `id`; null where there is no such record.
  func value(of id: UInt64) throws -> Value {
    guard let source = derivation.source, try records.seek(id) else { return .null }
    let target = derivation.end.target
    return try target.value(of: source, in: try target.view(records.value, id: id))
  }

  /// The derived attribute of the record `id`, from all the records that it leads to.
  ///
  /// - Complexity: O(records that it leads to).
  func derive(_ id: UInt64) throws -> Value {
    var aggregate = DerivedAggregate(derivation.kind, type: derivation.type)
    if let links {
      try links.forEach(of: id) { other in
        try aggregate.add(try value(of: other))
        return true
      }
    } else if let attribute = derivation.end.attribute, try owners.seek(id),
      let other = try derivation.owner.recordID(
        ofAttribute: attribute.number, in: try derivation.owner.view(owners.value, id: id))
    {
      try aggregate.add(try value(of: other))
    }
    guard let result = aggregate.result else { throw StoreError.unfittingTotal(derivation, id) }
    return result
  }
}

extension StoredEntity {
  /// The value of `attribute` in a record of any layout.
  func value(
    of attribute: EntityDescription.Attribute, in view: RecordView
  ) throws(FormatError) -> Value {
    guard let index = view.layout.slotIndex(ofAttribute: attribute.number) else {
      return attribute.initial
    }
    return try view.value(at: view.layout.slots[index])
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
