internal import LodestoreBytes
internal import LodestoreFormat

/// Decodes the steps of one block.
struct StepDecoder {
  private var columns: [ColumnReader] = []
  private let stepCount: UInt64
  private var texts: [String] = []
  private(set) var counts = BlockCounts()
  private let deletedLimit: UInt64
  private var lastWrite: UInt64 = 0
  private var lastTime: UInt64 = 0
  private var lastRecord = LastIDs()
  private var lastDeleted = LastIDs()
  private var lastFrom = LastIDs()
  private var lastTo = LastIDs()

  private static let names: [StaticString] = [
    "texts", "flags", "writes", "times", "authors", "contexts", "counts", "replaced", "entities",
    "ids", "lengths", "records", "deleted", "links", "nextIDs",
  ]

  /// - Parameters:
  ///   - block: The bytes after the kind, which must outlive the decoder.
  ///   - deletedLimit: The number of deleted records that the block may have.
  init(_ block: ByteView, deletedLimit: UInt64) throws(FormatError) {
    self.deletedLimit = deletedLimit
    var reader = ColumnReader(block, "block")
    stepCount = try reader.next()
    for name in Self.names {
      columns.append(ColumnReader(try reader.take(try reader.count()), name))
    }
    try reader.requireEnd()
    while !self[.texts].isAtEnd { texts.append(try self[.texts].text()) }
  }

  private subscript(column: StepColumn) -> ColumnReader {
    get { columns[column.rawValue] }
    _modify { yield &columns[column.rawValue] }
  }

  /// Decodes all steps.
  mutating func steps() throws(FormatError) -> [ReplayStep] {
    var steps: [ReplayStep] = []
    while counts.steps < stepCount {
      steps.append(try step())
      counts.steps += 1
    }
    for column in columns { try column.requireEnd() }
    return steps
  }

  private mutating func step() throws(FormatError) -> ReplayStep {
    let flags = try self[.flags].next()
    guard flags <= StepFlag.all else { throw self[.flags].fault("has the unknown flags \(flags)") }
    let first = try self[.writes].next(after: lastWrite)
    let more = flags & StepFlag.spans == 0 ? 0 : try self[.writes].next()
    guard first > 0, first <= PackLimits.write, more <= PackLimits.write - first,
      (more > 0) == (flags & StepFlag.spans != 0)
    else { throw self[.writes].fault("has a number that no write has") }
    lastWrite = first + more
    lastTime = try self[.times].next(after: lastTime)
    let time = Double(bitPattern: lastTime)
    guard time.isFinite else { throw self[.times].fault("has a time that is not finite") }
    var step = ReplayStep(
      writes: first...lastWrite, time: time, author: try text(.authors),
      context: try text(.contexts))
    step.continues = flags & StepFlag.continues != 0
    let replacedEntities = try self[.counts].count()
    let replacedRelationships = try self[.counts].count()
    let records = try self[.counts].count()
    let deleted = try self[.counts].count()
    let links = try self[.counts].count()
    let nextIDs = try self[.counts].count()
    step.replacedEntities = try replaced(replacedEntities).map { EntityNumber($0) }
    step.replacedRelationships = try replaced(replacedRelationships)
    for _ in 0..<records { step.records.append(try self.records()) }
    for _ in 0..<deleted { step.deleted.append(try self.deleted()) }
    for _ in 0..<links { step.links.append(try self.links()) }
    try readNextIDs(nextIDs, to: &step)
    return step
  }

  private mutating func text(_ column: StepColumn) throws(FormatError) -> String? {
    let number = try self[column].next()
    if number == 0 { return nil }
    guard number <= UInt64(texts.count) else { throw self[column].fault("has an unknown text") }
    return texts[Int(number) - 1]
  }

  /// Reads ascending numbers of entities or relationships that a step replaces.
  private mutating func replaced(_ count: Int) throws(FormatError) -> [UInt32] {
    var numbers: [UInt32] = []
    for _ in 0..<count {
      let number = try self[.replaced].number32()
      guard number > numbers.last ?? 0 else {
        throw self[.replaced].fault("has numbers that do not ascend")
      }
      numbers.append(number)
    }
    return numbers
  }

