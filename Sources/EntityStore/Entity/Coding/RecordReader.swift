public import LodestoreBytes
internal import LodestoreFormat

/// Reads the attributes of one record, in the order of its entity's schema.
///
/// The store creates the reader and passes it to ``Entity/init(from:)``. The values that it returns
/// own their memory. Reading more or other attributes than the schema declares is a programming
/// error and traps. Bytes that cannot be decoded throw.
///
/// The record has been checked to have the shape of its layout (`RecordView`), so reads only
/// advance offsets. The record always has the entity's current layout: older records are converted
/// first.
public struct RecordReader: ~Copyable {
  @usableFromInline let base: UnsafeRawPointer
  @usableFromInline var slot: Int
  @usableFromInline var nullBit = 0
  @usableFromInline var end: Int
  @usableFromInline let heapStart: Int
  /// The end of the previous variable attribute, as an offset from the start of the heap, which
  /// contains the variable bytes.
  @usableFromInline var previousEnd = 0
  @usableFromInline let isWide: Bool
  @usableFromInline let slotsEnd: Int
  /// The label for error messages.
  ///
  /// The label outlives the reader, so the reference need not be counted for each record.
  let entity: Unmanaged<EntityLabel>
  @usableFromInline let recordID: UInt64
  let makesShortTexts: Bool
  /// The tables of recently read texts, one for each variable attribute; `nil` without tables.
  ///
  /// Used only for records with narrow ends.
  let textTables: UnsafeMutablePointer<TextTable>?

  /// Starts at the first attribute of a record that was checked to have the shape of `layout`.
  @inline(__always)
  init(
    _ start: UnsafeRawPointer, _ layout: RecordLayout, heapStart: Int, isWide: Bool,
    entity: EntityLabel, recordID: UInt64, textTables: UnsafeMutablePointer<TextTable>? = nil
  ) {
    base = start
    slot = layout.slotsOffset
    end = layout.endsOffset
    slotsEnd = layout.endsOffset
    self.heapStart = heapStart
    self.isWide = isWide
    self.entity = .passUnretained(entity)
    self.recordID = recordID
    makesShortTexts = entity.makesShortTexts
    self.textTables = textTables
  }

  init(_ record: borrowing RecordView, entity: EntityLabel, recordID: UInt64) {
    self.init(
      record.bytes.start, record.layout, heapStart: record.heapOffset, isWide: record.isWide,
      entity: entity, recordID: recordID)
  }

  /// Moves to one attribute, so that the next read returns it.
  mutating func move(to slot: RecordLayout.Slot, in layout: RecordLayout) {
    nullBit = max(0, Int(slot.nullBit))
    guard slot.type.isVariable else {
      self.slot = Int(slot.position)
      return
    }
    let ordinal = Int(slot.position)
    let size = isWide ? 4 : 2
    end = layout.endsOffset + ordinal * size
    previousEnd = 0
    guard ordinal > 0 else { return }
    previousEnd = base.variableEnd(at: end - size, isWide: isWide)
  }

  // MARK: Calls from attribute types

  /// Reads a fixed-width slot as stored, in little-endian order.
  @inlinable @inline(__always)
  mutating func readSlot<T: BitwiseCopyable>(_: T.Type, size: Int) -> T {
    precondition(slot + size <= slotsEnd, "more attributes read than the schema declares")
    let value = base.loadUnaligned(fromByteOffset: slot, as: T.self)
    slot += size
    return value
  }

  /// The bytes of the next variable attribute; valid only within the call that reads them.
  @inlinable @inline(__always)
  mutating func readVariable() -> ByteView {
    precondition(end < heapStart, "more attributes read than the schema declares")
    let attributeEnd: Int
    if isWide {
      attributeEnd = base.variableEnd(at: end, isWide: true)
      end += 4
    } else {
      attributeEnd = base.variableEnd(at: end, isWide: false)
      end += 2
    }
    let bytes = ByteView(
      start: base + heapStart + previousEnd, count: attributeEnd - previousEnd)
    previousEnd = attributeEnd
    return bytes
  }

