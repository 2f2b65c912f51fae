internal import LodestoreFormat

/// Merges full ranges of slots to net changes, level by level.
///
/// Merged entries save requests of restores. Nothing depends on their existence.
struct SlotMerge: Sendable {
  let client: ReplicaClient
  let replica: UUIDBytes

  /// The unpacked size of all entries beyond which a range stays as it is.
  private static let byteLimit: UInt64 = 256 << 20

  /// Merges the range of level 1 that ends at a slot, and the ranges of higher levels that end
  /// there, too.
  func merge(through slot: UInt64) async throws {
    var length: UInt64 = 1
    for level in 1...ReplicaName.highestLevel {
      let (parts, name) = (length, ReplicaName.mergedSlots(level, containing: slot))
      length *= ReplicaName.mergeFactor
      guard slot % length == 0, let slots = name else { return }
      var entries: [LogEntry] = []
      for first in stride(from: slots.lowerBound, through: slots.upperBound, by: Int(parts)) {
        let part: ReplicaName =
          level == 1
          ? .entry(slot: first) : .merged(level: level - 1, slots: first...first + parts - 1)
        guard let bytes = try await client.object(part) else { return }
        entries.append(try LogEntry(reading: bytes))
      }
      guard let merged = try Self.merged(entries, slots) else { return }
      guard try await client.create(.merged(level: level, slots: slots), merged.bytes) else {
        return
      }
    }
  }

  /// The net changes of consecutive entries; `nil` where they cannot be merged.
  static func merged(
    _ entries: [LogEntry], _ slots: ClosedRange<UInt64>
  ) throws(PackError) -> LogEntry? {
    guard let first = entries.first, let last = entries.last,
      entries.allSatisfy({ $0.head.kind != .base && $0.head.schema == last.head.schema }),
      first.head.part.number == 1, !last.head.part.continues,
      entries.reduce(0, { $0 + $1.head.unpackedLength }) <= byteLimit,
      let lastPack = entries.last(where: { $0.head.kind == .pack }),
      // Parts of a write that a fence has ended count for nothing, so they are not merged.
      zip(entries, entries.dropFirst()).allSatisfy({
        !$0.head.part.continues || $1.head.kind == .pack
      })
    else { return nil }
    let units = ReplayUnit.merged(try ReplayUnit.units(of: entries))
    guard let firstUnit = units.first else { return nil }
    var writer = try PackWriter(level: 6)
    for unit in units {
      try writer.add(unit)
      if writer.isFull { return nil }
    }
    var head = last.head
    head.kind = .pack
    head.previous = first.head.previous
    head.firstWrite = firstUnit.end.after + 1
    head.time = lastPack.head.time
    head.digests = lastPack.head.digests
    head.part = .whole
    head.merged = EntryHead.Merged(
      firstSlot: slots.lowerBound, lastEntry: last.head.merged?.lastEntry ?? last.hash)
    return try LogEntry(head, try writer.finish())
  }
}
