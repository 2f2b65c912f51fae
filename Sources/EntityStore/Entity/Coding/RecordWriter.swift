public import LodestoreBytes
internal import LodestoreFormat

/// Writes the attributes of one entity value, in the order of its schema, as a record.
///
/// The store creates the writer and passes it to ``Entity/encode(into:)``. Writing more, fewer or
/// other attributes than the schema declares is a programming error, and traps when the record is
/// finished. When a value cannot be encoded, the writer records the error, and the insert or update
/// throws it.
///
/// One writer is used for many records, so no record needs an allocation. A batch writes its
/// records one after another into the same memory. Format.md, "Records", describes the layout.
/// Offsets are narrow at first; a record whose variable bytes do not fit is encoded again with wide
/// offsets.
public struct RecordWriter: ~Copyable {
  @usableFromInline var base: UnsafeMutableRawPointer
  @usableFromInline var capacity: Int
  /// The offset of the current record; the records that were kept precede it.
  @usableFromInline var start = 0
  /// The offset of the next slot.
  @usableFromInline var slot = 0
  /// The index of the next null bit.
  @usableFromInline var nullBit = 0
  /// The offset at which the end of the next variable attribute is written.
  @usableFromInline var end = 0
  /// The offset at which the bytes of the next variable attribute are written.
  @usableFromInline var heap = 0
  /// The offset of the first variable byte.
  @usableFromInline var heapStart = 0
  @usableFromInline var isWide = false
  /// The document writer, reused for each document.
  private var document = DocumentWriter()
  /// The uses of the memory; each record is one.
  @usableFromInline let uses = MemoryUses()
  /// The first value that could not be encoded.
  @usableFromInline private(set) var failure: (any Error)?

  /// The maximum size of a record in bytes, including its checksum.
  let sizeLimit: Int

