internal import EntityStore
internal import LodestoreBytes
internal import LodestoreFormat

/// A record of an entity or a link of a relationship.
struct MergeKey: Comparable {
  /// 0 for a record, 1 for a link; then the number of the entity or of the relationship.
  private let space: UInt64
  private let first: UInt64
  private let second: UInt64

  init(_ entity: EntityNumber, _ id: UInt64) {
    space = UInt64(entity.rawValue)
    first = id
    second = 0
  }

  init(_ relationship: UInt32, _ pair: LinkPair) {
    space = 1 << 32 | UInt64(relationship)
    first = pair.from
    second = pair.to
  }

  var recordID: UInt64? { space >> 32 == 0 ? first : nil }
  /// The entity of a record, or 0.
  var entity: EntityNumber { EntityNumber(space >> 32 == 0 ? number : 0) }
  /// The number of the entity or of the relationship.
  var number: UInt32 { UInt32(truncatingIfNeeded: space) }
  var pair: LinkPair { LinkPair(from: first, to: second) }

  static func < (a: MergeKey, b: MergeKey) -> Bool {
    if a.space != b.space { return a.space < b.space }
    return a.first != b.first ? a.first < b.first : a.second < b.second
  }
}

/// One change of a record or of a link.
struct MergeChange {
  var key: MergeKey
  /// Whether the record is deleted or the link removed.
  var isRemoved: Bool
  /// The bytes of a record that is put.
  var record: ArraySlice<UInt8>
}

/// Changes in memory, in their order.
struct MergeChanges {
  private struct Entry {
    var key: MergeKey
    /// −1 if the record or link is removed.
    var start: Int
    var count: Int
  }

  private var entries: [Entry] = []
  private var bytes: [UInt8] = []

  var byteCount: Int { entries.count * MemoryLayout<Entry>.stride + bytes.count }

  mutating func append(_ key: MergeKey, isRemoved: Bool, _ record: ArraySlice<UInt8> = []) {
    entries.append(Entry(key: key, start: isRemoved ? -1 : bytes.count, count: record.count))
    bytes.append(contentsOf: record)
  }

  /// The last change of each key, in the order of the keys.
  consuming func sorted() -> MergeChanges {
    // The sort is stable, so the last of equal keys is the last change.
    entries.sort { $0.key < $1.key }
    var count = 0
    for index in entries.indices {
      if index + 1 < entries.count, entries[index + 1].key == entries[index].key { continue }
      entries[count] = entries[index]
      count += 1
    }
    entries.removeLast(entries.count - count)
    return self
  }

  var count: Int { entries.count }

  subscript(index: Int) -> MergeChange {
    let entry = entries[index]
    return MergeChange(
      key: entry.key, isRemoved: entry.start < 0,
      record: entry.start < 0 ? [] : bytes[entry.start..<entry.start + entry.count])
  }
}

/// Reads sorted changes of memory or of a run.
struct MergeSource {
  private var changes: MergeChanges
  private var position = 0
  private var run: MergeRun?
  /// The next change.
  private(set) var current: MergeChange?

  init(_ changes: MergeChanges) {
    self.changes = changes
    current = changes.count > 0 ? changes[0] : nil
  }

  init(_ run: PackBody, writes: ClosedRange<UInt64>) throws(PackError) {
    changes = MergeChanges()
    self.run = try MergeRun(run, writes: writes)
    try refill()
  }

  mutating func next() throws(PackError) -> MergeChange? {
    guard let change = current else { return nil }
    position += 1
    if position < changes.count { current = changes[position] } else { try refill() }
    return change
  }

  /// Reads the next block of a run.
  private mutating func refill() throws(PackError) {
    current = nil
    position = 0
    while let steps = try run?.next() {
      var block = MergeChanges()
      for step in steps { block.append(step) }
      changes = block.sorted()
      if changes.count > 0 {
        current = changes[0]
        return
      }
    }
  }
}

/// A packed run.
private final class MergeRun {
  private var reader: PackReader

