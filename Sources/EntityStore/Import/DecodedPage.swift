internal import LodestoreBytes
internal import LodestoreEssentials
internal import LodestoreFormat

/// A page that has been decoded into records of the entity, to be written.
struct DecodedPage: Sendable {
  /// The position of a record in its page.
  struct Origin: Sendable {
    /// From 1.
    var record: Int
    /// From the start of the file, or of the page where that is of none.
    var byteOffset: Int?
    /// From 1; nil where it is not known.
    var line: Int?

    init(record: Int, byteOffset: Int?, line: Int? = nil) {
      self.record = record
      self.byteOffset = byteOffset
      self.line = line
    }
  }

  /// From 1.
  let number: Int
  var batch: IncomingRecords
  /// The origins of the batch's records.
  var origins: [Origin] = []
  var rejects: [ImportReport.Reject] = []
  var unknownMembers: [(name: String, count: Int)] = []
  /// The file of the page; nil where it is of none.
  private(set) var file: String?
  var warnings: [String] = []
  /// The keys of the records that members lead to.
  var links: [LinkKeys] = []
  var byteCount = 0
  /// The facts by which the source can later say that the page has not changed.
  var memory: PageMemory?
  var next: String?
  /// How many pages the source says that it has.
  var totalPages: Int?
  /// Whether the source gives positions to continue from, and so tells where it ends.
  var isFromSource = false
  /// Whether the source said that the page has not changed since it was remembered.
  var isUnchanged = false
  var decodingSeconds = 0.0
  /// The checksum of all pages up to this one.
  var digest: UInt32 = 0

  init(number: Int, entity: StoredEntity) {
    self.number = number
    batch = IncomingRecords(entity.layout)
  }

  /// A page of a source, of which `decode` takes the records.
  init(
    _ incoming: ImportPage, number: Int, entity: StoredEntity,
    decode: (Data, inout DecodedPage) throws -> Void
  ) throws {
    self.init(number: number, entity: entity)
    isFromSource = true
    next = incoming.next
    totalPages = incoming.totalPages
    memory = incoming.memory
    isUnchanged = incoming.content == nil
    if let content = incoming.content { try decode(content, &self) }
  }

  var recordCount: Int { origins.count + rejects.count }

  mutating func append(_ content: ByteView, at origin: Origin, given: [Bool]? = nil) {
    batch.append(content, given: given)
    origins.append(origin)
  }

  mutating func reject(
    _ origin: Origin, attribute: String? = nil, reason: String, content: [UInt8]? = nil
  ) {
    var reject = reject(of: origin, attribute: attribute, reason: reason)
    reject.content = content.map { Data($0) }
    rejects.append(reject)
  }

  /// The reject of a record of the page.
  func reject(
    of origin: Origin, attribute: String?, reason: String
  ) -> ImportReport.Reject {
    var reject = ImportReport.Reject(
      page: number, record: origin.record, byteOffset: origin.byteOffset, attribute: attribute,
      reason: reason)
    reject.file = file
    reject.line = origin.line
    return reject
  }

  /// Notes the lines of the rejects, whose bytes are in `document`.
  mutating func findLines(in document: JSONDocument) {
    guard !rejects.isEmpty else { return }
    let lines = document.lines(at: rejects.map { $0.byteOffset ?? 0 })
    for (number, line) in lines.enumerated() { rejects[number].line = line }
  }

  /// Takes over where the page's records are in its file, and rejects those that could not be read.
  ///
  /// Before this the records are numbered without these, and their offsets are those of the page.
  mutating func take(_ places: PagePlaces) {
    file = places.file
    warnings += places.warnings
    // A closure may have left records out.
    let last = [
      origins.last?.record, rejects.last?.record,
      links.compactMap { $0.records.last?.record }.max(),
    ]
    let numbers = places.numbers(of: last.compactMap { $0 }.max() ?? 0)
    for at in origins.indices {
      let number = origins[at].record
      origins[at].record = numbers[number - 1]
      origins[at].byteOffset = places.offset(of: number, inPage: origins[at].byteOffset)
      origins[at].line = places.line(of: number) ?? origins[at].line
    }
    for at in rejects.indices {
      let number = rejects[at].record
      rejects[at].record = numbers[number - 1]
      rejects[at].byteOffset = places.offset(of: number, inPage: rejects[at].byteOffset)
      rejects[at].line = places.line(of: number) ?? rejects[at].line
      rejects[at].file = file
    }
    for at in links.indices {
      for record in links[at].records.indices {
        links[at].records[record].record = numbers[links[at].records[record].record - 1]
      }
    }
    for record in places.unreadable { reject(record) }
    rejects.sort { $0.record < $1.record }
  }

  /// Rejects a record that could not be read.
  mutating func reject(_ record: UnreadableInput) {
    let origin = Origin(record: record.record, byteOffset: record.offset, line: record.line)
    reject(origin, reason: record.reason, content: record.content)
  }
}

/// Pages that are committed together.
struct ImportGroup: Sendable {
  private(set) var pages: [DecodedPage] = []
  private(set) var recordCount = 0
  private(set) var byteCount = 0

  mutating func append(_ page: DecodedPage) {
    recordCount += page.recordCount
    byteCount += page.byteCount + page.batch.byteCount
    pages.append(page)
  }

  func isFull(_ options: ImportOptions) -> Bool {
    recordCount >= options.groupRecordLimit || byteCount >= options.groupByteLimit
  }
}