  // MARK: Records

  private mutating func records() throws(FormatError) -> ReplayStep.Records {
    let entity = try self[.entities].number32()
    let count = try self[.entities].count()
    guard count > 0 else { throw self[.entities].fault("has an entity without records") }
    var records = ReplayStep.Records(of: EntityNumber(entity))
    var last = lastRecord[entity]
    for index in 0..<count {
      let id = try self[.ids].next(after: last)
      guard Self.isID(id), index == 0 || id > last else {
        throw self[.ids].fault("has ids that do not ascend, or are none")
      }
      last = id
      let length = try self[.lengths].count()
      guard length >= RecordLayout.headerSize + RecordLayout.checksumSize else {
        throw self[.lengths].fault("has a record of \(length) bytes")
      }
      records.append(id, try self[.records].take(length).unsafeBytes)
    }
    lastRecord[entity] = last
    counts.changes += UInt64(count)
    return records
  }

  private mutating func deleted() throws(FormatError) -> ReplayStep.Deleted {
    let entity = try self[.deleted].number32()
    let count = try self[.deleted].count()
    guard count > 0 else { throw self[.deleted].fault("has an entity without deleted records") }
    var runs = IDRuns()
    var end = lastDeleted[entity]
    for index in 0..<count {
      let start = try self[.deleted].next(after: end)
      let more = try self[.deleted].next()
      guard Self.isID(start), index == 0 || start > end, more < 1 << 63 - start else {
        throw self[.deleted].fault("has runs of ids that do not ascend, or have what is no id")
      }
      guard more < deletedLimit - counts.deletedRecords else {
        throw self[.deleted].fault("has more than \(PackLimits.deletedRecords) records")
      }
      end = start + more + 1
      runs.append(start..<end)
      counts.deletedRecords += more + 1
      counts.changes += more + 1
    }
    lastDeleted[entity] = end
    return ReplayStep.Deleted(entity: EntityNumber(entity), ids: runs)
  }

  // MARK: Links

  private mutating func links() throws(FormatError) -> HistoryPart.Links {
    let relationship = try self[.links].number32()
    let kind = try self[.links].next()
    let count = try self[.links].count()
    guard kind < UInt64(StepLinks.kinds.count), count > 0 else {
      throw self[.links].fault("has links of no kind, or none")
    }
    var pairs: [LinkPair] = []
    var last = LinkPair(from: lastFrom[relationship], to: lastTo[relationship])
    for index in 0..<count {
      let pair = LinkPair(
        from: try self[.links].next(after: last.from), to: try self[.links].next(after: last.to))
      guard Self.isID(pair.from), Self.isID(pair.to), index == 0 || last < pair else {
        throw self[.links].fault("has pairs that do not ascend, or are of no ids")
      }
      pairs.append(pair)
      last = pair
    }
    lastFrom[relationship] = last.from
    lastTo[relationship] = last.to
    counts.changes += UInt64(count)
    return HistoryPart.Links(
      relationship: relationship, kind: StepLinks.kinds[Int(kind)], pairs: pairs)
  }

  private mutating func readNextIDs(
    _ count: Int, to step: inout ReplayStep
  ) throws(FormatError) {
    var last: UInt32 = 0
    for _ in 0..<count {
      let entity = try self[.nextIDs].number32()
      let next = try self[.nextIDs].next()
      guard entity > last, next > 0, next <= 1 << 63 else {
        throw self[.nextIDs].fault("has entities that do not ascend, or a number that is no id")
      }
      step.nextIDs[EntityNumber(entity)] = next
      last = entity
    }
  }

  /// Whether a record can have the id: 1 to 2^63 − 1.
  private static func isID(_ id: UInt64) -> Bool { id > 0 && id < 1 << 63 }
}
