internal import LodestoreBytes
internal import LodestoreFormat

/// Where the variable attributes of a layout lie in a record whose offsets are narrow.
struct VariableOffsets {
  /// Offset of the ends of the variable attributes, two bytes each.
  let ends: Int
  /// Offset of the bytes that these bound.
  let heap: Int

  /// How many bytes a record has at least.
  var shortestRecord: Int { heap + RecordLayout.checksumSize }

  init(_ layout: RecordLayout) {
    ends = layout.endsOffset
    heap = layout.endsOffset + layout.variableCount * 2
  }

  /// The bytes of a variable attribute; `nil` when the offsets break the format.
  @inline(__always)
  func text(_ ordinal: Int, in record: ByteView) -> ByteView? {
    let end = Int(record.uint16(at: ends &+ ordinal &* 2))
    let start = ordinal == 0 ? 0 : Int(record.uint16(at: ends &+ ordinal &* 2 &- 2))
    guard start <= end, heap &+ end &+ RecordLayout.checksumSize <= record.count else {
      return nil
    }
    return record[(heap &+ start)..<(heap &+ end)]
  }
}
