internal import LodestoreBytes
internal import LodestoreEssentials
internal import LodestoreFormat

/// A page decoded into records of the entity, ready to be written.
struct DecodedPage: Sendable {
  /// The position of a record in its page.
  struct Origin: Sendable {
    /// The record's number; records are counted from 1.
    var record: Int
    /// The record's offset in bytes in its file, or in the page when the page comes from no file.
    var byteOffset: Int?
    /// The line of the file on which the record begins, counted from 1; nil when it is unknown.
    var line: Int?
  }

  /// The page's number; pages are counted from 1.
  let number: Int
  var batch: IncomingRecords
  /// The origins of the batch's records.
  var origins: [Origin] = []
  var rejects: [ImportReport.Reject] = []
  var unknownMembers: [(name: String, count: Int)] = []
  /// The file from which the page comes; nil without a file.
  private(set) var file: String?
  var warnings: [String] = []
  /// For each link of the import, the keys by which members of the page's records name other
  /// records.
  var links: [LinkKeys] = []
  var byteCount = 0
  /// The page's name and entity tag, with which a later import can ask the source for changes only.
  var memory: PageMemory?
  var next: String?
  /// The number of pages of the source, as the source reports it.
  var totalPages: Int?
  /// Whether the page comes from a ``PageSource``; only then a missing ``next`` marks the last
  /// page.
  var isFromSource = false
  /// Whether the source reported that the page has not changed since the store remembered it.
  var isUnchanged = false
  var decodingSeconds = 0.0
  /// The checksum of all pages up to and including this one.
  var digest: UInt32 = 0

  init(number: Int, entity: StoredEntity) {
    self.number = number
    batch = IncomingRecords(entity.layout)
  }

  /// Creates a page of a source; `decode` decodes its records.
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

  /// Returns the reject for a record of the page.
  func reject(of origin: Origin, attribute: String?, reason: String) -> ImportReport.Reject {
    var reject = ImportReport.Reject(
      page: number, record: origin.record, byteOffset: origin.byteOffset, attribute: attribute,
      reason: reason)
    reject.file = file
    reject.line = origin.line
    return reject
  }

  /// Sets the lines of the rejects, whose bytes are in `document`.
  mutating func findLines(in document: JSONDocument) {
    guard !rejects.isEmpty else { return }
    let lines = document.lines(at: rejects.map { $0.byteOffset ?? 0 })
    for (number, line) in lines.enumerated() { rejects[number].line = line }
  }

  /// Sets the places of the page's records in the file, and rejects the records that could not be
  /// read.
  ///
  /// Before this call, the numbers of the records do not count the unreadable ones, and offsets are
  /// relative to the page.
  mutating func take(_ places: PagePlaces) {
    file = places.file
    warnings += places.warnings
    // The number of records is unknown, since the program's closure may have left some out. The
    // highest number that is known suffices.
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

/// A group of pages that are committed together.
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
