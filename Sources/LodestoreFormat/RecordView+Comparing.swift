import LodestoreBytes

extension RecordView {
  /// Whether this record and another of the same layout have equal bytes in the attribute at
  /// `slot`.
  @inline(__always)
  package func hasSameValue(as other: borrowing RecordView, at slot: RecordLayout.Slot) -> Bool {
    hasSameValue(as: other, at: slot, and: slot)
  }

  /// Whether this record's bytes at `slot` equal the bytes at `otherSlot` of a record of any
  /// layout.
  ///
  /// The two slots must have one type.
  @inline(__always)
  package func hasSameValue(
    as other: borrowing RecordView, at slot: RecordLayout.Slot, and otherSlot: RecordLayout.Slot
  ) -> Bool {
    guard isNull(slot) == other.isNull(otherSlot) else { return false }
    if slot.type.isVariable { return isEqual(variableBytes(slot), other.variableBytes(otherSlot)) }
    let range = Int(slot.position)..<Int(slot.position) + slot.type.slotSize
    let otherRange = Int(otherSlot.position)..<Int(otherSlot.position) + slot.type.slotSize
    return isEqual(bytes[range], other.bytes[otherRange])
  }

  @inline(__always)
  private func isEqual(_ a: ByteView, _ b: ByteView) -> Bool {
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
