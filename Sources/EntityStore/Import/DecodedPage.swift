#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import LodestoreFormat

/// A page that has been decoded into records of the entity, to be written.
struct DecodedPage: Sendable {
  /// The position of a record in its page.
  struct Origin: Sendable {
    /// From 1.
    var record: Int
    /// From the start of the page.
    var byteOffset: Int?

    init(record: Int, byteOffset: Int?) {
      self.record = record
      self.byteOffset = byteOffset
    }
  }

  /// From 1.
  let number: Int
  var batch: IncomingRecords
  /// The origins of the batch's records.
  var origins: [Origin] = []
  var rejects: [ImportReport.Reject] = []
  var unknownMembers: [(name: String, count: Int)] = []
  /// What members of the records lead to.
  var links: [LinkKeys] = []
  var byteCount = 0
  /// What the source says of the page.
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

  mutating func append(
    _ content: UnsafeRawBufferPointer, at origin: Origin, given: [Bool]? = nil
  ) {
    batch.append(content, given: given)
    origins.append(origin)
  }

  mutating func reject(
    _ origin: Origin, attribute: String? = nil, reason: String
  ) {
    rejects.append(
      .init(
        page: number, record: origin.record, byteOffset: origin.byteOffset, attribute: attribute,
        reason: reason))
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
