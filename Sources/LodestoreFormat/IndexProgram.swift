/// Makes the keys of one index from records of one layout.
///
/// The slots are looked up once for a whole batch.
///
/// The keys are equal to the keys that ``IndexTuple`` makes.
package struct IndexProgram: Sendable {
  private let slots: [RecordLayout.Slot]
  private let isUnique: Bool

  /// Fails if the layout lacks an attribute of the index.
  ///
  /// A record of such a layout has the attribute's initial value, which is not among its bytes.
  package init?(_ index: EntityDescription.Index, layout: RecordLayout) {
    var slots: [RecordLayout.Slot] = []
    for number in index.attributes {
      guard let slot = layout.slotIndex(ofAttribute: number) else { return nil }
      slots.append(layout.slots[slot])
    }
    self.slots = slots
    isUnique = index.isUnique
  }

  /// Replaces the contents of `encoder` by the key of `record`, with the record id if the key ends
  /// with a record id.
  ///
  /// - Returns: Whether a value of the tuple is null.
  @discardableResult
  package func encode(
    _ record: borrowing RecordView, id: UInt64, into encoder: inout KeyEncoder
  ) throws(FormatError) -> Bool {
    encoder.reset()
    var hasNull = false
    for slot in slots {
      if record.isNull(slot) {
        hasNull = true
        encoder.appendNull()
      } else {
        try IndexTuple.append(slot, of: record, into: &encoder)
      }
    }
    encoder.finishTuple()
    if IndexTuple.keyHasRecordID(isUnique: isUnique, hasNull: hasNull) {
      encoder.append(recordID: id)
    }
    return hasNull
  }

  /// Whether two records have equal bytes in all attributes of the index, and therefore equal keys.
  package func hasSameValues(_ a: borrowing RecordView, _ b: borrowing RecordView) -> Bool {
    for slot in slots where !a.hasSameValue(as: b, at: slot) { return false }
    return true
  }
}
