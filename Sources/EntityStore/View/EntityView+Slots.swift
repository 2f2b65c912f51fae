public import LodestoreBytes
internal import LodestoreFormat

// Finds attributes in a record. Reads stay within the record, because the record's shape has been
// checked, and the attribute's form is checked here.
extension EntityView {
  /// Returns the slot of the attribute at `ordinal` in the schema; traps unless the attribute has
  /// the form `form`.
  ///
  /// Callers compute the ordinal from a key path. The ordinal is a constant only if the compiler
  /// sees both the key path and its use, so the callers are always inlined.
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

  /// Returns a reader at one attribute, which must be stored as `storage`.
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

/// The facts about a record that a view needs, as plain numbers.
@usableFromInline
struct ViewedRecord {
  @usableFromInline let start: UnsafeRawPointer
  @usableFromInline let slots: UnsafePointer<ViewedSlot>
  let layout: Unmanaged<ViewedLayout>
  @usableFromInline let recordID: UInt64
  /// The offset of the heap, which holds the bytes of all variable attributes.
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

  /// Returns the bytes of a variable attribute.
  @inlinable @inline(__always)
  func variable(_ slot: ViewedSlot) -> ByteView {
    let ends = start + Int(slot.position)
    let ordinal = Int(slot.ordinal)
    let from = ordinal == 0 ? 0 : ends.variableEnd(ordinal &- 1, isWide: isWide)
    return ByteView(
      start: start + (Int(heapOffset) &+ from),
      count: ends.variableEnd(ordinal, isWide: isWide) &- from)
  }

  /// Returns a reader at the first attribute.
  func reader() -> RecordReader {
    let layout = layout.takeUnretainedValue()
    return RecordReader(
      start, layout.layout, heapStart: Int(heapOffset), isWide: isWide, entity: layout.label,
      recordID: recordID)
  }
}