  init(_ body: PackBody, writes: ClosedRange<UInt64>) throws(PackError) {
    let zero = [UInt8](repeating: 0, count: SchemaFingerprint.size)
    let head = EntryHead(
      .pack, epoch: 1, slot: 1, previous: nil, store: UUIDBytes(high: 0, low: 0),
      session: UUIDBytes(high: 0, low: 0), firstWrite: 1, lastWrite: writes.upperBound, time: 0,
      schema: zero)
    reader = try PackReader(LogEntry(head, body))
  }

  func next() throws(PackError) -> [ReplayStep]? {
    guard case .steps(let steps)? = try reader.next() else { return nil }
    return steps
  }
}

extension MergeChanges {
  mutating func append(_ step: ReplayStep) {
    for records in step.records {
      for (index, id) in records.ids.enumerated() {
        append(
          MergeKey(records.entity, id), isRemoved: false, records.bytes[records.range(at: index)])
      }
    }
    for deleted in step.deleted {
      for id in deleted.ids { append(MergeKey(deleted.entity, id), isRemoved: true) }
    }
    for links in step.links {
      for pair in links.pairs {
        append(MergeKey(links.relationship, pair), isRemoved: links.kind != .added)
      }
    }
  }
}

/// The changes of several sources in the order of their keys; of equal keys that of the last source.
struct MergedChanges {
  private var sources: [MergeSource]

  init(_ sources: [MergeSource]) { self.sources = sources }

  mutating func next() throws(PackError) -> MergeChange? {
    var lowest: MergeKey?
    for source in sources {
      guard let key = source.current?.key else { continue }
      if lowest.map({ key < $0 }) ?? true { lowest = key }
    }
    guard let lowest else { return nil }
    var last: MergeChange?
    for index in sources.indices where sources[index].current?.key == lowest {
      last = try sources[index].next()
    }
    return last
  }
}

/// Makes steps of sorted changes; each step `continues`.
struct MergeBuilder {
  private let empty: ReplayStep
  private var step: ReplayStep
  private var byteCount = 0
  private var deleted: (entity: EntityNumber, ids: IDRuns)?
  private var added: [LinkPair] = []
  private var removed: [LinkPair] = []
  private var relationship: UInt32 = 0

  init(writes: ClosedRange<UInt64>) {
    var empty = ReplayStep(writes: writes, time: 0, author: nil, context: nil)
    empty.continues = true
    self.empty = empty
    step = empty
  }

  /// Appends a change, and returns a full step before it.
  mutating func append(_ change: MergeChange) -> ReplayStep? {
    var full: ReplayStep?
    if byteCount >= PackLimits.fullBlock / 2 { full = takeLast() }
    byteCount += change.record.count + 16
    if let id = change.key.recordID {
      if change.isRemoved {
        if deleted?.entity != change.key.entity { endDeleted() }
        var ids = deleted?.ids ?? IDRuns()
        deleted = nil
        ids.append(id)
        deleted = (change.key.entity, ids)
      } else {
        if step.records.last?.entity != change.key.entity {
          step.records.append(ReplayStep.Records(of: change.key.entity))
        }
        step.records[step.records.count - 1].append(id, change.record)
      }
      return full
    }
    if relationship != change.key.number { endLinks() }
    relationship = change.key.number
    if change.isRemoved { removed.append(change.key.pair) } else { added.append(change.key.pair) }
    return full
  }

  /// The rest of the changes.
  mutating func takeLast() -> ReplayStep {
    endDeleted()
    endLinks()
    byteCount = 0
    defer { step = empty }
    return step
  }

  private mutating func endDeleted() {
    if let deleted, !deleted.ids.isEmpty {
      step.deleted.append(ReplayStep.Deleted(entity: deleted.entity, ids: deleted.ids))
    }
    deleted = nil
  }

  private mutating func endLinks() {
    for (kind, pairs) in [(HistoryPart.Links.Kind.removed, removed), (.added, added)]
    where !pairs.isEmpty {
      step.links.append(
        HistoryPart.Links(relationship: relationship, kind: kind, pairs: pairs))
    }
    removed = []
    added = []
  }
}
