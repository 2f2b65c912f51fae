import LodestoreBytes
internal import LodestoreFormat
import LodestoreSystem

/// LMDB's two orders of keys: of bytes, and of integer keys.
package enum EngineKeyOrder {
  /// Whether `one` comes before `other`; integer keys of a wrong length, a finding of their own, compare
  /// by their bytes.
  package static func precedes(_ one: ByteView, _ other: ByteView, _ areIntegers: Bool) -> Bool {
    if areIntegers, one.count == 8, other.count == 8 {
      return one.uint64(at: 0) < other.uint64(at: 0)
    }
    let common = min(one.count, other.count)
    if let start = one.baseAddress, let otherStart = other.baseAddress, common > 0 {
      let order = memcmp(start, otherStart, common)
      if order != 0 { return order < 0 }
    }
    return one.count < other.count
  }
}
