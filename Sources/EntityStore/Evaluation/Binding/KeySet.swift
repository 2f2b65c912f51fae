internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The keys of an IN, looked up without an allocation.
final class KeySet: Sendable {
  let keys: PackedKeys
  private let made = Guarded<KeyTable?>(nil)

  init(keys: PackedKeys) { self.keys = keys }

  /// The hash table of the keys, built on first use, because a plan that uses an index needs none.
  var table: KeyTable {
    made.withLock { made in
      if let made { return made }
      let table = KeyTable(keys)
      made = table
      return table
    }
  }
}

/// A hash table of byte strings.
final class KeyTable: Sendable {
  private let keys: PackedKeys
  /// The slots of an open-addressing table: the index in `keys` plus one, or 0 if empty.
  ///
  /// The number of slots is a power of two, and at most half of them are in use.
  private let table: [Int32]

  init(_ keys: PackedKeys) {
    self.keys = keys
    var size = 16
    while size < keys.count * 2 { size *= 2 }
    var table = [Int32](repeating: 0, count: size)
    for index in 0..<keys.count {
      var slot = keys.withKey(index) { Self.hash($0) } & (size - 1)
      while table[slot] != 0 { slot = (slot + 1) & (size - 1) }
      table[slot] = Int32(index + 1)
    }
    self.table = table
  }

  func contains(_ key: ByteView) -> Bool {
    var slot = Self.hash(key) & (table.count - 1)
    while table[slot] != 0 {
      if keys.withKey(Int(table[slot] - 1), { compareKeys($0, key) == 0 }) { return true }
      slot = (slot + 1) & (table.count - 1)
    }
    return false
  }

  private static func hash(_ bytes: ByteView) -> Int {
    var checksum = Checksum()
    checksum.combine(bytes)
    return Int(checksum.value)
  }
}
