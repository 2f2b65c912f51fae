internal import LodestoreBytes
internal import LodestoreFormat

/// The decoding layout of an entity's type, as plain numbers at a fixed address, so that passing a
/// view counts no references.
///
/// An instance is created for one call on one thread. Views created with it must not outlive it.
@usableFromInline
final class ViewedLayout {
  /// The slots of the attributes in the order of the schema.
  ///
  /// The entry before the first slot holds the number of slots.
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
    layout = entity.decodingLayout
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

  /// Calls `body` with a view of a record, which is valid until `body` returns.
  ///
  /// The checks and errors are those of ``TransactionCore/withCurrentLayout``.
  @inline(__always)
  func withView<E: Entity, R>(
    _: E.Type, _ bytes: ByteView, id: UInt64, _ body: (borrowing EntityView<E>) throws -> R
  ) throws -> R {
    // Views contain addresses of this object's memory, without a reference to it.
    defer { withExtendedLifetime(self) {} }
    guard !verifiesChecksums, let heapOffset = layout.narrowHeapOffset(in: bytes) else {
      return try withOther(bytes, id: id, body)
    }
    return try body(
      EntityView(
        ViewedRecord(bytes.start, heapOffset: heapOffset, isWide: false, id: id, self)))
  }

  /// Calls `body` with a view of a record that has wide offsets, an older layout, or a checksum to
  /// verify.
  ///
  /// A record of an older layout is first converted to the current one.
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

/// The place of an attribute in the records of one layout.
@usableFromInline
struct ViewedSlot {
  /// The offset of the slot of a fixed-width attribute; for a variable attribute, the offset of the
  /// table of ends.
  @usableFromInline let position: Int32
  /// The number of the null bit; −1 for an attribute that cannot be null.
  @usableFromInline let nullBit: Int16
  /// The position among the variable attributes, counted from 0.
  @usableFromInline let ordinal: UInt16
  /// The form of the attribute; see ``ViewedForm``.
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

/// The form of an attribute's type, which a view checks before it reads: the size of the slot, or
/// the kind of bytes.
@usableFromInline
enum ViewedForm {
  @usableFromInline static var text: UInt8 { 64 }
  @usableFromInline static var data: UInt8 { 65 }
  private static var other: UInt8 { 66 }
  @usableFromInline static var optional: UInt8 { 128 }

  /// Returns the form of a slot with a value of `V`.
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
