internal import LodestoreBytes
internal import LodestoreFormat

/// A hash table that numbers groups by their keys, in the order of their first use.
///
/// The keys are byte strings in one array. Memory: the keys and about 20 bytes for each group. Each
/// table has its own random seed, so that keys cannot be chosen to collide.
struct GroupTable {
  private var keys: [UInt8] = []
  /// The end of each group's key.
  private var ends: [Int] = []
  private var hashes: [UInt32] = []
  /// The slots of the hash table, with linear probing: 0 for a free slot, otherwise a group's
  /// number plus 1.
  private var slots = [UInt32](repeating: 0, count: 64)
  private let seed = UInt64.random(in: 0 ... .max)

  var count: Int { ends.count }

  /// The number of bytes in use, without spare capacity.
  var byteCount: Int { keys.count + ends.count * 12 + slots.count * 4 }

  /// Removes all groups and keeps the memory.
  mutating func removeAll() {
    keys.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    hashes.removeAll(keepingCapacity: true)
    for slot in slots.indices { slots[slot] = 0 }
  }

  /// Returns the number of the group with `key`, and whether the group is new.
  mutating func group(of key: ByteView) -> (number: Int, isNew: Bool) {
    let hash = self.hash(key)
    var slot = Int(hash) & (slots.count - 1)
    while slots[slot] != 0 {
      let number = Int(slots[slot] - 1)
      if hashes[number] == hash, withKey(number, { compareKeys($0, key) == 0 }) {
        return (number, false)
      }
      slot = (slot + 1) & (slots.count - 1)
    }
    let number = ends.count
    keys.append(contentsOf: key)
    ends.append(keys.count)
    hashes.append(hash)
    slots[slot] = UInt32(number + 1)
    if ends.count * 3 > slots.count * 2 { grow() }
    return (number, true)
  }

  func withKey<R>(_ number: Int, _ body: (ByteView) throws -> R) rethrows -> R {
    let start = number == 0 ? 0 : ends[number - 1]
    return try keys._withBytes { try body($0[start..<ends[number]]) }
  }

  private mutating func grow() {
    slots = [UInt32](repeating: 0, count: slots.count * 2)
    for number in hashes.indices {
      var slot = Int(hashes[number]) & (slots.count - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = UInt32(number + 1)
    }
  }

  private func hash(_ key: ByteView) -> UInt32 {
    var state = seed ^ UInt64(key.count)
    var offset = 0
    while offset < key.count {
      var word: UInt64 = 0
      if key.count - offset >= 8 {
        word = key.uint64(at: offset)
      } else {
        for byte in key[offset...] { word = word << 8 | UInt64(byte) }
      }
      let product = (state ^ word).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
      state = product.high ^ product.low ^ seed
      offset += 8
    }
    return UInt32(truncatingIfNeeded: state ^ state >> 32)
  }

  /// Returns the groups in the order of their keys, calling `tick` at intervals.
  func sorted(tick: () throws -> Void) throws -> [Int] {
    let skipped = commonLength
    var sort = WordSort()
    sort.reserve(count)
    for number in 0..<count {
      sort.append(withKey(number) { Self.word($0, from: skipped) }, index: number)
    }
    try sort.sort(tick: tick)
    var order = sort.items.map(\.index)
    var start = 0
    while start < order.count {
      var end = start + 1
      while end < order.count, sort.items[end].word == sort.items[start].word { end += 1 }
      if end - start > 1 {
        try order[start..<end].sort { a, b in
          try tick()
          return withKey(a) { a in withKey(b) { compareKeys(a, $0) < 0 } }
        }
      }
      start = end
    }
    return order
  }

  /// The length of the longest prefix that all keys share.
  private var commonLength: Int {
    guard count > 1 else { return 0 }
    return withKey(0) { first in
      var length = first.count
      for number in 1..<count where length > 0 {
        length = withKey(number) { key in
          var common = 0
          while common < min(length, key.count), key[common] == first[common] { common += 1 }
          return common
        }
      }
      return length
    }
  }

  private static func word(_ key: ByteView, from start: Int) -> UInt64 {
    if key.count - start >= 8 { return key.bigEndianUInt64(at: start) }
    var word: UInt64 = 0
    for index in start..<(start + 8) {
      word = word << 8 | (index < key.count ? UInt64(key[index]) : 0)
    }
    return word
  }
}
