import LodestoreBytes
internal import LodestoreFormat
import LodestoreSystem

/// LMDB's two key orders: by bytes, and by integer.
package enum EngineKeyOrder {
  /// Whether `one` comes before `other`.
  ///
  /// Integer keys of a wrong length, which are reported separately, compare by their bytes.
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