  /// Reads a text; bytes that are not UTF-8 become replacement characters.
  @usableFromInline @inline(never)
  mutating func readText() -> String {
    let ordinal = (end &- slotsEnd) &>> 1
    let bytes = readVariable()
    if bytes.count <= ShortText.longest {
      if makesShortTexts, let text = ShortText.text(bytes.start, bytes.count) { return text }
    } else if let textTables {
      // Tables are used only for records with narrow ends, so each end has two bytes.
      return textTables[ordinal].text(bytes)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns whether the next attribute, an optional one, is null.
  @inlinable @inline(__always)
  mutating func nextIsNull() -> Bool {
    defer { nullBit += 1 }
    return base.hasNullBit(nullBit)
  }

  /// Skips the bytes of a null attribute.
  @usableFromInline
  mutating func skip<V: AttributeValue>(_: V.Type) { skip(V._storage.type) }

  mutating func skip(_ type: AttributeType) {
    if type.isVariable { _ = readVariable() } else { slot += type.slotSize }
  }

  @usableFromInline
  func unknownCase<V: RawRepresentable>(_: V.Type, _ raw: V.RawValue) -> StoreError
  where V.RawValue: AttributeValue {
    let label = entity.takeUnretainedValue()
    return .unknownCase(
      entity: label.name, recordID: recordID, attribute: lastRead(V.RawValue._storage.type),
      value: raw._storedValue.value, of: RawCases<V>())
  }

  /// The error for the attribute of `type` that was read last and cannot be decoded.
  func undecodable(
    _ type: AttributeType, _ reason: String, cause: (any Error)? = nil
  ) -> StoreError {
    .undecodable(
      entity: entity.takeUnretainedValue().name, recordID: recordID, attribute: lastRead(type),
      reason: reason, cause: cause)
  }

  /// The name of the attribute that was read last, which is of `type`.
  private func lastRead(_ type: AttributeType) -> String? {
    let label = entity.takeUnretainedValue()
    return type.isVariable
      ? label.attribute(variable: (end - slotsEnd) / (isWide ? 4 : 2) - 1)
      : label.attribute(endingAt: slot)
  }

  // MARK: Calls from entities

  /// The identity of the record.
  @inlinable @inline(__always)
  public func id<E: Entity>(of _: E.Type = E.self) -> RecordID<E> { RecordID(rawValue: recordID) }

  /// Reads the next attribute.
  ///
  /// The call also reads enumerations and `Codable` values, each of which may be optional. An
  /// enumeration throws ``StoreError/Code/undecodableValue`` when no case has the stored raw value.
  /// A `Codable` value throws when it cannot be decoded.
  @inlinable @inline(__always)
  public mutating func read<V: AttributeValue>(_: V.Type = V.self) throws(StoreError) -> V {
    try V._read(from: &self)
  }

  /// Reads an enumeration; throws when no case has the stored raw value.
  @inlinable @_documentation(visibility: internal)
  public mutating func read<V: RawRepresentable>(
    _: V.Type = V.self
  ) throws(StoreError) -> V where V.RawValue: AttributeValue {
    let raw = try V.RawValue._read(from: &self)
    guard let value = V(rawValue: raw) else { throw unknownCase(V.self, raw) }
    return value
  }

  /// Reads an optional enumeration; throws when no case has the stored raw value.
  @inlinable @_documentation(visibility: internal)
  public mutating func read<V: RawRepresentable>(
    _: V?.Type = V?.self
  ) throws(StoreError) -> V? where V.RawValue: AttributeValue {
    guard let raw = try V.RawValue?._read(from: &self) else { return nil }
    guard let value = V(rawValue: raw) else { throw unknownCase(V.self, raw) }
    return value
  }

  /// Reads an enumeration that is declared as indexable; throws when no case has the stored raw
  /// value.
  @inlinable @_documentation(visibility: internal)
  public mutating func read<V: AttributeValue & RawRepresentable>(
    _: V.Type = V.self
  ) throws(StoreError) -> V where V.RawValue: AttributeValue {
    try V._read(from: &self)
  }

  /// Reads an optional enumeration that is declared as indexable; throws when no case has the
  /// stored raw value.
  @inlinable @_documentation(visibility: internal)
  public mutating func read<V: AttributeValue & RawRepresentable>(
    _: V?.Type = V?.self
  ) throws(StoreError) -> V? where V.RawValue: AttributeValue {
    try V?._read(from: &self)
  }

  /// Reads an array, a dictionary or a nested struct.
  @_disfavoredOverload @_documentation(visibility: internal)
  public mutating func read<V: Codable>(_: V.Type = V.self) throws(StoreError) -> V {
    let bytes = readVariable()
    do {
      return try DocumentCoding.decode(V.self, from: bytes)
    } catch {
      throw undecodable(
        .document,
        "it does not decode as \(V.self)\((error as? DecodingError).map { ": \($0.reason)" } ?? "")",
        cause: error)
    }
  }

  /// Reads an optional array, dictionary or nested struct.
  @_disfavoredOverload @_documentation(visibility: internal)
  public mutating func read<V: Codable>(_: V?.Type = V?.self) throws(StoreError) -> V? {
    if nextIsNull() {
      skip(.document)
      return nil
    }
    return try read(V.self)
  }
}
