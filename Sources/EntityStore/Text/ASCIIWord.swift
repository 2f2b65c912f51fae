internal import LodestoreBytes

/// Operations on eight bytes of text at a time.
enum ASCIIWord {
  static let ones: UInt64 = 0x0101_0101_0101_0101
  static let highBits: UInt64 = 0x8080_8080_8080_8080

  @inline(__always)
  static func load(_ bytes: ByteView, at offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// Returns the high bit of each byte of `word` that is zero.
  ///
  /// Only the lowest of these bits is reliable.
  @inline(__always)
  static func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & highBits }

  /// Returns the eight bytes of `word` in lower case; all of them must be ASCII.
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

  /// Whether all scalars are below U+0300.
  ///
  /// Such text is in NFC, and each scalar is a `Character`, except in CR LF.
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

  /// Returns whether the bytes are equal.
  @inline(__always)
  func isEqual(to other: ByteView) -> Bool { count == other.count && hasPrefix(other) }

  /// Returns whether the bytes begin with `prefix`, which must not be longer.
  @inline(__always)
  func hasPrefix(_ prefix: ByteView) -> Bool {
    let length = prefix.count
    guard length >= 8 else {
      for index in 0..<length where self[index] != prefix[index] { return false }
      return true
    }
    var offset = 0
    // Eight bytes are compared in each step. The last step overlaps the step before it, so that no
    // bytes remain for a slower loop.
    while offset < length {
      offset = Swift.min(offset, length &- 8)
      if ASCIIWord.load(self, at: offset) != ASCIIWord.load(prefix, at: offset) { return false }
      offset &+= 8
    }
    return true
  }

  /// Returns the bytes from `start` to the end.
  @inline(__always)
  func slice(from start: Int) -> ByteView { self[start...] }
}
