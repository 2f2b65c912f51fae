internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Byte strings in ascending order without repetition, in one block of memory.
///
/// The list of an IN may have a hundred thousand keys. An array of arrays would cost an allocation
/// and a cache miss for each.
struct PackedKeys: Sendable, Hashable {
  private(set) var bytes: [UInt8] = []
  private var ends: [Int] = []

  init() {}

  /// Creates a list of one key.
  init(_ key: [UInt8]) { append(key) }

  var count: Int { ends.count }
  var isEmpty: Bool { ends.isEmpty }

  subscript(index: Int) -> [UInt8] { Array(bytes[range(index)]) }

  func length(_ index: Int) -> Int { range(index).count }

  private func range(_ index: Int) -> Range<Int> {
    (index == 0 ? 0 : ends[index - 1])..<ends[index]
  }

  @inline(__always)
  func withKey<R, E: Error>(_ index: Int, _ body: (ByteView) throws(E) -> R) throws(E) -> R {
    let range = range(index)
    return try bytes._withBytes { (all) throws(E) in try body(all[range]) }
  }

  /// Returns whether `key` is the last key.
  func ends(with key: ByteView) -> Bool {
    !isEmpty && withKey(count - 1) { compareKeys($0, key) == 0 }
  }

  /// Appends a key that is greater than all others.
  mutating func append(_ key: some Sequence<UInt8>) {
    assert(isEmpty || self[count - 1].lexicographicallyPrecedes(key))
    bytes.append(contentsOf: key)
    ends.append(bytes.count)
  }

  /// Sorts `entries` and copies their keys, each once.
  init(sorting entries: KeyEntries) {
    entries.sort()
    bytes.reserveCapacity(entries.byteCount)
    ends.reserveCapacity(entries.count)
    for index in 0..<entries.count where index == 0 || !entries.isRepeated(at: index) {
      append(entries.key(at: index))
    }
  }

  /// Returns these keys followed by `higher`, whose keys must all be greater.
  func above(_ higher: PackedKeys) -> PackedKeys {
    var both = self
    let start = bytes.count
    both.bytes += higher.bytes
    both.ends += higher.ends.map { $0 + start }
    return both
  }

  /// Returns the keys for which `isKept` is true.
  func filter(_ isKept: (ByteView) -> Bool) -> PackedKeys {
    var kept = PackedKeys()
    for index in 0..<count {
      withKey(index) { key in if isKept(key) { kept.append(key) } }
    }
    return kept
  }

  /// Returns every concatenation of one of these keys and one of `next`.
  func followed(by next: PackedKeys) -> PackedKeys {
    if count == 1, bytes.isEmpty { return next }
    var product = PackedKeys()
    for first in 0..<count {
      let head = self[first]
      for second in 0..<next.count { product.append(head + next[second]) }
    }
    return product
  }

  /// Returns the index key element of a value; every value that a test can hold has one.
  static func element(_ value: Value) -> [UInt8] {
    var encoder = KeyEncoder()
    do { try encoder.append(value) } catch { return [0] }
    return Array(encoder.bytes)
  }
}
