internal import LodestoreBytes
internal import LodestoreFormat

/// The block with the whole content of one bucket after the writes of a unit.
///
/// Buckets have no history, so a unit has the whole content of each bucket that has changed.
enum BucketBlock {
  /// The first byte of the block.
  static let kind: UInt8 = 2

  /// The bytes of the block.
  static func encoded(_ bucket: ReplayBucket) throws(PackError) -> [UInt8] {
    guard bucket.byteCount <= PackLimits.bucket else {
      throw PackError(
        .tooLarge,
        "cannot write the bucket '\(bucket.name)' to a pack: it has \(bucket.byteCount) bytes, at "
          + "most \(PackLimits.bucket) are allowed; move its content to records")
    }
    var block = Column(bytes: [Self.kind])
    block.append(text: bucket.name)
    block.append(count: bucket.pairs.count)
    for pair in bucket.pairs {
      block.append(count: pair.key.count)
      block.append(count: pair.value.count)
    }
    for pair in bucket.pairs { block.bytes += pair.key }
    for pair in bucket.pairs { block.bytes += pair.value }
    return block.bytes
  }

  /// Decodes the bytes after the kind.
  static func decode(_ bytes: ByteView) throws(FormatError) -> ReplayBucket {
    var reader = ColumnReader(bytes, "bucket")
    var bucket = ReplayBucket(name: try reader.text(), pairs: [])
    guard (1...64).contains(bucket.name.utf8.count), !bucket.name.utf8.contains(0) else {
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
      guard bucket.pairs.last.map({ $0.key.lexicographicallyPrecedes(key) }) ?? true else {
        throw reader.fault("has keys that do not ascend")
      }
      bucket.pairs.append(ReplayBucket.Pair(key: key, value: []))
    }
    for (index, length) in lengths.enumerated() {
      bucket.pairs[index].value = Array(try reader.take(length.value))
    }
    try reader.requireEnd()
    guard bucket.byteCount <= PackLimits.bucket else { throw reader.fault("has too many bytes") }
    return bucket
  }
}
