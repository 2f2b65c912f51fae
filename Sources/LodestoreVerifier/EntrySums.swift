import LodestoreBytes

/// Two sums of hashes for one index: of the entries that the records require, and of the entries
/// found.
///
/// If both sums cover equally many entries and are equal, the entries are the same, and none has to
/// be looked up. The hash has another seed in each process, so no file can be crafted for it.
struct EntrySums {
  private var expected: UInt64 = 0
  private var expectedCount = 0
  private var found: UInt64 = 0
  private var foundCount = 0

  /// Adds an entry that a record requires.
  mutating func expect(_ key: ByteView, of id: UInt64) {
    expected &+= Self.hash(key, id)
    expectedCount += 1
  }

  /// Adds an entry found in the index.
  mutating func find(_ key: ByteView, of id: UInt64) {
    found &+= Self.hash(key, id)
    foundCount += 1
  }

  var areEqual: Bool { expected == found && expectedCount == foundCount }

  private static func hash(_ key: ByteView, _ id: UInt64) -> UInt64 {
    var hasher = Hasher()
    hasher._combine(bytes: key)
    hasher.combine(id)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}
