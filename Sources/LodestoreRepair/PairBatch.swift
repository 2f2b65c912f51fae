/// Pairs collected in memory until there are enough for a commit.
struct PairBatch<Key> {
  static var mostBytes: Int { 16 << 20 }

  private var pairs: [(key: Key, body: [UInt8])] = []
  private var byteCount = 0

  var isFull: Bool { byteCount >= Self.mostBytes }

  mutating func add(_ key: Key, _ body: [UInt8]) {
    pairs.append((key, body))
    byteCount += body.count
  }

  /// Removes and returns the collected pairs.
  mutating func take() -> [(key: Key, body: [UInt8])] {
    defer { self = PairBatch() }
    return pairs
  }
}
