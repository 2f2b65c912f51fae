internal import LMDB
internal import LodestoreBytes

/// Entries taken out of an index in order, to be put back after the entries that come before them.
///
/// LMDB splits a full page in its middle, except when an entry comes after all others of the page.
/// In that case the page stays full. So if the entries after a run of new ones are taken out of the
/// way, the run fills its pages.
struct LiftedEntries: ~Copyable {
  /// The bytes of all entries: for each entry its key, followed by its value.
  private var bytes: [UInt8] = []
  private var ends: [(key: Int, value: Int)] = []
  /// The index of the first entry that has not been put back.
  private var first = 0

  var isEmpty: Bool { first == ends.count }

  /// Returns the number of bytes that an entry takes in a page of LMDB.
  static func size(_ key: ByteView, _ value: ByteView) -> Int {
    // The entry has a node header and a slot, and nodes begin at even offsets.
    (8 + key.count + value.count + 1) & ~1 + 2
  }

  mutating func append(_ key: ByteView, _ value: ByteView) {
    bytes.append(contentsOf: key)
    let keyEnd = bytes.count
    bytes.append(contentsOf: value)
    ends.append((keyEnd, bytes.count))
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    first = 0
  }

  mutating func removeFirst() { first += 1 }

  /// Calls `body` with the first entry.
  func withFirst<R, E: Error>(
    _ body: (_ key: ByteView, _ value: ByteView) throws(E) -> R
  ) throws(E) -> R {
    let start = first == 0 ? 0 : ends[first - 1].value
    let (keyEnd, end) = ends[first]
    return try bytes._withBytes { (bytes) throws(E) in
      try body(
        bytes[start..<keyEnd], bytes[keyEnd..<end])
    }
  }

  /// Returns the order of the first entry's key relative to `key`.
  func order(to key: ByteView) -> Int { withFirst { first, _ in Int(compareKeys(first, key)) } }
}
