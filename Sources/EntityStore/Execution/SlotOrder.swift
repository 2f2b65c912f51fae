internal import LodestoreBytes
internal import LodestoreFormat

/// An order by one number, date or Boolean, read from its slot as a word without a view of the
/// record.
final class SlotOrder {
  /// Whether records without a value come first.
  let isNullFirst: Bool
  let isTieDescending: Bool
  private let attribute: BoundAttribute
  private let isDescending: Bool
  private let entity: StoredEntity
  /// The slot in the current layout; `nil` if the layout does not have the attribute.
  private let slot: WordSlot?
  private let layoutNumber: UInt16
  private let shortestRecord: Int

  /// Creates the order; `nil` for an order that is not by one slot.
  init?(_ order: BoundOrder, _ entity: StoredEntity) {
    guard let term = order.terms.first, let attribute = term.attribute, !attribute.isRecordID,
      term.steps.isEmpty, term.options.isEmpty, WordSlot.Kind(attribute.type) != nil,
      order.terms.dropFirst().allSatisfy(\.isRecordID)
    else { return nil }
    self.attribute = attribute
    isDescending = term.isDescending
    isNullFirst = term.isNullFirst
    isTieDescending = order.isTieDescending
    self.entity = entity
    let layout = entity.layout
    slot = layout.slotIndex(ofAttribute: attribute.number).flatMap { WordSlot(layout.slots[$0]) }
    layoutNumber = layout.number
    shortestRecord = layout.endsOffset + layout.variableCount * 2 + RecordLayout.checksumSize
  }

  /// Returns the word that sorts a record in ascending order, or `nil` if the record has no value.
  @inline(__always)
  func word(_ bytes: ByteView, _ id: UInt64) throws(StoreError) -> UInt64? {
    guard let slot, bytes.count >= shortestRecord, bytes.uint16(at: 0) == layoutNumber
    else { return try otherWord(bytes, id) }
    guard let word = slot.word(bytes) else { return nil }
    return isDescending ? ~word : word
  }

  /// Returns the word of a record that has another layout or wide offsets, or breaks the format.
  @inline(never)
  private func otherWord(_ bytes: ByteView, _ id: UInt64) throws(StoreError) -> UInt64? {
    let view = try entity.view(bytes, id: id)
    let word: UInt64? =
      if let place = view.layout.slotIndex(ofAttribute: attribute.number) {
        WordSlot(view.layout.slots[place])?.word(bytes)
      } else {
        WordSlot.word(attribute.initial, attribute.type)
      }
    return word.map { isDescending ? ~$0 : $0 }
  }
}
