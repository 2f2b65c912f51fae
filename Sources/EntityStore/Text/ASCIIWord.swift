internal import LodestoreBytes

/// Eight bytes of text at a time.
enum ASCIIWord {
  static let ones: UInt64 = 0x0101_0101_0101_0101
  static let highBits: UInt64 = 0x8080_8080_8080_8080

  @inline(__always)
  static func load(_ bytes: ByteView, at offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// The high bit of each byte of `word` that is zero; only the lowest of them is certain.
  @inline(__always)
  static func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & highBits }

  /// `word`, which must be ASCII, in lower case.
  @inline(__always)
  static func lowercased(_ word: UInt64) -> UInt64 {
    let isFromA = word &+ ones &* (0x80 - 0x41)
    let isAboveZ = word &+ ones &* (0x80 - 0x5b)
    return word | ((isFromA ^ isAboveZ) & highBits) &>> 2
  }

  @inline(__always)
  static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}

extension ByteView {
  var isASCII: Bool {
    var offset = 0
    while count &- offset >= 8 {
      if ASCIIWord.load(self, at: offset) & ASCIIWord.highBits != 0 { return false }
      offset &+= 8
    }
    while offset < count {
      if self[offset] >= 0x80 { return false }
      offset &+= 1
    }
    return true
  }

  /// Whether all scalars are below U+0300: in NFC, and but for CR LF each a `Character`.
  var isPlainText: Bool {
    var offset = 0
    while count &- offset >= 8 {
      let word = ASCIIWord.load(self, at: offset)
      if word & ASCIIWord.highBits != 0 {
        for index in offset..<(offset &+ 8) where self[index] >= 0xcc { return false }
      }
      offset &+= 8
    }
    while offset < count {
      if self[offset] >= 0xcc { return false }
      offset &+= 1
    }
    return true
  }

  /// Whether the bytes are the same.
  @inline(__always)
  func isEqual(to other: ByteView) -> Bool {
    count == other.count && hasPrefix(other)
  }

  /// Whether the first bytes are those of `prefix`, which must not be longer.
  @inline(__always)
  func hasPrefix(_ prefix: ByteView) -> Bool {
    let length = prefix.count
    guard length >= 8 else {
      for index in 0..<length where self[index] != prefix[index] { return false }
      return true
    }
    var offset = 0
    // The last step overlaps the one before it, so no bytes are left over.
    while offset < length {
      offset = Swift.min(offset, length &- 8)
      if ASCIIWord.load(self, at: offset) != ASCIIWord.load(prefix, at: offset) { return false }
      offset &+= 8
    }
    return true
  }

  /// The bytes from `start`, at most to the end.
  @inline(__always)
  func slice(from start: Int) -> ByteView {
    self[start...]
  }
}
