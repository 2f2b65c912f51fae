internal import LodestoreBytes
internal import LodestoreFormat

/// The layout that values of an entity's type are read from, as plain numbers at a fixed address, so that
/// passing a view on counts no references.
///
/// Made for one call, on its thread; views made of it must not outlive it.
@usableFromInline
final class ViewedLayout {
  /// One for each attribute in the order of the schema; the entry before the first has their number.
  let slots: UnsafePointer<ViewedSlot>
  let layout: RecordLayout
  let label: EntityLabel
  private let entity: StoredEntity
  private let core: TransactionCore
  private let verifiesChecksums: Bool
  private let memory: UnsafeMutablePointer<ViewedSlot>

  init(_ entity: StoredEntity, core: TransactionCore) {
    self.entity = entity
    self.core = core
    layout = entity.readLayout
    label = entity.label
    verifiesChecksums = core.store.options.verifiesChecksums
    let count = layout.slots.count
    memory = .allocate(capacity: count + 1)
    memory.initialize(to: ViewedSlot(position: Int32(count), nullBit: 0, ordinal: 0, form: 0))
    for (index, stored) in layout.slots.enumerated() {
      (memory + 1 + index).initialize(to: ViewedSlot(stored, in: layout))
    }
    slots = UnsafePointer(memory + 1)
  }

  deinit { memory.deallocate() }

  /// Calls `body` with a view of a record, which is valid until it returns.
  ///
  /// What is checked, and which errors are thrown, is as in ``TransactionCore/withCurrentLayout``.
  @inline(__always)
  func withView<E: Entity, R>(
    _: E.Type, _ bytes: ByteView, id: UInt64,
    _ body: (borrowing EntityView<E>) throws -> R
  ) throws -> R {
    // Views have its addresses, and hold no reference to it.
    defer { withExtendedLifetime(self) {} }
    guard !verifiesChecksums, let heapOffset = layout.narrowHeapOffset(in: bytes) else {
      return try withOther(bytes, id: id, body)
    }
    return try body(
      EntityView(
        ViewedRecord(bytes.start, heapOffset: heapOffset, isWide: false, id: id, self)))
  }

  /// The same for a record of an older layout, which is viewed as it would be written today, for a
  /// long one, and with a checksum to verify.
  @inline(never)
  private func withOther<E: Entity, R>(
    _ bytes: ByteView, id: UInt64, _ body: (borrowing EntityView<E>) throws -> R
  ) throws -> R {
    let record = try entity.view(bytes, id: id)
    if verifiesChecksums { try entity.verifyChecksum(of: record, id: id) }
    if record.layout === layout { return try withView(of: record, id: id, body) }
    let carried = try core.carriedOver(record, id: id, of: entity, to: layout)
    return try carried._withBytes { (bytes) throws in
      try withView(of: try entity.view(carriedOver: bytes, id: id), id: id, body)
    }
  }

  private func withView<E: Entity, R>(
    of record: RecordView, id: UInt64, _ body: (borrowing EntityView<E>) throws -> R
  ) throws -> R {
    try body(
      EntityView(
        ViewedRecord(
          record.bytes.start, heapOffset: record.heapOffset, isWide: record.isWide, id: id, self)))
  }
}

/// Where an attribute is in the records of one layout.
@usableFromInline
struct ViewedSlot {
  /// Of a fixed width: offset of the slot; variable: offset of the ends.
  @usableFromInline let position: Int32
  /// −1 for an attribute that cannot be null.
  @usableFromInline let nullBit: Int16
  /// Variable: its number among the variable attributes, from 0.
  @usableFromInline let ordinal: UInt16
  /// See ``ViewedForm``.
  @usableFromInline let form: UInt8

  init(position: Int32, nullBit: Int16, ordinal: UInt16, form: UInt8) {
    self.position = position
    self.nullBit = nullBit
    self.ordinal = ordinal
    self.form = form
  }

  init(_ slot: RecordLayout.Slot, in layout: RecordLayout) {
    let isVariable = slot.type.isVariable
    self.init(
      position: isVariable ? Int32(layout.endsOffset) : slot.position,
      nullBit: Int16(truncatingIfNeeded: slot.nullBit),
      ordinal: isVariable ? UInt16(truncatingIfNeeded: slot.position) : 0,
      form: ViewedForm.of(slot.type) | (slot.nullBit >= 0 ? ViewedForm.optional : 0))
  }
}

/// What a view must know of an attribute's type before it reads there: the size of the slot, or the
/// kind of bytes.
@usableFromInline
enum ViewedForm {
  @usableFromInline static var text: UInt8 { 64 }
  @usableFromInline static var data: UInt8 { 65 }
  private static var other: UInt8 { 66 }
  @usableFromInline static var optional: UInt8 { 128 }

  /// That of a slot with a value of `V`.
  @inlinable @inline(__always)
  static func slot<V: SlotValue>(_: V.Type) -> UInt8 {
    UInt8(truncatingIfNeeded: MemoryLayout<V>.size)
  }

  static func of(_ type: AttributeType) -> UInt8 {
    switch type {
    case .string: text
    case .data: data
    case .url, .json, .document: other
    default: UInt8(type.slotSize)
    }
  }
}
