internal import LodestoreFormat

// How attributes are found in the record. That what is read lies within it follows from the shape
// that the record was checked to have, and from the form of the attribute, which is checked here.
extension EntityView {
  /// The slot of the attribute with index `ordinal` in the schema; traps unless it has the form.
  ///
  /// Callers have the ordinal from a key path, which is a constant only where the compiler sees both
  /// the key path and its use: they are inlined always.
  @inlinable @inline(__always)
  func slot(_ ordinal: Int, _ form: UInt8) -> ViewedSlot {
    guard UInt(bitPattern: ordinal) < UInt(bitPattern: Int((record.slots - 1).pointee.position)),
      record.slots[ordinal].form == form
    else { wrongForm(ordinal) }
    return record.slots[ordinal]
  }

  @usableFromInline @inline(never)
  func wrongForm(_ ordinal: Int) -> Never {
    preconditionFailure(
      "the schema of \(E.schema.name) has no attribute \(ordinal) of the type that its "
        + "Attributes say")
  }

  /// A reader of one attribute, which must be stored as `storage` says.
  @usableFromInline
  func reader(at ordinal: Int, of storage: AttributeStorage) -> RecordReader {
    let layout = record.layout.takeUnretainedValue().layout
    guard layout.slots.indices.contains(ordinal),
      layout.slots[ordinal].type == storage.type,
      layout.attributes[ordinal].isOptional == storage.isOptional
    else { wrongForm(ordinal) }
    var reader = record.reader()
    reader.move(to: layout.slots[ordinal], in: layout)
    return reader
  }
}

/// What a view has of a record, as plain numbers.
@usableFromInline
struct ViewedRecord {
  @usableFromInline let start: UnsafeRawPointer
  @usableFromInline let slots: UnsafePointer<ViewedSlot>
  let layout: Unmanaged<ViewedLayout>
  @usableFromInline let recordID: UInt64
  /// Offset of the first variable byte.
  @usableFromInline let heapOffset: Int32
  @usableFromInline let isWide: Bool

  @inline(__always)
  init(
    _ start: UnsafeRawPointer, heapOffset: Int, isWide: Bool, id: UInt64, _ layout: ViewedLayout
  ) {
    self.start = start
    slots = layout.slots
    self.layout = .passUnretained(layout)
    recordID = id
    self.heapOffset = Int32(truncatingIfNeeded: heapOffset)
    self.isWide = isWide
  }

  @inlinable @inline(__always)
  func isNull(_ slot: ViewedSlot) -> Bool { start.hasNullBit(Int(slot.nullBit)) }

  /// The bytes of a variable attribute.
  @inlinable @inline(__always)
  func variable(_ slot: ViewedSlot) -> UnsafeRawBufferPointer {
    let ends = start + Int(slot.position)
    let ordinal = Int(slot.ordinal)
    let from = ordinal == 0 ? 0 : ends.variableEnd(ordinal &- 1, isWide: isWide)
    return UnsafeRawBufferPointer(
      start: start + (Int(heapOffset) &+ from),
      count: ends.variableEnd(ordinal, isWide: isWide) &- from)
  }

  /// A reader at the first attribute.
  func reader() -> RecordReader {
    let layout = layout.takeUnretainedValue()
    return RecordReader(
      start, layout.layout, heapStart: Int(heapOffset), isWide: isWide, entity: layout.label,
      recordID: recordID)
  }
}

extension UnsafeRawBufferPointer {
  /// The first byte; of a record, which has bytes.
  @inline(__always)
  var start: UnsafeRawPointer {
    // A view of a record has at least a header, so there is a base address.
    baseAddress ?? UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped
  }
}
