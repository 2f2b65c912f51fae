import EntityStore
import LMDB
import LodestoreFormat

/// What `info` tells of a store.
struct StoreFacts {
  /// One entity: how many records, and what they and their indexes take in the file.
  struct EntityRow {
    let entity: StoredEntity
    let records: Int
    let dataSize: Int
    let indexSize: Int

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

  init(_ core: TransactionCore, path: String) throws {
    let environment = core.store.environment
    let info = try environment.info
    let file = FileFacts(path)
    let header = try Header(environment, core.transaction)
    // The epochs of the file system and of the format are 978,307,200 seconds apart.
    let changed = file.map { KeyText.text(of: .date(($0.changed - 978_307_200).rounded(.down))) }
    members = [
      (Column("store"), .text(path)),
      (Column("fileSize"), .byteCount(file?.size ?? 0)),
      (Column("used"), .byteCount(info.usedBytes)),
      (Column("freePages"), .count(try core.transaction.freePageCount())),
      (Column("map"), .byteCount(info.mapSizeInBytes)),
      (Column("pageSize"), .count(info.pageSize)),
      (Column("lowestReader"), .unsigned(UInt64(header.requirement.lowestReader))),
      (Column("lowestWriter"), .unsigned(UInt64(header.requirement.lowestWriter))),
      (Column("uuid"), header.uuid.map { .text($0.text) } ?? .null),
      (Column("created"), header.created.map { .date(KeyText.text(of: .date($0))) } ?? .null),
      (Column("changed"), changed.map(Cell.date) ?? .null),
      (Column("schemaGeneration"), .unsigned(core.schema.number.rawValue)),
      (Column("lastTransaction"), .unsigned(core.commitNumber.rawValue)),
      (Column("readerSlotsUsed"), .count(info.usedReaderSlotCount)),
      (Column("readerSlots"), .count(info.readerSlotCount)),
      (Column("engine"), .text(Environment.engineVersion)),
    ]
    entities = try core.schema.entities.map { entity in
      func size(_ tree: Tree) throws -> Int {
        let tree = try core.transaction.statistics(of: tree)
        return (tree.branchPages + tree.leafPages + tree.overflowPages) * info.pageSize
      }
      return EntityRow(
        entity: entity, records: try core.count(of: entity), dataSize: try size(entity.records),
        indexSize: try entity.indexes.reduce(0) { $0 + (try size($1.tree)) })
    }
  }

  /// The entities as one member of an object.
  var entityMember: (column: Column, cell: Cell) {
    let objects = entities.map { row in
      Cell.json(JSONText.object(Array(zip(Self.columns.map(\.name), row.cells))))
    }
    return (Column("entities"), .json(JSONText.array(objects)))
  }

  private struct Header {
    let requirement: FormatRequirement
    let uuid: UUIDBytes?
    let created: Double?

    init(_ environment: Environment, _ transaction: Transaction) throws {
      guard
        let tree = try environment.openExistingTree(TreeName.header.text, hasIntegerKeys: false),
        let format = try transaction.get(HeaderField.format.key, in: tree)
      else { throw FormatError("the header has no field 'format'") }
      requirement = try FormatRequirement(bytes: format)
      uuid = try transaction.get(HeaderField.uuid.key, in: tree).flatMap {
        $0.count == 16 ? UUIDBytes(bytes: $0, at: 0) : nil
      }
      created = try transaction.get(HeaderField.created.key, in: tree).flatMap {
        $0.count == 8 ? Double(bitPattern: $0.uint64(at: 0)) : nil
      }
    }
  }
}
