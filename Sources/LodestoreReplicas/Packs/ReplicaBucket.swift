internal import LodestoreBytes
internal import LodestoreFormat

/// The whole content of a bucket after the writes of an entry.
///
/// Buckets have no history, so an entry has the whole content of each bucket that has changed.
package struct ReplicaBucket: Sendable, Equatable {
  package struct Pair: Sendable, Equatable {
    package var key: [UInt8]
    package var value: [UInt8]

    package init(key: [UInt8], value: [UInt8]) {
      self.key = key
      self.value = value
    }
  }

  package var name: String
  /// The pairs in ascending order of their keys; none if the bucket is gone.
  package var pairs: [Pair]

  package init(name: String, pairs: [Pair]) {
    self.name = name
    self.pairs = pairs
  }

  /// The number of bytes of all keys and values.
  package var byteCount: Int { pairs.reduce(0) { $0 + $1.key.count + $1.value.count } }

  /// The first byte of a block of a bucket.
  static let kind: UInt8 = 2

  /// The bytes of the block.
  func encoded() throws(PackError) -> [UInt8] {
    guard byteCount <= PackLimits.bucket else {
      throw PackError(
        .tooLarge,
        "cannot write the bucket '\(name)' to a pack: it has \(byteCount) bytes, at most "
          + "\(PackLimits.bucket) are allowed; move its content to records")
    }
    var block = Column(bytes: [Self.kind])
    block.append(text: name)
    block.append(count: pairs.count)
    for pair in pairs {
      block.append(count: pair.key.count)
      block.append(count: pair.value.count)
    }
    for pair in pairs { block.bytes += pair.key }
    for pair in pairs { block.bytes += pair.value }
    return block.bytes
  }

  /// Decodes the bytes after the kind.
  init(decoding bytes: ByteView) throws(FormatError) {
    var reader = ColumnReader(bytes, "bucket")
    name = try reader.text()
    pairs = []
    guard (1...64).contains(name.utf8.count), !name.utf8.contains(0) else {
      throw reader.fault("has a name that no bucket has")
    }
    var lengths: [(key: Int, value: Int)] = []
    for _ in 0..<(try reader.count()) {
      lengths.append((try reader.count(), try reader.count()))
      guard (1...400).contains(lengths[lengths.count - 1].key) else {
        throw reader.fault("has a key that no bucket has")
      }
    }
    for length in lengths {
      let key = Array(try reader.take(length.key))
      guard pairs.last.map({ $0.key.lexicographicallyPrecedes(key) }) ?? true else {
        throw reader.fault("has keys that do not ascend")
      }
      pairs.append(Pair(key: key, value: []))
    }
    for (index, length) in lengths.enumerated() {
      pairs[index].value = Array(try reader.take(length.value))
    }
    try reader.requireEnd()
    guard byteCount <= PackLimits.bucket else { throw reader.fault("has too many bytes") }
  }
}
