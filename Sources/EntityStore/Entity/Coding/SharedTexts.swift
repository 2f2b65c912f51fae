internal import LodestoreBytes
internal import LodestoreFormat

/// The texts of the records that one call reads, so that repeated texts share one string.
///
/// In real data, half of the texts repeat a text of a recent record. For example, all versions of a
/// package have one summary, and many books have one publisher. A new text of more than fifteen
/// bytes costs an allocation and a deallocation. A text found here costs one reference count.
///
/// Texts of the first 64 records are not stored, so that a call that reads few records creates no
/// table.
struct SharedTexts {
  private static let firstRecordCount = 64
  private var recordCount = 0
  private var tables: UnsafeMutableBufferPointer<TextTable>?

  /// The tables for a record, one for each variable attribute; `nil` during the first records.
  @inline(__always)
  mutating func next(of layout: RecordLayout) -> UnsafeMutablePointer<TextTable>? {
    if let tables { return tables.baseAddress }
    recordCount &+= 1
    return recordCount > Self.firstRecordCount ? begin(layout) : nil
  }

  @inline(never)
  private mutating func begin(_ layout: RecordLayout) -> UnsafeMutablePointer<TextTable>? {
    let tables = UnsafeMutableBufferPointer<TextTable>.allocate(capacity: layout.variableCount)
    tables.initialize(repeating: TextTable())
    self.tables = tables
    return tables.baseAddress
  }

  /// Frees the tables; texts that were read stay valid.
  func deallocate() {
    guard let tables else { return }
    for table in tables { table.deallocate() }
    tables.deallocate()
  }
}

/// A table of recently read texts of one attribute.
struct TextTable {
  private static let slotCount = 256
  /// The increase of ``credit`` with each hit.
  private static let gain: Int32 = 2
  /// The maximum of ``credit``.
  private static let most: Int32 = 1_024

  /// A measure of how often a text is found in the table: it rises with each hit and falls by one
  /// with each miss.
  ///
  /// At 0 the table is no longer searched, because the texts of this attribute do not repeat.
  private var credit: Int32 = 256
  private var slots: UnsafeMutablePointer<String>?

  /// The text of `bytes`, which must be longer than ``ShortText/longest``.
  @inline(__always)
  mutating func text(_ bytes: ByteView) -> String {
    guard credit > 0 else { return String(decoding: bytes, as: UTF8.self) }
    let slots = slots ?? makeSlots()
    let slot = slots + Self.slot(of: bytes)
    if Self.isEqual(slot, bytes) {
      credit = min(credit &+ Self.gain, Self.most)
      return slot.pointee
    }
    credit &-= 1
    let text = String(decoding: bytes, as: UTF8.self)
    slot.pointee = text
    return text
  }

  @inline(never)
  private mutating func makeSlots() -> UnsafeMutablePointer<String> {
    let made = UnsafeMutablePointer<String>.allocate(capacity: Self.slotCount)
    made.initialize(repeating: "", count: Self.slotCount)
    slots = made
    return made
  }

  func deallocate() {
    guard let slots else { return }
    slots.deinitialize(count: Self.slotCount)
    slots.deallocate()
  }

  /// Returns the table position for a text: a hash of its length, its first eight and its last
  /// eight bytes.
  @inline(__always)
  private static func slot(of bytes: ByteView) -> Int {
    let first = bytes.uint64(at: 0)
    let last = bytes.uint64(at: bytes.count &- 8)
    let mixed = (first ^ (last << 29 | last >> 35) ^ UInt64(bytes.count)) &* 0x9E37_79B9_7F4A_7C15
    return Int(mixed >> 56)
  }

  /// Compares a stored text with `bytes`.
  ///
  /// No call happens between finding the text's bytes and comparing them, because it would retain
  /// and release the text.
  @inline(__always)
  private static func isEqual(_ slot: UnsafeMutablePointer<String>, _ bytes: ByteView) -> Bool {
    slot.pointee.utf8.withContiguousStorageIfAvailable { held in
      let held = ByteView(held)
      guard held.count == bytes.count else { return false }
      let end = bytes.count &- 8
      var offset = 0
      while offset < end {
        guard held.uint64(at: offset) == bytes.uint64(at: offset) else { return false }
        offset &+= 8
      }
      return held.uint64(at: end) == bytes.uint64(at: end)
    } ?? false
  }
}