  /// - Parameter byteCount: the initial size of the memory.
  init(sizeLimit: Int = .max, byteCount: Int = 4096) {
    self.sizeLimit = min(sizeLimit, 1 << 30)
    capacity = byteCount
    base = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit {
    uses.beginNext()
    base.deallocate()
  }

  /// Starts a record of `layout`.
  mutating func begin(_ layout: RecordLayout, isWide: Bool) {
    begin(RecordShape(layout), isWide: isWide)
  }

  @inlinable @inline(__always)
  mutating func begin(_ shape: RecordShape, isWide: Bool) {
    uses.beginNext()
    self.isWide = isWide
    failure = nil
    slot = start &+ shape.slotsOffset
    nullBit = 0
    end = start &+ shape.endsOffset
    heapStart = start &+ shape.heapOffset(isWide: isWide)
    heap = heapStart
    if capacity < heapStart &+ 256 { grow(to: heapStart + 256) }
    // The header and the null bits are cleared word by word. The last word may also clear a few
    // bytes after them; this is harmless, because those bytes are written later.
    var offset = start
    while offset < slot {
      base.storeBytes(of: 0, toByteOffset: offset, as: UInt64.self)
      offset &+= 8
    }
    base.storeBytes(
      of: shape.header(isWide: isWide).littleEndian, toByteOffset: start, as: UInt16.self)
  }

  /// Returns the record with narrow offsets.
  ///
  /// Returns `nil` when the record failed, is incomplete or needs wide offsets; ``finish(_:)``
  /// distinguishes these cases.
  @inlinable @inline(__always)
  func finished(_ shape: RecordShape) -> MutableByteView? {
    guard failure == nil, !isWide,
      shape.isComplete(slot: slot &- start, nullBit: nullBit, end: end &- start),
      heap &- heapStart <= shape.longestNarrow
    else { return nil }
    return MutableByteView(start: base + start, count: heap &- start)
  }

  /// Keeps the finished record, with room for its checksum; the next record begins after it.
  @inlinable @inline(__always)
  mutating func keep() -> Int {
    // A finished record always has the four bytes for its checksum after it.
    start = heap &+ 4
    return start
  }

  /// Moves the kept records to the buffer `row`, and starts over in the memory that `row` had.
  mutating func moveRecords(to row: inout RecordBuffer) {
    uses.beginNext()
    row.swapMemory(&base, &capacity, byteCount: start)
    start = 0
  }

  /// Ends the record; returns `nil` when it must be encoded again with wide offsets.
  ///
  /// The bytes are the body without its checksum, followed by room for one. The memory is valid
  /// until the next record begins.
  mutating func finish(
    _ layout: RecordLayout, entity: @autoclosure () -> String
  ) -> MutableByteView? {
    precondition(
      failure != nil
        || slot - start == layout.endsOffset && nullBit == layout.optionalCount
          && end - start == layout.endsOffset + layout.variableCount * (isWide ? 4 : 2),
      "\(entity()).encode(into:) must write the attributes of its schema, each once and in order")
    if !isWide && heap - heapStart > RecordLayout.longestNarrow { return nil }
    if capacity < heap + RecordLayout.checksumSize { grow(to: heap + 64) }
    return MutableByteView(start: base + start, count: heap - start)
  }

  @usableFromInline
  mutating func grow(to needed: Int) {
    let larger = max(needed, capacity * 2)
    let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
    moved.copyMemory(from: base, byteCount: capacity)
    base.deallocate()
    base = moved
    capacity = larger
  }

  /// Writes the document that `body` creates; when `body` throws, writes a null document and fails
  /// the record.
  mutating func writeDocument<E: Error>(_ body: (inout DocumentWriter) throws(E) -> Void) {
    var document = DocumentWriter()
    swap(&document, &self.document)
    document.truncate(to: 0)
    do {
      try body(&document)
    } catch {
      fail(error)
      document.truncate(to: 0)
      document.writeNull()
    }
    document.withBytes { writeVariable($0) }
    swap(&document, &self.document)
  }

  /// Fails the record, because the id to be written next is invalid.
  @usableFromInline @inline(never)
  mutating func failUnassigned() { fail(UnassignedID(slot: slot - start)) }

  mutating func fail(_ error: any Error) { if failure == nil { failure = error } }

  // MARK: Calls from attribute types

  /// Writes a fixed-width slot from bytes that are already in little-endian order.
  @inlinable @inline(__always)
  mutating func writeSlot<T: BitwiseCopyable>(_ bytes: T, size: Int) {
    precondition(slot + size <= heapStart, "more attributes written than the schema declares")
    base.storeBytes(of: bytes, toByteOffset: slot, as: T.self)
    slot += size
  }

  /// Writes `value` into the slot of a fixed-width attribute of `type`; the value must fit the
  /// type.
  mutating func writeSlot(_ value: Value, as type: AttributeType) {
    let size = type.slotSize
    precondition(slot + size <= heapStart, "more attributes written than the schema declares")
    value.store(in: type, at: MutableByteView(start: base + slot, count: size))
    slot += size
  }

  /// Writes a variable attribute's bytes.
  @inlinable @inline(__always)
  mutating func writeVariable(_ bytes: ByteView) {
    let target = variableRoom(for: bytes.count)
    if let source = bytes.baseAddress { target.copyMemory(from: source, byteCount: bytes.count) }
    endVariable(bytes.count)
  }

  /// The address for the next variable attribute's `count` bytes.
  @inlinable @inline(__always)
  mutating func variableRoom(for count: Int) -> UnsafeMutableRawPointer {
    if heap + count + 64 > capacity { grow(to: heap + count + 64) }
    return base + heap
  }

  /// Ends the variable attribute whose `count` bytes have been written.
  @inlinable @inline(__always)
  mutating func endVariable(_ count: Int) {
    heap += count
    writeEnd()
  }

  @inlinable @inline(__always)
  mutating func writeEnd() {
    precondition(end < heapStart, "more attributes written than the schema declares")
    let length = heap - heapStart
    if isWide {
      base.storeBytes(
        of: UInt32(truncatingIfNeeded: length).littleEndian, toByteOffset: end, as: UInt32.self)
      end += 4
    } else {
      base.storeBytes(
        of: UInt16(truncatingIfNeeded: length).littleEndian, toByteOffset: end, as: UInt16.self)
      end += 2
    }
  }

  /// Marks the next attribute, an optional one, as not null.
  @inlinable @inline(__always)
  mutating func markPresent() { nullBit += 1 }

  /// Writes null for an optional attribute that wraps `V`.
  @usableFromInline
  mutating func writeNull<V: AttributeValue>(_: V.Type) { writeNull(V._storage.type) }

  @inline(__always)
  mutating func writeNull(_ type: AttributeType) {
    NullBit(index: nullBit).set(
      true, in: MutableByteView(start: base + start, count: capacity - start))
    nullBit += 1
    if type.isVariable {
      writeEnd()
    } else {
      (base + slot).initializeMemory(as: UInt8.self, repeating: 0, count: type.slotSize)
      slot += type.slotSize
    }
  }

  // MARK: Calls from entities

  /// Writes the next attribute.
  ///
  /// The call also writes enumerations, as their raw values, and `Codable` values, as documents.
  /// Each type may be optional.
  @inlinable @inline(__always)
  public mutating func write<V: AttributeValue>(_ value: V) { value._write(to: &self) }

  /// Writes an enumeration as its raw value.
  @inlinable @_documentation(visibility: internal)
  public mutating func write<V: RawRepresentable>(_ value: V) where V.RawValue: AttributeValue {
    value.rawValue._write(to: &self)
  }

  /// Writes an optional enumeration as its raw value.
  @inlinable @_documentation(visibility: internal)
  public mutating func write<V: RawRepresentable>(_ value: V?) where V.RawValue: AttributeValue {
    (value?.rawValue)._write(to: &self)
  }

  /// Writes an enumeration that is declared as indexable.
  @inlinable @_documentation(visibility: internal)
  public mutating func write<V: AttributeValue & RawRepresentable>(
    _ value: V
  ) where V.RawValue: AttributeValue {
    value.rawValue._write(to: &self)
  }

  /// Writes an optional enumeration that is declared as indexable.
  @inlinable @_documentation(visibility: internal)
  public mutating func write<V: AttributeValue & RawRepresentable>(
    _ value: V?
  ) where V.RawValue: AttributeValue {
    (value?.rawValue)._write(to: &self)
  }

  /// Writes an array, a dictionary or a nested struct as a document.
  @_disfavoredOverload @_documentation(visibility: internal)
  public mutating func write<V: Codable>(_ value: V) {
    writeDocument { document in try DocumentCoding.encode(value, into: &document) }
  }

  /// Writes an optional array, dictionary or nested struct as a document.
  @_disfavoredOverload @_documentation(visibility: internal)
  public mutating func write<V: Codable>(_ value: V?) {
    if let value {
      markPresent()
      write(value)
    } else {
      writeNull(.document)
    }
  }
}

/// The facts of a layout that a writer needs, as plain numbers.
@usableFromInline
struct RecordShape: Sendable {
  @usableFromInline let narrowHeader: UInt16
  @usableFromInline let wideHeader: UInt16
  @usableFromInline let longestNarrow: Int
  @usableFromInline let slotsOffset: Int
  @usableFromInline let endsOffset: Int
  @usableFromInline let variableCount: Int
  @usableFromInline let optionalCount: Int

  init(_ layout: RecordLayout) {
    narrowHeader = RecordHeader(layout: layout, isWide: false).rawValue
    wideHeader = RecordHeader(layout: layout, isWide: true).rawValue
    longestNarrow = RecordLayout.longestNarrow
    slotsOffset = layout.slotsOffset
    endsOffset = layout.endsOffset
    variableCount = layout.variableCount
    optionalCount = layout.optionalCount
  }

  @inlinable @inline(__always)
  func header(isWide: Bool) -> UInt16 { isWide ? wideHeader : narrowHeader }

  @inlinable @inline(__always)
  func heapOffset(isWide: Bool) -> Int { endsOffset &+ variableCount &* (isWide ? 4 : 2) }

  /// Returns whether all attributes have been written, with narrow offsets.
  @inlinable @inline(__always)
  func isComplete(slot: Int, nullBit: Int, end: Int) -> Bool {
    slot == endsOffset && nullBit == optionalCount && end == heapOffset(isWide: false)
  }
}
