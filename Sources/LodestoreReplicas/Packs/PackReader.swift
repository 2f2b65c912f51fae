internal import LodestoreBytes
internal import LodestoreDatasets
package import LodestoreFormat

/// The content of one block of an entry.
package enum PackItem: Sendable, Equatable {
  /// Consecutive steps.
  case steps([ReplayStep])
  case bucket(ReplayBucket)
  case end(UnitEnd)
}

/// Reads the body of an entry, one block at a time.
///
/// The reader holds one unpacked block: about 1 MiB, and at most 128 MiB.
package struct PackReader: ~Copyable {
  private let entry: LogEntry
  private let decoder: ZstdDecoder
  private var offset: Int
  private var unpackedLength: UInt64 = 0
  private var counts = BlockCounts()
  private var last: ReplayStep?

  package init(_ entry: LogEntry) throws(PackError) {
    self.entry = entry
    offset = entry.bodyStart
    do throws(DatasetError) {
      decoder = try ZstdDecoder()
    } catch { throw PackError(.compression, error.message) }
  }

  /// Reads the next block; `nil` after the last one.
  ///
  /// - Throws: `PackError` with the code `damaged` or `newerFormat`; the reader is then useless.
  package mutating func next() throws(PackError) -> PackItem? {
    guard offset < entry.bytes.count else {
      try checkEnd()
      return nil
    }
    let block = try unpack()
    // The hash of the body fits, so a newer program has written the block.
    guard Self.kinds.contains(block[0]) else {
      throw .newer(
        "the entry of slot \(entry.head.slot)", "a block has the unknown kind \(block[0])",
        slot: entry.head.slot)
    }
    let decoded: PackItem
    do throws(FormatError) {
      decoded = try block._withBytes { (bytes) throws(FormatError) in
        try decode(bytes)
      }
    } catch { throw damaged("\(error)") }
    if case .steps(let steps) = decoded { try check(steps) }
    return decoded
  }

  private static let kinds = [StepEncoder.kind, BucketBlock.kind, UnitEnd.kind]

  private func damaged(_ reason: String) -> PackError {
    .damaged("the entry of slot \(entry.head.slot)", reason, slot: entry.head.slot)
  }

  private mutating func unpack() throws(PackError) -> [UInt8] {
    let bytes = entry.bytes
    guard bytes.count - offset >= 8 else { throw damaged("a block has no lengths") }
    let (length, unpacked) = bytes._withBytes {
      (Int($0.uint32(at: offset)), Int($0.uint32(at: offset + 4)))
    }
    offset += 8
    guard length > 0, length <= bytes.count - offset, unpacked > 0, unpacked <= PackLimits.block,
      UInt64(unpacked) <= entry.head.unpackedLength - unpackedLength
    else { throw damaged("a block has wrong lengths") }
    let start = offset
    let decoder = decoder
    // The decoder refuses a frame that states another length before it writes any byte.
    var fault: String?
    let block = [UInt8](unsafeUninitializedCapacity: unpacked) { output, count in
      fault = bytes._withBytes {
        decoder.unpack($0[start..<start + length], to: MutableByteView(output))
      }
      count = fault == nil ? unpacked : 0
    }
    if let fault { throw damaged("a block is no zstd frame: \(fault)") }
    offset += length
    unpackedLength += UInt64(unpacked)
    return block
  }

  private mutating func decode(_ block: ByteView) throws(FormatError) -> PackItem {
    switch block[0] {
    case StepEncoder.kind:
      let limit = UInt64(PackLimits.deletedRecords) - counts.deletedRecords
      var decoder = try StepDecoder(block[1...], deletedLimit: limit)
      let steps = try decoder.steps()
      counts += decoder.counts
      return .steps(steps)
    case BucketBlock.kind: return .bucket(try BucketBlock.decode(block[1...]))
    case UnitEnd.kind: return .end(try UnitEnd(decoding: block[1...]))
    default: throw FormatError("a block has the unknown kind \(block[0])")
    }
  }

  // MARK: Checks

  /// Checks that the writes ascend within those of the head.
  private mutating func check(_ steps: [ReplayStep]) throws(PackError) {
    let firstWrite = entry.head.firstWrite ?? 1
    for step in steps {
      let follows =
        if let last, last.continues { step.writes == last.writes } else {
          step.writes.lowerBound > last?.writes.upperBound ?? firstWrite - 1
        }
      guard follows, step.writes.upperBound <= entry.head.lastWrite else {
        throw damaged("its writes do not ascend, or are not those of its head")
      }
      last = step
    }
  }

  private func checkEnd() throws(PackError) {
    let head = entry.head
    guard counts.steps == head.stepCount, counts.changes == head.changeCount,
      unpackedLength == head.unpackedLength
    else { throw damaged("it has other counts of changes than its head") }
    guard head.part.continues || !(last?.continues ?? false) else {
      throw damaged("its last write is not complete")
    }
  }
}

extension LogEntry {
  /// Reads all steps and buckets, for entries that are known to be small.
  package func content() throws(PackError) -> (steps: [ReplayStep], buckets: [ReplayBucket]) {
    var reader = try PackReader(self)
    var steps: [ReplayStep] = []
    var buckets: [ReplayBucket] = []
    while let item = try reader.next() {
      switch item {
      case .steps(let some): steps += some
      case .bucket(let bucket): buckets.append(bucket)
      case .end: break
      }
    }
    return (steps, buckets)
  }
}
