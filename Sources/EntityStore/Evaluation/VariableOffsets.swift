internal import LodestoreBytes
internal import LodestoreFormat

/// The offsets of a layout's variable attributes in a record whose offsets are narrow.
struct VariableOffsets {
  /// The offset of the table of ends, with two bytes for each variable attribute.
  let ends: Int
  /// The offset of the bytes of the variable attributes.
  let heap: Int

  /// The least number of bytes of a record.
  var shortestRecord: Int { heap + RecordLayout.checksumSize }

  init(_ layout: RecordLayout) {
    ends = layout.endsOffset
    heap = layout.endsOffset + layout.variableCount * 2
  }

  /// Returns the bytes of a variable attribute, or `nil` if the offsets break the format.
  @inline(__always)
  func text(_ ordinal: Int, in record: ByteView) -> ByteView? {
    let end = Int(record.uint16(at: ends &+ ordinal &* 2))
    let start = ordinal == 0 ? 0 : Int(record.uint16(at: ends &+ ordinal &* 2 &- 2))
    guard start <= end, heap &+ end &+ RecordLayout.checksumSize <= record.count else { return nil }
    return record[(heap &+ start)..<(heap &+ end)]
  }
}
