import EntityStore
import LodestoreFormat

/// What `info` tells of a store.
struct StoreFacts {
  /// One entity: how many records, and what they and their indexes take in the file.
  struct EntityRow {
    let entity: DynamicEntity
    let records: Int
    let dataSize: Int
    let indexSize: Int
    /// `nil` where the file has no digests.
    let digest: ContentDigest?

    var cells: [Cell] {
      [
        .text(entity.name), .count(records), .byteCount(dataSize), .byteCount(indexSize),
        .text(entity.indexList),
      ]
    }
  }

  static let columns = [
    Column("entity", title: "ENTITY"), Column("records", title: "RECORDS"),
    Column("data", title: "DATA"), Column("indexData", title: "INDEX DATA"),
    Column("indexes", title: "INDEXES"),
  ]

  let members: [(column: Column, cell: Cell)]
  let entities: [EntityRow]

  init(_ snapshot: DynamicSnapshot, _ seal: Seal? = nil, path: String) throws {
    let facts = try snapshot.facts()
    let file = FileFacts(path)
    // The epochs of the file system and of the format are 978,307,200 seconds apart.
    let changed = file.map { KeyText.text(of: .date(($0.changed - 978_307_200).rounded(.down))) }
    let sealMembers: [(column: Column, cell: Cell)] =
      seal.map { seal in
        [
          (Column("dataset"), .text(seal.name)),
          (Column("generation"), .unsigned(seal.generation)),
          (Column("dataAsOf"), HistoryDate.cell(seal.dataAsOf)),
          (Column("sealedAt"), HistoryDate.cell(seal.sealedAt)),
          (Column("schemaFingerprint"), .text(seal.schemaFingerprint)),
        ]
      } ?? []
    members =
      [
        (Column("store"), .text(path)),
        (Column("fileSize"), .byteCount(file?.size ?? 0)),
        (Column("used"), .byteCount(facts.usedSizeInBytes)),
        (Column("freePages"), .count(facts.freePageCount)),
        (Column("map"), .byteCount(facts.mapSizeInBytes)),
        (Column("pageSize"), .count(facts.pageSizeInBytes)),
        (Column("lowestReader"), .unsigned(UInt64(facts.requirement.lowestReader))),
        (Column("lowestWriter"), .unsigned(UInt64(facts.requirement.lowestWriter))),
        (Column("digest"), facts.digest.map { .text("\($0)") } ?? .null),
        (Column("uuid"), facts.uuid.map { .text($0.text) } ?? .null),
        (Column("created"), facts.created.map { .date(KeyText.text(of: .date($0))) } ?? .null),
        (Column("changed"), changed.map(Cell.date) ?? .null),
        (Column("schemaGeneration"), .unsigned(facts.schemaNumber)),
        (Column("lastTransaction"), .unsigned(facts.commitNumber)),
        (Column("readerSlotsUsed"), .count(facts.usedReaderSlotCount)),
        (Column("readerSlots"), .count(facts.readerSlotCount)),
        (Column("writer"), facts.writer.map(Cell.text) ?? .null),
        (
          Column("writerSince"),
          facts.writerSince.map { .date(KeyText.text(of: .date($0.rounded(.down)))) } ?? .null
        ),
        (Column("engine"), .text(facts.engine)),
      ] + sealMembers
    entities = try snapshot.entities.map { entity in
      let size = try snapshot.size(of: entity)
      return EntityRow(
        entity: entity, records: try snapshot.count(of: entity), dataSize: size.records,
        indexSize: size.indexes, digest: try snapshot.digest(of: entity))
    }
  }

  /// The entities as one member of an object.
  var entityMember: (column: Column, cell: Cell) {
    let objects = entities.map { row in
      // Tables leave the digest out, since its digits take the room of the indexes.
      let digest = row.digest.map { Cell.text("\($0)") } ?? .null
      return Cell.json(
        JSONText.object(Array(zip(Self.columns.map(\.name), row.cells)) + [("digest", digest)]))
    }
    return (Column("entities"), .json(JSONText.array(objects)))
  }
}
