internal import LMDB

/// Finds the heap storage of the strings in a value's memory, to prefetch it.
///
/// Reads the value's words alone: two that look like a native Swift string (its count below the flags of
/// its kind, then the address of its storage) give the address. Should the layout of strings change, or
/// other words look so, a useless line is fetched and nothing else happens.
enum HeldTexts {
  /// Storages of neighbours that are not farther apart are fetched by the processor itself.
  private static let nearby: UInt = 2_048

  /// Prefetches the texts of the value of `byteCount` bytes at `value`.
  static func prefetch(of value: UnsafeRawPointer, byteCount: Int) {
    forEach(in: value, byteCount) { text, count in
      LMDB.prefetch(text, byteCount: min(count, 512))
      return true
    }
  }

  /// Prefetches the texts of the value some elements behind `index`, with their reference counts, which a
  /// copy of the value changes.
  @inline(__always)
  static func prefetch<V>(behind index: Int, of values: UnsafeBufferPointer<V>) {
    let ahead = index &+ 16
    guard ahead < values.count, let start = values.baseAddress else { return }
    prefetchCounted(UnsafeRawPointer(start + ahead), byteCount: MemoryLayout<V>.size)
  }

  /// Calls `body` with each of many values, whose texts may lie anywhere in memory and are prefetched.
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

  /// Whether the first texts of three consecutive values lie in ascending order close to each other, as
  /// after reading them one after the other.
  static func areInOrder(
    from value: UnsafeRawPointer, byteCount: Int, stride: Int
  ) -> Bool {
    let addresses = (first(in: value, byteCount), first(in: value + stride, byteCount))
    let last = first(in: value + 2 * stride, byteCount)
    return addresses.1 &- addresses.0 <= nearby && last &- addresses.1 <= nearby
  }

  /// The address of the first text; 0 where none has storage on the heap.
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
      // The flags of a native string in its object; an address has 47 bits.
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
