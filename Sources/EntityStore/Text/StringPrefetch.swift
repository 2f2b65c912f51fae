internal import LMDB

/// Finds the heap storage of strings in a value's memory, in order to prefetch it.
///
/// Only the 8-byte words of the value itself are read, not the storage that they point to. Two
/// words give an address if they look like a native Swift string. Its words are the count below the
/// flags of its kind, and the address of its storage. If the layout of strings changes, or other
/// words look similar, a useless cache line is fetched, with no other effect.
enum StringPrefetch {
  /// The largest distance in bytes between consecutive texts at which the processor prefetches the
  /// next text by itself.
  private static let nearby: UInt = 2_048

  /// Prefetches the texts in the `byteCount` bytes at `value`.
  static func prefetch(of value: UnsafeRawPointer, byteCount: Int) {
    forEach(in: value, byteCount) { text, count in
      LMDB.prefetch(text, byteCount: min(count, 512))
      return true
    }
  }

  /// Prefetches the texts of a later element of `values`, including their reference counts, which a
  /// copy of the element changes.
  @inline(__always)
  static func prefetch<V>(behind index: Int, of values: UnsafeBufferPointer<V>) {
    let ahead = index &+ 16
    guard ahead < values.count, let start = values.baseAddress else { return }
    prefetchCounted(UnsafeRawPointer(start + ahead), byteCount: MemoryLayout<V>.size)
  }

  /// Calls `body` with each of many values, whose texts may lie anywhere in memory and are
  /// prefetched.
  @inline(__always)
  static func forEach<V, E: Error>(_ values: [V], _ body: (V) throws(E) -> Void) throws(E) {
    try values.withUnsafeBufferPointer { (values) throws(E) in
      for index in values.indices {
        prefetch(behind: index, of: values)
        try body(values[index])
      }
    }
  }

  /// Returns the results of `transform` for many values, whose texts are prefetched too.
  @inline(__always)
  static func map<V, R, E: Error>(_ values: [V], _ transform: (V) throws(E) -> R) throws(E) -> [R] {
    var results: [R] = []
    results.reserveCapacity(values.count)
    try forEach(values) { (value) throws(E) in results.append(try transform(value)) }
    return results
  }

  private static func prefetchCounted(_ value: UnsafeRawPointer, byteCount: Int) {
    forEach(in: value, byteCount) { text, count in
      LMDB.prefetch(text - 24, byteCount: min(count &+ 24, 512))
      return true
    }
  }

  /// Returns whether the first texts of three consecutive values have addresses that ascend in
  /// small steps.
  ///
  /// Memory is laid out in this way for texts that were created one after the other.
  static func areInOrder(from value: UnsafeRawPointer, byteCount: Int, stride: Int) -> Bool {
    let addresses = (first(in: value, byteCount), first(in: value + stride, byteCount))
    let last = first(in: value + 2 * stride, byteCount)
    return addresses.1 &- addresses.0 <= nearby && last &- addresses.1 <= nearby
  }

  /// Returns the address of the first text, or 0 if none is on the heap.
  private static func first(in value: UnsafeRawPointer, _ byteCount: Int) -> UInt {
    var address: UInt = 0
    forEach(in: value, byteCount) { text, _ in
      address = UInt(bitPattern: text)
      return false
    }
    return address
  }

  @inline(__always)
  private static func forEach(
    in value: UnsafeRawPointer, _ byteCount: Int, _ body: (UnsafeRawPointer, Int) -> Bool
  ) {
    guard byteCount >= 16 else { return }
    var word = value.loadUnaligned(as: UInt64.self)
    var offset = 8
    while offset &+ 8 <= byteCount {
      let next = value.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      // The flags show a native string whose bytes are in its object. An address has 47 bits.
      if word &>> 48 & 0x3fff == 0x3000, next &>> 47 == 0, next > 0xffff,
        let object = UnsafeRawPointer(bitPattern: UInt(truncatingIfNeeded: next)),
        !body(object + 32, Int(truncatingIfNeeded: word & 0xffff_ffff))
      {
        return
      }
      word = next
      offset &+= 8
    }
  }
}
