internal import LodestoreFormat

/// The columns of a block of steps, in the order of the block.
enum StepColumn: Int, CaseIterable {
  case texts, flags, writes, times, authors, contexts, counts
  case replaced, entities, ids, lengths, records
  case deleted, links, nextIDs
}

/// The numbers of steps and changes in some blocks.
struct BlockCounts: Equatable {
  var steps: UInt64 = 0
  var changes: UInt64 = 0
  var deletedRecords: UInt64 = 0

  static func += (sum: inout BlockCounts, other: BlockCounts) {
    sum.steps += other.steps
    sum.changes += other.changes
    sum.deletedRecords += other.deletedRecords
  }
}

/// The flags of a step.
enum StepFlag {
  /// The next step continues the same writes.
  static let continues: UInt64 = 1
  /// The step has several writes.
  static let spans: UInt64 = 2
  static let all: UInt64 = 3
}

/// The kinds of groups of links, by the numbers that they have in a block.
enum StepLinks {
  static let kinds: [HistoryPart.Links.Kind] = [.added, .removed, .moved]
}

/// Encodes steps to the columns of one block.
///
/// Every number is a difference to the number before it in its column, so that equal steps have
/// equal bytes and libzstd finds the repetition.
struct StepEncoder {
  private var columns = [Column](repeating: Column(), count: StepColumn.allCases.count)
  private(set) var counts = BlockCounts()
  /// The number of each text; by bytes, because equal strings may have different bytes.
  private var texts: [[UInt8]: UInt64] = [:]
  private var lastWrite: UInt64 = 0
  private var lastTime: UInt64 = 0
  private var lastRecord = LastIDs()
  private var lastDeleted = LastIDs()
  private var lastFrom = LastIDs()
  private var lastTo = LastIDs()

  /// The first byte of a block of steps.
  static let kind: UInt8 = 1

  /// The number of bytes so far.
  private(set) var byteCount = 0

  var isEmpty: Bool { counts.steps == 0 }

  private subscript(column: StepColumn) -> Column {
    get { columns[column.rawValue] }
    _modify { yield &columns[column.rawValue] }
  }

  mutating func add(_ step: ReplayStep) throws(FormatError) {
    guard step.time.isFinite, step.writes.lowerBound > 0,
      step.writes.upperBound <= PackLimits.write
    else { throw FormatError("a step has no finite time or no valid numbers of writes") }
    let spans = step.writes.lowerBound < step.writes.upperBound
    self[.flags].append(
      (step.continues ? StepFlag.continues : 0) | (spans ? StepFlag.spans : 0))
    self[.writes].append(step.writes.lowerBound, after: lastWrite)
    if spans { self[.writes].append(step.writes.upperBound - step.writes.lowerBound) }
    lastWrite = step.writes.upperBound
    self[.times].append(step.time.bitPattern, after: lastTime)
    lastTime = step.time.bitPattern
    self[.authors].append(number(of: step.author))
    self[.contexts].append(number(of: step.context))
    for count in [
      step.replacedEntities.count, step.replacedRelationships.count, step.records.count,
      step.deleted.count, step.links.count, step.nextIDs.count,
    ] { self[.counts].append(count: count) }
    for entity in step.replacedEntities { self[.replaced].append(UInt64(entity.rawValue)) }
    for relationship in step.replacedRelationships {
      self[.replaced].append(UInt64(relationship))
    }
    for records in step.records { add(records) }
    for deleted in step.deleted { add(deleted) }
    for links in step.links { add(links) }
    for (entity, next) in step.nextIDs.sorted(by: { $0.key < $1.key }) {
      self[.nextIDs].append(UInt64(entity.rawValue))
      self[.nextIDs].append(next)
    }
    counts.steps += 1
    byteCount = columns.reduce(0) { $0 + $1.bytes.count }
  }

  /// The number of a text in the block, from 1; 0 for none.
  private mutating func number(of text: String?) -> UInt64 {
    guard let text else { return 0 }
    let bytes = Array(text.utf8)
    if let number = texts[bytes] { return number }
    self[.texts].append(text: text)
    let number = UInt64(texts.count + 1)
    texts[bytes] = number
    return number
  }

  private mutating func add(_ records: ReplayStep.Records) {
    let entity = records.entity.rawValue
    self[.entities].append(UInt64(entity))
    self[.entities].append(count: records.ids.count)
    var last = lastRecord[entity]
    for id in records.ids {
      self[.ids].append(id, after: last)
      last = id
    }
    lastRecord[entity] = last
    var start = 0
    for end in records.ends {
      self[.lengths].append(count: end - start)
      start = end
    }
    self[.records].bytes.append(contentsOf: records.bytes)
    counts.changes += UInt64(records.ids.count)
  }

  private mutating func add(_ deleted: ReplayStep.Deleted) {
    let entity = deleted.entity.rawValue
    let runs = deleted.ids.normalized
    self[.deleted].append(UInt64(entity))
    self[.deleted].append(count: runs.ranges.count)
    var end = lastDeleted[entity]
    for run in runs.ranges {
      self[.deleted].append(run.lowerBound, after: end)
      self[.deleted].append(UInt64(run.count) - 1)
      end = run.upperBound
    }
    lastDeleted[entity] = end
    counts.changes += UInt64(runs.count)
    counts.deletedRecords += UInt64(runs.count)
  }

  private mutating func add(_ links: HistoryPart.Links) {
    let number = links.relationship
    self[.links].append(UInt64(number))
    self[.links].append(UInt64(StepLinks.kinds.firstIndex(of: links.kind) ?? 0))
    self[.links].append(count: links.pairs.count)
    var last = LinkPair(from: lastFrom[number], to: lastTo[number])
    for pair in links.pairs {
      self[.links].append(pair.from, after: last.from)
      self[.links].append(pair.to, after: last.to)
      last = pair
    }
    lastFrom[number] = last.from
    lastTo[number] = last.to
    counts.changes += UInt64(links.pairs.count)
  }

  /// The bytes of the block.
  func encoded() -> [UInt8] {
    var block = Column()
    block.bytes.reserveCapacity(byteCount + 128)
    block.bytes.append(Self.kind)
    block.append(counts.steps)
    for column in columns {
      block.append(count: column.bytes.count)
      block.bytes.append(contentsOf: column.bytes)
    }
    return block.bytes
  }
}
