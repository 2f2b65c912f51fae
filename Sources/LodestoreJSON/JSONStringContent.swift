import LodestoreBytes

/// Makes strings from checked JSON text.
@usableFromInline
enum JSONStringContent {
  /// The content of a string entry, with escapes decoded.
  @inline(__always)
  static func string(_ entry: JSONTapeEntry, _ text: ByteView) -> String {
    let raw = text.part(of: entry)
    return entry.isEscaped ? unescaped(raw) : String(decoding: raw, as: UTF8.self)
  }

  @inline(never)
  private static func unescaped(_ raw: ByteView) -> String {
    String(unsafeUninitializedCapacity: raw.count) { unescape(raw, into: MutableByteView($0)) }
  }

  /// Calls `body` with the content of a string that has escapes.
  @inlinable @inline(never)
  static func withUnescaped<R>(_ raw: ByteView, _ body: (ByteView) -> R) -> R {
    withUnsafeTemporaryAllocation(byteCount: raw.count, alignment: 1) { room in
      let target = MutableByteView(room)
      let count = unescape(raw, into: target)
      return body(ByteView(target)[..<count])
    }
  }

  /// Decodes escapes and returns the number of bytes written, which never exceeds the number of
  /// bytes of `raw`.
  @usableFromInline
  static func unescape(_ raw: ByteView, into target: MutableByteView) -> Int {
    var at = 0
    var end = 0
    while at < raw.count {
      let byte = raw[at]
      if byte != 0x5C {
        target[end] = byte
        end &+= 1
        at &+= 1
        continue
      }
      if raw[at + 1] == 0x75 {
        var scalar = hex(raw, at + 2)
        at += 6
        if scalar & 0xFC00 == 0xD800 {
          scalar = 0x10000 + (scalar & 0x3FF) << 10 + hex(raw, at + 2) & 0x3FF
          at += 6
        }
        end = append(scalar, to: target, at: end)
      } else {
        target[end] = simple(raw[at + 1])
        end += 1
        at += 2
      }
    }
    return end
  }

  private static func hex(_ raw: ByteView, _ start: Int) -> UInt32 {
    var value: UInt32 = 0
    for at in start..<(start + 4) { value = value << 4 | (JSONHex.digit(raw[at]) ?? 0) }
    return value
  }

  private static func simple(_ letter: UInt8) -> UInt8 {
    switch letter {
    case 0x62: 0x08
    case 0x66: 0x0C
    case 0x6E: 0x0A
    case 0x72: 0x0D
    case 0x74: 0x09
    default: letter
    }
  }

  private static func append(_ scalar: UInt32, to target: MutableByteView, at start: Int) -> Int {
    guard let encoded = UnicodeScalar(scalar).flatMap({ UTF8.encode($0) }) else { return start }
    var end = start
    for byte in encoded {
      target[end] = byte
      end += 1
    }
    return end
  }
}
