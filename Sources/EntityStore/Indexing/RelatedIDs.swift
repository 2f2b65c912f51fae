internal import LMDB
internal import LodestoreFormat

extension TransactionCore {
  /// Visits the ids that the records with `ids` lead to by `end`, until `body` returns false.
  ///
  /// The ids must ascend. Missing records lead to nothing.
  func forEachRelated(
    of ids: [UInt64], by end: RelationshipEnd,
    _ body: (_ id: UInt64, _ other: UInt64) throws(StoreError) -> Bool
  ) throws(StoreError) {
    do {
      guard let links = end.links else {
        return try forEachHeld(of: ids, by: end, body)
      }
      let cursor = try LinkCursor(links, core: self)
      var goesOn = true
      for id in ids {
        try cursor.forEach(of: id) { other in
          goesOn = try body(id, other)
          return goesOn
        }
        if !goesOn { return }
      }
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// Visits the ids held by an attribute of the records with `ids`.
  private func forEachHeld(
    of ids: [UInt64], by end: RelationshipEnd,
    _ body: (_ id: UInt64, _ other: UInt64) throws(StoreError) -> Bool
  ) throws {
    guard let attribute = end.attribute else { return }
    let cursor = try Cursor(end.source.records, in: transaction)
    for id in ids where try cursor.seek(id) {
      let view = try end.source.view(cursor.value, id: id)
      guard let other = try end.source.recordID(ofAttribute: attribute.number, in: view) else {
        continue
      }
      guard try body(id, other) else { return }
    }
  }
}
