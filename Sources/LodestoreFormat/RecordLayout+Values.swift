// Makes records from values whose Swift types are not known. `kvdump` and the conversion of a
// record to another layout use this code. `RecordView.value(at:)` reads such values.

import LodestoreBytes

extension RecordLayout {
  /// The body of a record with `values`, one for each attribute, and with the checksum for `id`.
  ///
  /// Throws if a value does not fit its attribute.
  package func record(id: UInt64, values: [Value]) throws(FormatError) -> [UInt8] {
    var bytes = try content(values: values)
    let checksum = bytes._withBytes { Checksum.record(id: id, body: $0) }
    bytes += littleEndianBytes(checksum)
    return bytes
  }

  /// The body of a record without its checksum, for a record whose id is not known yet.
  package func content(values: [Value]) throws(FormatError) -> [UInt8] {
    precondition(values.count == attributes.count, "one value per attribute")
    var bytes = [UInt8](repeating: 0, count: endsOffset)
    var ends: [Int] = []
    var heap: [UInt8] = []
    for (index, value) in values.enumerated() {
      let slot = slots[index]
      guard value != .null || slot.nullBit >= 0 else {
        throw FormatError("attribute \(attributes[index].number) must have a value")
      }
      guard value == .null || value.fits(slot.type) else {
        throw FormatError(
          "attribute \(attributes[index].number) is declared \(slot.type.name), "
            + "the value is of another type or range")
      }
      bytes._withMutableBytes { record in
        NullBit(of: slot).set(value == .null, in: record)
        if !slot.type.isVariable { value.store(in: slot.type, at: record[Int(slot.position)...]) }
      }
      guard slot.type.isVariable else { continue }
      switch value {
      case .string(let text): heap += text.utf8
      case .data(let bytes), .document(let bytes): heap += bytes
      default: break
      }
      ends.append(heap.count)
    }
    let header = RecordHeader(layout: self, isWide: heap.count > Self.longestNarrow)
    // Reserving room for a checksum avoids a second allocation.
    bytes.reserveCapacity(
      endsOffset + ends.count * (header.isWide ? 4 : 2) + heap.count + Self.checksumSize)
    bytes.replaceSubrange(0..<Self.headerSize, with: littleEndianBytes(header.rawValue))
    for end in ends {
      bytes += header.isWide ? littleEndianBytes(UInt32(end)) : littleEndianBytes(UInt16(end))
    }
    bytes += heap
    return bytes
  }
}
