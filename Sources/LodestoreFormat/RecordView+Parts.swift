/// A part of a record's bytes.
///
/// See Format.md, "Records".
package struct RecordPart: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    case header, nulls
    /// The value of an attribute of fixed width.
    case slot(attribute: UInt32)
    /// The end of an attribute's variable bytes.
    case end(attribute: UInt32)
    /// The variable bytes of an attribute.
    case bytes(attribute: UInt32)
    case checksum
  }

  package let kind: Kind
  /// The offsets from the beginning of the record.
  package let range: Range<Int>
}

extension RecordView {
  /// The parts of the record, in the order of their offsets.
  ///
  /// The parts follow each other without gaps. A null attribute of variable length has an empty
  /// part, and there are no null bits without optional attributes.
  package var parts: [RecordPart] {
    var parts = [RecordPart(kind: .header, range: 0..<RecordLayout.headerSize)]
    func add(_ kind: RecordPart.Kind, through end: Int) {
      parts.append(RecordPart(kind: kind, range: (parts.last?.range.upperBound ?? 0)..<end))
    }
    if slotsOffset > RecordLayout.headerSize { add(.nulls, through: slotsOffset) }
    let attributes = Array(zip(layout.attributes, layout.slots))
    for (attribute, slot) in attributes where !slot.type.isVariable {
      add(.slot(attribute: attribute.number), through: Int(slot.position) + slot.type.slotSize)
    }
    let variable = attributes.filter(\.1.type.isVariable)
    for (ordinal, attribute) in variable.enumerated() {
      add(
        .end(attribute: attribute.0.number), through: endsOffset + (ordinal + 1) * (isWide ? 4 : 2))
    }
    for (ordinal, attribute) in variable.enumerated() {
      add(
        .bytes(attribute: attribute.0.number), through: heapOffset + end(ofVariable: ordinal))
    }
    add(.checksum, through: bytes.count)
    return parts
  }
}
