internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat
import LodestoreSystem

/// Encoded records to be written into an entity, in the order of their arrival.
///
/// The bytes stay in place: batches are concatenated without copying them.
struct IncomingRecords: Sendable {
  /// The place of one record's content, followed by room for its checksum, in one of the memory
  /// blocks.
  ///
  /// The `Sendable` conformance is unchecked. The bytes were written before the place was created
  /// and do not change; the batch keeps their block alive.
  private struct Place: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
    let count: Int
  }

  private var blocks: [RecordBlock] = []
  private var places: [Place] = []
  /// One bit for each attribute of the layout, in `wordCount` words for each record.
  ///
  /// Empty while every record was given all attributes.
  private var given: [UInt64] = []
  private let wordCount: Int
  /// The number of bytes of all records.
  private(set) var byteCount = 0
  /// The layout of the records.
  let layout: RecordLayout

  init(_ layout: RecordLayout) {
    self.layout = layout
    wordCount = (layout.attributes.count + 63) / 64
  }

  var count: Int { places.count }
  var isEmpty: Bool { places.isEmpty }
  /// Whether some record was not given all attributes.
  var hasParts: Bool { !given.isEmpty }

  /// Appends a record that was given all attributes.
  mutating func append(_ content: ByteView) {
    if !given.isEmpty { given.append(contentsOf: repeatElement(.max, count: wordCount)) }
    add(content)
  }

  /// Appends a record.
  ///
  /// - Parameter isGiven: for each attribute, whether the record was given it; `nil` when it was
  ///   given all attributes.
  mutating func append(_ content: ByteView, given isGiven: [Bool]?) {
    guard let isGiven, !isGiven.allSatisfy({ $0 }) else { return append(content) }
    if given.isEmpty { given = Array(repeating: .max, count: wordCount * count) }
    var words = [UInt64](repeating: 0, count: wordCount)
    for (place, flag) in isGiven.enumerated() where flag {
      words[place / 64] |= 1 << UInt64(place % 64)
    }
    given.append(contentsOf: words)
    add(content)
  }

  /// Appends a record of the layout.
  mutating func append(_ record: RecordBytes, given isGiven: [Bool]?) {
    record.withBytes { bytes in
      append(bytes[..<record.contentCount], given: isGiven)
    }
  }

  /// Appends all records of `other`, which must have an equal layout.
  mutating func append(_ other: IncomingRecords) {
    if !given.isEmpty || !other.given.isEmpty {
      if given.isEmpty { given = Array(repeating: .max, count: wordCount * count) }
      given.append(
        contentsOf: other.given.isEmpty
          ? Array(repeating: .max, count: wordCount * other.count) : other.given)
    }
    blocks.append(contentsOf: other.blocks)
    places.append(contentsOf: other.places)
    byteCount += other.byteCount
  }

  mutating func removeAll() {
    blocks.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
    given.removeAll(keepingCapacity: true)
    byteCount = 0
  }

  private mutating func add(_ content: ByteView) {
    let count = content.count + RecordLayout.checksumSize
    // A block of memory that another batch also references must not be written to.
    let hasRoom =
      !blocks.isEmpty && blocks[blocks.count - 1].room >= count
      && isKnownUniquelyReferenced(&blocks[blocks.count - 1])
    if !hasRoom {
      blocks.append(RecordBlock(byteCount: max(count, RecordBlock.size(after: blocks.count))))
    }
    let start = blocks[blocks.count - 1].take(count)
    start.copyMemory(from: content.baseAddress ?? UnsafeRawPointer(start), byteCount: content.count)
    (start + content.count)
      .initializeMemory(as: UInt8.self, repeating: 0, count: RecordLayout.checksumSize)
    places.append(Place(start: start, count: count))
    byteCount += count
  }

  /// The record at `place`, with zeros for its checksum; valid during the batch's lifetime.
  subscript(place: Int) -> ByteView {
    ByteView(start: places[place].start, count: places[place].count)
  }

  /// Prefetches the record at `place` into the cache.
  func fetchAhead(_ place: Int) {
    prefetch(places[place].start, byteCount: places[place].count)
  }

  @inline(__always)
  func view(_ place: Int, of entity: StoredEntity) throws(StoreError) -> RecordView {
    try entity.view(incoming: self[place])
  }

  /// Returns whether a stored record equals the record at `place`, except for the checksum.
  @inline(__always)
  func isSame(_ place: Int, as stored: ByteView) -> Bool {
    let (start, count) = (places[place].start, places[place].count)
    guard stored.count == count, let other = stored.baseAddress else { return false }
    return memcmp(start, other, count &- RecordLayout.checksumSize) == 0
  }

  /// Returns whether the record at `place` was given the attribute at index `attribute` of the
  /// layout.
  func isGiven(_ attribute: Int, at place: Int) -> Bool {
    given.isEmpty
      || given[place * wordCount + attribute / 64] >> UInt64(attribute % 64) & 1 == 1
  }

  /// Sets whether the record at `place` was given the attribute at index `attribute` of the layout.
  mutating func setGiven(_ isGiven: Bool, _ attribute: Int, at place: Int) {
    if given.isEmpty {
      if isGiven { return }
      given = Array(repeating: .max, count: wordCount * count)
    }
    let bit: UInt64 = 1 << UInt64(attribute % 64)
    let word = place * wordCount + attribute / 64
    if isGiven { given[word] |= bit } else { given[word] &= ~bit }
  }

  /// Returns whether the record at `place` was given every attribute.
  func isWhole(_ place: Int) -> Bool {
    given.isEmpty || layout.attributes.indices.allSatisfy { isGiven($0, at: place) }
  }
}

/// Append-only memory for records; only a batch that is its sole owner may append.
///
/// The `Sendable` conformance is unchecked. A block shared by two batches, possibly on two threads,
/// is not written to (`isKnownUniquelyReferenced` before each record). Only the sole owner accesses
/// `used`.
private final class RecordBlock: @unchecked Sendable {
  private let start: UnsafeMutableRawPointer
  private let byteCount: Int
  private var used = 0

  init(byteCount: Int) {
    start = LargeMemory.allocate(byteCount: byteCount)
    self.byteCount = byteCount
  }

  deinit { start.deallocate() }

  /// The size of a batch's next block, from 4 KiB up to the size of a large page.
  static func size(after blockCount: Int) -> Int { 4096 << min(blockCount, 9) }

  var room: Int { byteCount - used }

  func take(_ count: Int) -> UnsafeMutableRawPointer {
    defer { used += count }
    return start + used
  }
}
