internal import LodestoreFormat

/// Byte strings, for IN: looked up without an allocation.
package final class KeySet: Sendable {
  /// Ascending, without repetition.
  let sorted: [[UInt8]]
  /// Places in `sorted` plus one, by hash; a power of two, at most half full.
  private let table: [Int32]

  init(_ keys: [[UInt8]]) {
    var unique: [[UInt8]] = []
    unique.reserveCapacity(keys.count)
    for key in keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) where unique.last != key {
      unique.append(key)
    }
    sorted = unique
    var size = 16
    while size < unique.count * 2 { size *= 2 }
    var table = [Int32](repeating: 0, count: size)
    for (place, key) in unique.enumerated() {
      var slot = key.withUnsafeBytes { Self.hash($0) } & (size - 1)
      while table[slot] != 0 { slot = (slot + 1) & (size - 1) }
      table[slot] = Int32(place + 1)
    }
    self.table = table
  }

  func contains(_ key: UnsafeRawBufferPointer) -> Bool {
    var slot = Self.hash(key) & (table.count - 1)
    while table[slot] != 0 {
      let candidate = sorted[Int(table[slot] - 1)]
      if candidate.count == key.count,
        candidate.withUnsafeBytes({ compareKeys($0, key) == 0 })
      {
        return true
      }
      slot = (slot + 1) & (table.count - 1)
    }
    return false
  }

  private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
    var checksum = Checksum()
    checksum.combine(bytes)
    return Int(checksum.value)
  }
}
