/// What makes the keys of one index from records of one layout: the places of its attributes, found
/// once for all records of a batch.
///
/// The keys are those of ``IndexTuple``.
package struct IndexProgram: Sendable {
  private let places: [RecordLayout.Place]
  private let isUnique: Bool

  /// `nil` when the layout lacks an attribute of the index, which then has its initial value.
  package init?(_ index: EntityDescription.Index, layout: RecordLayout) {
    var places: [RecordLayout.Place] = []
    for number in index.attributes {
      guard let place = layout.placeIndex(ofAttribute: number) else { return nil }
      places.append(layout.places[place])
    }
    self.places = places
    isUnique = index.isUnique
  }

  /// Leaves the key of `record` in `encoder`, with the record id where it has one.
  ///
  /// - Returns: Whether some value of the tuple is null.
  @discardableResult
  package func encode(
    _ record: borrowing RecordView, id: UInt64, into encoder: inout KeyEncoder
  ) throws(FormatError) -> Bool {
    encoder.reset()
    var hasNull = false
    for place in places {
      if record.isNull(place) {
        hasNull = true
        encoder.appendNull()
      } else {
        try IndexTuple.append(place, of: record, into: &encoder)
      }
    }
    encoder.finishTuple()
    if IndexTuple.keyHasRecordID(isUnique: isUnique, hasNull: hasNull) {
      encoder.append(recordID: id)
    }
    return hasNull
  }

  /// Whether two records have the same bytes in all attributes of the index, and so the same key.
  package func hasSameValues(_ a: borrowing RecordView, _ b: borrowing RecordView) -> Bool {
    for place in places where !a.hasSameValue(as: b, at: place) { return false }
    return true
  }
}
