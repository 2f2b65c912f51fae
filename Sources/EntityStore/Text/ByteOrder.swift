internal import LodestoreBytes

/// Compares `count` bytes; returns a negative number, zero or a positive number, as decided by the
/// first differing byte.
@inline(__always)
func compareBytes(_ a: ByteView, _ b: ByteView, _ count: Int) -> Int {
  var i = 0
  while i + 8 <= count {
    let x = a.loadUnaligned(fromByteOffset: i, as: UInt64.self)
    let y = b.loadUnaligned(fromByteOffset: i, as: UInt64.self)
    if x != y { return x.bigEndian < y.bigEndian ? -1 : 1 }
    i += 8
  }
  while i < count {
    let x = a[i]
    let y = b[i]
    if x != y { return x < y ? -1 : 1 }
    i += 1
  }
  return 0
}

/// Compares two keys by their bytes.
///
/// A key that is a prefix of the other comes first.
@inline(__always)
func compareKeys(_ a: ByteView, _ b: ByteView) -> Int {
  let order = compareBytes(a, b, min(a.count, b.count))
  return order != 0 ? order : a.count - b.count
}
