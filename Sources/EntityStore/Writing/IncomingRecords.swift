internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat
import LodestoreSystem

/// Encoded records on their way into an entity, in the order in which they came.
///
/// Their bytes stay where they were put: batches are put together without copying them.
struct IncomingRecords: Sendable {
  /// A content with room for its checksum behind it, in one of the blocks.
  ///
  /// `@unchecked Sendable`: its bytes were written before it was made and do not change; the batch
  /// that has it keeps their block.
  private struct Place: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
    let count: Int
  }

  private var blocks: [RecordBlock] = []
  private var places: [Place] = []
  /// A bit an attribute of the layout, `wordCount` words a record; empty while every record was
  /// given all of them.
  private var given: [UInt64] = []
  private let wordCount: Int
  /// The bytes of all records.
  private(set) var byteCount = 0
  /// The layout that the records are in.
  let layout: RecordLayout

  init(_ layout: RecordLayout) {
    self.layout = layout
    wordCount = (layout.attributes.count + 63) / 64
  }

  var count: Int { places.count }
  var isEmpty: Bool { places.isEmpty }
  /// Whether some record was not given all attributes.
  var hasParts: Bool { !given.isEmpty }

  /// Adds a record that was given values for all its attributes.
  mutating func append(_ content: ByteView) {
    if !given.isEmpty { given.append(contentsOf: repeatElement(.max, count: wordCount)) }
    add(content)
  }

  /// Adds a record that was given values for the attributes at the places for which `isGiven` is true;
  /// `nil` for all.
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

  /// Adds a record of the layout.
  mutating func append(_ record: RecordBytes, given isGiven: [Bool]?) {
    record.withBytes { bytes in
      append(bytes[..<record.contentCount], given: isGiven)
    }
  }

  /// Adds all records of `other`, which are of the same layout.
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
    // What another batch has too is not written to any more.
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

  /// The record at `place`, with zeros for its checksum; valid while the batch is.
  subscript(place: Int) -> ByteView {
    ByteView(start: places[place].start, count: places[place].count)
  }

  /// Has the record at `place` fetched into the cache.
  func fetchAhead(_ place: Int) {
    prefetch(places[place].start, byteCount: places[place].count)
  }

  @inline(__always)
  func view(_ place: Int, of entity: StoredEntity) throws(StoreError) -> RecordView {
    try entity.view(incoming: self[place])
  }

  /// Whether a stored record has the bytes of the record at `place`, but for its checksum.
  @inline(__always)
  func isSame(_ place: Int, as stored: ByteView) -> Bool {
    let (start, count) = (places[place].start, places[place].count)
    guard stored.count == count, let other = stored.baseAddress else { return false }
    return memcmp(start, other, count &- RecordLayout.checksumSize) == 0
  }

  /// Whether the attribute at place `attribute` of the layout was given to the record at `place`.
  func isGiven(_ attribute: Int, at place: Int) -> Bool {
    given.isEmpty
      || given[place * wordCount + attribute / 64] >> UInt64(attribute % 64) & 1 == 1
  }

  /// Says whether the attribute at place `attribute` of the layout was given to the record at
  /// `place`.
  mutating func setGiven(_ isGiven: Bool, _ attribute: Int, at place: Int) {
    if given.isEmpty {
      if isGiven { return }
      given = Array(repeating: .max, count: wordCount * count)
    }
    let bit: UInt64 = 1 << UInt64(attribute % 64)
    let word = place * wordCount + attribute / 64
    if isGiven { given[word] |= bit } else { given[word] &= ~bit }
  }

  /// Whether every attribute was given to the record at `place`.
  func isWhole(_ place: Int) -> Bool {
    given.isEmpty || layout.attributes.indices.allSatisfy { isGiven($0, at: place) }
  }
}

/// Memory for records, which is only ever added to, and only by a batch that alone has it.
///
/// `@unchecked Sendable`: what two batches share, which may be on two threads, is no more written to
/// (`isKnownUniquelyReferenced` before each record), and `used` is only touched by who may write.
private final class RecordBlock: @unchecked Sendable {
  private let start: UnsafeMutableRawPointer
  private let byteCount: Int
  private var used = 0

  init(byteCount: Int) {
    start = LargeMemory.allocate(byteCount: byteCount)
    self.byteCount = byteCount
  }

  deinit { start.deallocate() }

  /// Larger with each block of a batch, from 4 KiB to that of a large page.
  static func size(after blockCount: Int) -> Int { 4096 << min(blockCount, 9) }

  var room: Int { byteCount - used }

  func take(_ count: Int) -> UnsafeMutableRawPointer {
    defer { used += count }
    return start + used
  }
}
