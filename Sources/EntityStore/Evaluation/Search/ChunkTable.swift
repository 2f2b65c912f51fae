/// Values of chunks of records by the chunk's number.
///
/// Most ids are low, so that the values of low numbers are in an array.
struct ChunkTable<Value> {
  private var low: [Value?] = []
  private var high: [UInt64: Value] = [:]

  private static var lowCount: UInt64 { 1 << 16 }

  @inline(__always)
  subscript(number: UInt64) -> Value? {
    get {
      if number < UInt64(low.count) { return low[Int(number)] }
      return number < Self.lowCount ? nil : high[number]
    }
    set {
      guard number < Self.lowCount else {
        high[number] = newValue
        return
      }
      while low.count <= Int(number) { low.append(nil) }
      low[Int(number)] = newValue
    }
  }

  /// The numbers with their values, ascending.
  var sorted: [(number: UInt64, value: Value)] {
    low.enumerated().compactMap { index, value in value.map { (UInt64(index), $0) } }
      + high.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
