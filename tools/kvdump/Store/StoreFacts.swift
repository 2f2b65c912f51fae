import EntityStore
import LodestoreFormat

/// The facts about a store that `info` shows.
struct StoreFacts {
  static let columns = [
    .capital("entity"), .capital("records"), .capital("data"),
    Column("indexData", title: "INDEX DATA"), .capital("indexes"),
  ]

  let members: [(column: Column, cell: Cell)]
  /// A row for each entity: the number of records, and the size of the records and of the indexes
  /// in the file.
  let entities: [[Cell]]
  /// The digests of the entities; null if the file has no digests.
  private let digests: [Cell]

  init(_ snapshot: DynamicSnapshot, _ seal: Seal? = nil, path: String) throws {
    let facts = try snapshot.facts()
    let file = FileFacts(path)
    // The epochs of the file system and of the format are 978,307,200 seconds apart.
    let changed = file.map { KeyText.text(of: .date(($0.changed - 978_307_200).rounded(.down))) }
    func date(_ seconds: Double?) -> Cell {
      seconds.map { .date(KeyText.text(of: .date($0))) } ?? .null
    }
    let own: [(column: Column, cell: Cell)] = [
      ("store", .text(path)), ("fileSize", .byteCount(file?.size ?? 0)),
      ("used", .byteCount(facts.usedSizeInBytes)), ("freePages", .count(facts.freePageCount)),
      ("map", .byteCount(facts.mapSizeInBytes)), ("pageSize", .count(facts.pageSizeInBytes)),
      ("lowestReader", .unsigned(UInt64(facts.requirement.lowestReader))),
      ("lowestWriter", .unsigned(UInt64(facts.requirement.lowestWriter))),
      ("digest", facts.digest.map { .text("\($0)") } ?? .null),
      ("uuid", facts.uuid.map { .text($0.text) } ?? .null), ("created", date(facts.created)),
      ("changed", changed.map(Cell.date) ?? .null),
      ("schemaGeneration", .unsigned(facts.schemaNumber)),
      ("lastTransaction", .unsigned(facts.commitNumber)),
      ("readerSlotsUsed", .count(facts.usedReaderSlotCount)),
      ("readerSlots", .count(facts.readerSlotCount)),
      ("writer", facts.writer.map(Cell.text) ?? .null),
      ("writerSince", date(facts.writerSince?.rounded(.down))), ("engine", .text(facts.engine)),
    ]
    members = own + (seal.map(Self.members) ?? [])
    entities = try snapshot.entities.map { entity in
      let size = try snapshot.size(of: entity)
      return [
        .text(entity.name), .count(try snapshot.count(of: entity)), .byteCount(size.records),
        .byteCount(size.indexes), .text(entity.indexList),
      ]
    }
    digests = try snapshot.entities.map { entity in
      try snapshot.digest(of: entity).map { .text("\($0)") } ?? .null
    }
  }

  private static func members(_ seal: Seal) -> [(column: Column, cell: Cell)] {
    [
      ("dataset", .text(seal.name)), ("generation", .unsigned(seal.generation)),
      ("dataAsOf", HistoryDate.cell(seal.dataAsOf)), ("sealedAt", HistoryDate.cell(seal.sealedAt)),
      ("schemaFingerprint", .text(seal.schemaFingerprint)),
    ]
  }

  /// The entities as one member of an object.
  var entityMember: (column: Column, cell: Cell) {
    // Tables omit the digest, because its digits would take the room of the indexes.
    let objects = zip(entities, digests).map { row, digest in
      Cell.object(zip(Self.columns.map(\.name), row) + [("digest", digest)])
    }
    return ("entities", .array(objects))
  }
}
