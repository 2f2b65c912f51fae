internal import LMDB

/// Byte strings in ascending order without repetition, in one block.
///
/// Lists of an IN may have a hundred thousand: an array of arrays would cost an allocation and a
/// cache miss for each.
package struct PackedKeys: Sendable, Hashable {
  private(set) var bytes: [UInt8] = []
  private var ends: [Int] = []

  init() {}

  /// One key.
  init(_ key: [UInt8]) { append(key) }

  var count: Int { ends.count }
  var isEmpty: Bool { ends.isEmpty }

  subscript(place: Int) -> [UInt8] { Array(bytes[range(place)]) }

  private func range(_ place: Int) -> Range<Int> {
    (place == 0 ? 0 : ends[place - 1])..<ends[place]
  }

  @inline(__always)
  func withKey<R, E: Error>(
    _ place: Int, _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    let range = range(place)
    return try bytes.withBytes { (all) throws(E) in
      try body(UnsafeRawBufferPointer(rebasing: all[range]))
    }
  }

  /// Adds a key that is above all others.
  mutating func append(_ key: some Sequence<UInt8>) {
    bytes.append(contentsOf: key)
    ends.append(bytes.count)
  }

  /// Sorts `arena` and takes its keys over, each once.
  init(sorting arena: EntryArenaBox) {
    arena.sort()
    bytes.reserveCapacity(arena.arena.byteCount)
    ends.reserveCapacity(arena.count)
    var previous: Int?
    for place in 0..<arena.count {
      let key = arena.arena.key(arena.arena.entries[place])
      if let previous,
        compareKeys(arena.arena.key(arena.arena.entries[previous]), key) == 0
      {
        continue
      }
      previous = place
      append(key)
    }
  }

  /// These, which are below all of `higher`, and then those.
  func above(_ higher: PackedKeys) -> PackedKeys {
    var both = self
    let start = bytes.count
    both.bytes += higher.bytes
    both.ends += higher.ends.map { $0 + start }
    return both
  }

  /// The keys for which `isKept` is true.
  func filter(_ isKept: (UnsafeRawBufferPointer) -> Bool) -> PackedKeys {
    var kept = PackedKeys()
    for place in 0..<count {
      withKey(place) { key in if isKept(key) { kept.append(key) } }
    }
    return kept
  }

  /// Each of these, followed by each of `next`.
  func followed(by next: PackedKeys) -> PackedKeys {
    if count == 1, bytes.isEmpty { return next }
    var product = PackedKeys()
    for first in 0..<count {
      let head = self[first]
      for second in 0..<next.count { product.append(head + next[second]) }
    }
    return product
  }
}
