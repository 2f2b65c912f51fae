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
    for place in places {
      guard a.isNull(place) == b.isNull(place) else { return false }
      if place.type.isVariable {
        guard isEqual(a.variableBytes(place), b.variableBytes(place)) else { return false }
      } else {
        let range = Int(place.position)..<Int(place.position) + place.type.slotSize
        guard
          isEqual(
            UnsafeRawBufferPointer(rebasing: a.bytes[range]),
            UnsafeRawBufferPointer(rebasing: b.bytes[range]))
        else { return false }
      }
    }
    return true
  }

  @inline(__always)
  private func isEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    let count = a.count
    guard count == b.count else { return false }
    var index = 0
    while index &+ 8 <= count {
      if a.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        != b.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      {
        return false
      }
      index &+= 8
    }
    while index < count {
      if a[index] != b[index] { return false }
      index &+= 1
    }
    return true
  }
}
