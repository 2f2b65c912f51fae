/// Makes index entries directly from the bytes of records.
///
/// See Format.md, "Indexes".
package enum IndexTuple {
  /// Encodes the tuple of `record` for `index`, without a record id.
  ///
  /// With `isCut`, a long tuple is cut.
  ///
  /// - Returns: Whether a value of the tuple is null.
  @discardableResult
  package static func encode(
    _ index: EntityDescription.Index, of record: borrowing RecordView,
    in entity: borrowing EntityDescription, into encoder: inout KeyEncoder,
    isCut: Bool = true
  ) throws(FormatError) -> Bool {
    encoder.reset()
    var hasNull = false
    for number in index.attributes {
      guard let slotIndex = record.layout.slotIndex(ofAttribute: number) else {
        let initial = entity.attribute(number: number)?.initial ?? .null
        if initial == .null { hasNull = true }
        try encoder.append(initial)
        continue
      }
      let slot = record.layout.slots[slotIndex]
      if record.isNull(slot) {
        hasNull = true
        encoder.appendNull()
      } else {
        try append(slot, of: record, into: &encoder)
      }
    }
    if isCut { encoder.finishTuple() }
    return hasNull
  }

  /// Appends the element for the attribute at `slot`, which must not be null.
  @inline(__always)
  package static func append(
    _ slot: RecordLayout.Slot, of record: borrowing RecordView, into encoder: inout KeyEncoder
  ) throws(FormatError) {
    let bytes = record.bytes
    let offset = Int(slot.position)
    switch slot.type {
    case .bool: encoder.append(bytes[offset] != 0)
    case .int8: encoder.append(Int64(Int8(bitPattern: bytes[offset])))
    case .int16: encoder.append(Int64(Int16(bitPattern: bytes.uint16(at: offset))))
    case .int32: encoder.append(Int64(Int32(bitPattern: bytes.uint32(at: offset))))
    case .int64, .recordID: encoder.append(Int64(bitPattern: bytes.uint64(at: offset)))
    case .uint8: encoder.append(Int64(bytes[offset]))
    case .uint16: encoder.append(Int64(bytes.uint16(at: offset)))
    case .uint32: encoder.append(Int64(bytes.uint32(at: offset)))
    case .uint64: encoder.append(bytes.uint64(at: offset))
    case .float: encoder.append(Double(Float(bitPattern: bytes.uint32(at: offset))))
    case .double: encoder.append(Double(bitPattern: bytes.uint64(at: offset)))
    case .date: encoder.append(date: Double(bitPattern: bytes.uint64(at: offset)))
    case .uuid: encoder.append(UUIDBytes(bytes: bytes, at: offset))
    case .decimal: encoder.append(try DecimalValue(bytes: bytes, at: offset))
    case .string, .url: encoder.append(text: record.variableBytes(slot))
    case .data: encoder.append(data: record.variableBytes(slot))
    case .json, .document: throw FormatError("a \(slot.type.name) attribute has no index key")
    }
  }

  /// Whether the entry's key ends with the record id.
  ///
  /// Every key does, except a key of a unique index without nulls.
  @inline(__always)
  package static func keyHasRecordID(isUnique: Bool, hasNull: Bool) -> Bool { !isUnique || hasNull }
}
