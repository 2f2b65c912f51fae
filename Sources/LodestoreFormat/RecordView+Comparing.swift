extension RecordView {
  /// Whether this record and another of the same layout have the same bytes in the attribute at `place`.
  @inline(__always)
  package func hasSameValue(as other: borrowing RecordView, at place: RecordLayout.Place) -> Bool {
    guard isNull(place) == other.isNull(place) else { return false }
    if place.type.isVariable {
      return isEqual(variableBytes(place), other.variableBytes(place))
    }
    let range = Int(place.position)..<Int(place.position) + place.type.slotSize
    return isEqual(
      UnsafeRawBufferPointer(rebasing: bytes[range]),
      UnsafeRawBufferPointer(rebasing: other.bytes[range]))
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
