import LodestoreBytes

/// The entries that the records of an entity must have in an index, and those that it has, as two sums.
///
/// Equal sums of as many hashes are sums of the same entries, so that no entry has to be looked up. The hash
/// has another seed in each process: no file can be made for it.
struct EntrySums {
  private var expected: UInt64 = 0
  private var expectedCount = 0
  private var found: UInt64 = 0
  private var foundCount = 0

  /// An entry that a record makes.
  mutating func expect(_ key: ByteView, of id: UInt64) {
    expected &+= Self.hash(key, id)
    expectedCount += 1
  }

  /// An entry of the index.
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
