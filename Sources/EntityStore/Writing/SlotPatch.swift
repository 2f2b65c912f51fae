internal import LodestoreBytes
internal import LodestoreFormat

/// Constants for slots of one layout as bit masks, in separately allocated memory.
///
/// The masks are compared with records and written to them without creating a `Value`. The memory
/// needs no reference counting.
struct SlotPatch: ~Copyable {
  /// For each byte, the bits of the record to keep and the bits to set.
  private let masks: UnsafeMutableBufferPointer<(kept: UInt8, given: UInt8)>
  /// The offset of the first byte that may change.
  private let offset: Int
  private let changes: ChecksumChanges
  /// Proof that nothing else reads the attributes, such as an index, so that the slots may be
  /// changed directly in the page.
  let attributes: UnreadAttributes

  /// Throws when a value does not fit its slot.
  init(
    _ values: [Value], at slots: [RecordLayout.Slot], of layout: RecordLayout,
    _ attributes: UnreadAttributes
  ) throws {
    var zeros = [UInt8](repeating: 0, count: layout.endsOffset)
    var ones = [UInt8](repeating: 0xff, count: layout.endsOffset)
    for (value, slot) in zip(values, slots) {
      try zeros._withMutableBytes { try slot.write(value, in: $0) }
      try ones._withMutableBytes { try slot.write(value, in: $0) }
    }
    // The values were written over zero bits and over one bits. A bit that differs between the two
    // results belongs to no slot, so the patch keeps it.
    let masks = zip(zeros, ones).map { (kept: $0 ^ $1, given: $0) }
    let first = masks.firstIndex { $0.kept != 0xff } ?? 0
    let end = (masks.lastIndex { $0.kept != 0xff } ?? -1) + 1
    offset = first
    self.masks = .allocate(capacity: max(0, end - first))
    _ = self.masks.initialize(from: masks[first..<max(first, end)])
    changes = ChecksumChanges()
    self.attributes = attributes
  }

  deinit { masks.deallocate() }

  /// Returns whether `record`, of the layout, has other values than the constants.
  @inline(__always)
  func changes(_ record: ByteView) -> Bool {
    for index in masks.indices {
      let byte = record[offset + index]
      if byte & masks[index].kept | masks[index].given != byte { return true }
    }
    return false
  }

  /// Writes the values into `record`, of the layout, and adjusts its checksum.
  @inline(__always)
  func apply(to record: MutableByteView) {
    if masks.count == 1 {
      let byte = record[offset]
      let difference = byte ^ (byte & masks[0].kept | masks[0].given)
      return changes.add(difference, at: offset, to: record)
    }
    withUnsafeTemporaryAllocation(byteCount: masks.count, alignment: 1) { difference in
      for index in masks.indices {
        let byte = record[offset + index]
        difference[index] = byte ^ (byte & masks[index].kept | masks[index].given)
      }
      Checksum.add(ByteView(difference), at: offset, to: record)
    }
  }
}

/// The effect of one changed byte on a record's checksum, by the number of bytes that follow the
/// byte in the record.
///
/// The effect is computed once for each of the few lengths that most records have.
private struct ChecksumChanges: ~Copyable {
  private static let count = 1024

  private let known: UnsafeMutablePointer<UInt32>
  /// The XOR of the old and new byte for which the cached effects in `known` were computed.
  private let difference: UnsafeMutablePointer<UInt8>

  init() {
    known = .allocate(capacity: Self.count)
    known.initialize(repeating: 0, count: Self.count)
    difference = .allocate(capacity: 1)
    difference.initialize(to: 0)
  }

  deinit {
    known.deallocate()
    difference.deallocate()
  }

  /// XORs `byte` into the byte at `offset`, and adjusts the checksum.
  @inline(__always)
  func add(_ byte: UInt8, at offset: Int, to record: MutableByteView) {
    let end = record.count - RecordLayout.checksumSize
    let behind = end - offset - 1
    guard behind < Self.count, byte == difference.pointee || difference.pointee == 0 else {
      return withUnsafeBytes(of: byte) { Checksum.add(ByteView($0), at: offset, to: record) }
    }
    difference.pointee = byte
    if known[behind] == 0 {
      known[behind] = withUnsafeBytes(of: byte) { Checksum.change(ByteView($0), behind: behind) }
    }
    record[offset] ^= byte
    let stored = ByteView(record).uint32(at: end)
    let sum = (stored ^ known[behind]).littleEndian
    record.storeBytes(of: sum, toByteOffset: end, as: UInt32.self)
  }
}
