import LodestoreBytes

/// Finds equal keys in one object.
///
/// Keys are compared as Swift strings, because those are the keys of an object in `JSONValue`:
/// escapes are decoded, and canonically equivalent spellings are equal. ASCII keys without escapes
/// are compared as bytes.
struct JSONKeyCheck {
  /// The maximum number of keys that are compared pairwise.
  ///
  /// More keys are hashed, so that the time stays linear.
  private static let pairwiseLimit = 24

  private var slots: [UInt32] = []

  /// Checks the object whose keys and values are the entries from `first` to before `end`.
  @inline(__always)
  mutating func check(_ tape: JSONTapeReader, first: Int, end: Int) throws(JSONFault) {
    var index = first
    var number = 0
    var irregular: UInt32 = 0
    // A Bloom filter of 64 bits. If a key's bit is not set yet, no earlier key equals it, and no
    // comparison is needed.
    var seen: UInt64 = 0
    while index < end {
      let key = tape.entries[index]
      irregular |= key.tag
      let bit = Self.bit(of: key, tape.text)
      let isSeen = seen & bit != 0
      seen |= bit
      var other = first
      for _ in 0..<(isSeen ? number : 0) {
        if tape.entries[other].length == key.length
          && Self.isEqual(tape.entries[other], key, tape.text)
        {
          throw Self.duplicate(key, tape.text)
        }
        other = Self.next(tape, after: other)
      }
      number &+= 1
      if number > Self.pairwiseLimit { return try checkMany(tape, first: first, end: end) }
      index = Self.next(tape, after: index)
    }
    if irregular & (JSONTapeEntry.escapedFlag | JSONTapeEntry.wideFlag) != 0 {
      try checkStrings(tape, first: first, end: end)
    }
  }

  /// One of 64 bits, chosen by the length and the first eight bytes of a key.
  @inline(__always)
  private static func bit(of key: JSONTapeEntry, _ text: ByteView) -> UInt64 {
    // At least eight zeros follow the text, so reading eight bytes at any offset stays within the
    // memory.
    let raw = text.loadUnaligned(fromByteOffset: Int(key.offset), as: UInt64.self)
    let unused = 64 &- min(key.length, 8) &* 8
    let first = key.length == 0 ? 0 : UInt64(littleEndian: raw) << UInt64(unused)
    let hash = (first &+ UInt64(key.length)) &* 0x9E37_79B9_7F4A_7C15
    return 1 &<< (hash &>> 58)
  }

  /// The entry of the next key, after the value of this key.
  @inline(__always)
  private static func next(_ tape: JSONTapeReader, after key: Int) -> Int {
    let value = tape.entries[key &+ 1]
    return value.isContainer ? Int(value.link) : key &+ 2
  }

  @inline(__always)
  private static func isEqual(_ a: JSONTapeEntry, _ b: JSONTapeEntry, _ text: ByteView) -> Bool {
    let (left, right) = (Int(a.offset), Int(b.offset))
    for at in 0..<Int(a.length) where text[left &+ at] != text[right &+ at] { return false }
    return true
  }

  /// Checks keys with a hash table with open addressing.
  ///
  /// The hashes are seeded, so that no input can force collisions.
  @inline(never)
  private mutating func checkMany(_ tape: JSONTapeReader, first: Int, end: Int) throws(JSONFault) {
    var index = first
    var number = 0
    while index < end {
      if tape.entries[index].isIrregular { return try checkStrings(tape, first: first, end: end) }
      number += 1
      index = Self.next(tape, after: index)
    }
    let size = 1 << (Int.bitWidth - (number * 2 - 1).leadingZeroBitCount)
    if slots.count < size { slots = Array(repeating: 0, count: size) }
    for slot in 0..<size { slots[slot] = 0 }
    index = first
    while index < end {
      let key = tape.entries[index]
      var hasher = Hasher()
      let bytes = tape.text.part(of: key)
      hasher._combine(bytes: bytes)
      var slot = hasher.finalize() & (size - 1)
      while slots[slot] != 0 {
        let other = tape.entries[Int(slots[slot])]
        if other.length == key.length && Self.isEqual(other, key, tape.text) {
          throw Self.duplicate(key, tape.text)
        }
        slot = (slot + 1) & (size - 1)
      }
      // In the table, 0 marks a free slot. No key has the entry number 0, because the object's own
      // entry precedes its keys.
      slots[slot] = UInt32(truncatingIfNeeded: index)
      index = Self.next(tape, after: index)
    }
  }

  @inline(never)
  private mutating func checkStrings(
    _ tape: JSONTapeReader, first: Int, end: Int
  ) throws(JSONFault) {
    var seen: Set<String> = []
    var index = first
    while index < end {
      let key = tape.entries[index]
      let (isNew, other) = seen.insert(JSONStringContent.string(key, tape.text))
      guard isNew else {
        let name = JSONStringContent.string(key, tape.text)
        guard name.utf8.elementsEqual(other.utf8) else {
          throw JSONFault(
            .duplicateKey(name), at: Int(key.offset) - 1,
            expected: "each key once in an object, also in another spelling of Unicode")
        }
        throw Self.duplicate(key, tape.text)
      }
      index = Self.next(tape, after: index)
    }
  }

  private static func duplicate(_ key: JSONTapeEntry, _ text: ByteView) -> JSONFault {
    JSONFault(
      .duplicateKey(JSONStringContent.string(key, text)), at: Int(key.offset) - 1,
      expected: "each key once in an object")
  }
}
