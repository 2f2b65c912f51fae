internal import LodestoreBytes
internal import LodestoreFormat

/// A block of entries of an index over one number, with their keys in one buffer.
///
/// The block is small enough to stay in the processor's cache until it is written.
struct KeyBlock: ~Copyable {
  private static let capacity = 256

  private let slot: WordSlot
  private let isUnique: Bool
  private let words = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity)
  /// The record ids; in a unique index they are the values of the entries, stored as little-endian
  /// numbers.
  private let recordIDs = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity)
  private let keyEnds = UnsafeMutablePointer<Int>.allocate(capacity: capacity)
  private var keys = KeyEncoder()
  private(set) var count = 0

  /// Creates a block for an index over the numbers in `slot`.
  init(of slot: WordSlot, isUnique: Bool) {
    self.slot = slot
    self.isUnique = isUnique
  }

  deinit {
    words.deallocate()
    recordIDs.deallocate()
    keyEnds.deallocate()
  }

  var isFull: Bool { count == Self.capacity }

  @inline(__always)
  mutating func append(_ word: UInt64, recordID: UInt64) {
    (words + count).initialize(to: word)
    (recordIDs + count).initialize(to: isUnique ? recordID.littleEndian : recordID)
    count &+= 1
  }

  mutating func removeAll() { count = 0 }

  /// Encodes the keys of all entries.
  mutating func makeKeys() {
    slot.makeKeys(
      UnsafeBufferPointer(start: words, count: count), recordIDs: isUnique ? nil : recordIDs,
      in: &keys, ends: keyEnds)
  }

  // MARK: The finished keys

  /// The address of the first key.
  var base: UnsafeRawPointer? { keys.bytes.baseAddress }

  var ends: UnsafeBufferPointer<Int> { UnsafeBufferPointer(start: keyEnds, count: count) }

  /// The record ids as the values of the entries, in little-endian order; `nil` if they are in the
  /// keys.
  var values: UnsafePointer<UInt64>? { isUnique ? UnsafePointer(recordIDs) : nil }

  func key(at index: Int) -> ByteView {
    keys.bytes[(index == 0 ? 0 : keyEnds[index - 1])..<keyEnds[index]]
  }

  func recordID(at index: Int) -> UInt64 {
    isUnique ? UInt64(littleEndian: recordIDs[index]) : recordIDs[index]
  }
}
