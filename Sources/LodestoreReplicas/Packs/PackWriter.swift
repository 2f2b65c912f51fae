internal import LodestoreBytes
internal import LodestoreDatasets
package import LodestoreFormat

/// Packs steps into the body of an entry.
///
/// A body is a sequence of blocks. A block has the columns of some steps, about 1 MiB, compressed
/// as one zstd frame. The writer holds one block that is not compressed.
package struct PackWriter: ~Copyable {
  private let encoder: ZstdEncoder
  private var block = StepEncoder()
  private var body: [UInt8] = []
  private var counts = BlockCounts()
  private var unpackedLength: UInt64 = 0

  /// - Parameter level: The level of libzstd, from 1 to 19.
  package init(level: Int = 3) throws(PackError) {
    do throws(DatasetError) {
      encoder = try ZstdEncoder(level: level)
    } catch { throw PackError(.compression, error.message) }
  }

  /// The number of bytes so far: those of full blocks compressed, those of the last block as they
  /// are.
  package var byteCount: Int { body.count + block.byteCount }

  /// Whether the body should end: a further step of at most 16 MiB still fits.
  package var isFull: Bool {
    byteCount >= PackLimits.fullBody
      || unpackedLength + UInt64(block.byteCount) >= UInt64(PackLimits.unpacked / 2)
  }

  package var isEmpty: Bool { body.isEmpty && block.isEmpty }

  /// Adds a step.
  ///
  /// - Throws: `PackError`; the writer is then useless. The code is `tooLarge` for a step whose
  ///   block has more than 128 MiB.
  package mutating func add(_ step: ReplayStep) throws(PackError) {
    do throws(FormatError) {
      try block.add(step)
    } catch { throw PackError(.damaged, "cannot pack write \(step.writes.upperBound): \(error)") }
    if block.byteCount >= PackLimits.fullBlock { try endBlock() }
  }

  /// Adds the content of a bucket.
  package mutating func add(_ bucket: ReplayBucket) throws(PackError) {
    try endBlock()
    try append(try BucketBlock.encoded(bucket))
  }

  /// Adds the buckets and the other facts about the end of a unit, after its steps.
  package mutating func add(_ end: ReplayEnd) throws(PackError) {
    for bucket in end.buckets { try add(bucket) }
    try endBlock()
    let block: [UInt8]
    do throws(FormatError) {
      block = try UnitEnd(end).encoded()
    } catch { throw PackError(.damaged, "cannot pack write \(end.last): \(error)") }
    try append(block)
  }

  /// Ends the body.
  package consuming func finish() throws(PackError) -> PackBody {
    try endBlock()
    return PackBody(
      bytes: body, changeCount: counts.changes, stepCount: counts.steps,
      unpackedLength: unpackedLength)
  }

  private mutating func endBlock() throws(PackError) {
    if block.isEmpty { return }
    counts += block.counts
    guard counts.deletedRecords <= UInt64(PackLimits.deletedRecords) else {
      throw PackError(
        .tooLarge,
        "cannot pack \(counts.deletedRecords) deleted records in one entry, at most "
          + "\(PackLimits.deletedRecords) are allowed; write a base instead")
    }
    try append(block.encoded())
    block = StepEncoder()
  }

  /// Appends a compressed block after the two lengths.
  private mutating func append(_ block: [UInt8]) throws(PackError) {
    unpackedLength += UInt64(block.count)
    guard block.count <= PackLimits.block, unpackedLength <= UInt64(PackLimits.unpacked) else {
      throw PackError(
        .tooLarge,
        "cannot pack a block of \(block.count) bytes, at most \(PackLimits.block) are allowed, and "
          + "\(PackLimits.unpacked) in one entry; write fewer or smaller records at a time")
    }
    let limit = ZstdEncoder.limit(of: block.count)
    let start = body.count + 8
    var count = 0
    let encoder = encoder
    do throws(DatasetError) {
      body.append(contentsOf: repeatElement(0, count: 8 + limit))
      count = try body._withMutableBytes { (body) throws(DatasetError) in
        try block._withBytes { (block) throws(DatasetError) in
          try encoder.pack(block, to: body[start..<start + limit]) ?? 0
        }
      }
    } catch { throw PackError(.compression, error.message) }
    guard count > 0 else { throw PackError(.compression, "libzstd has made an empty frame") }
    body.removeLast(limit - count)
    body.replaceSubrange(
      start - 8..<start,
      with: littleEndianBytes(UInt32(count)) + littleEndianBytes(UInt32(block.count)))
  }
}
