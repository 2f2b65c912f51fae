#if GRDB
  import Foundation
  import GRDB

  /// A row of the pods as GRDB stores Codable records, whose dates are texts.
  struct PodRecord: Codable, FetchableRecord, MutablePersistableRecord, PodFields, Sendable {
    static let databaseTableName = "pod"

    var id: Int64?
    var downloads: Int64
    var updatedAt: Date
    var deprecated: Bool
    var name: String
    var version: String
    var homepage: String?
    var license: String
    var summary: String

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }

    enum Columns {
      static let id = Column("id")
      static let downloads = Column("downloads")
      static let updatedAt = Column("updatedAt")
      static let deprecated = Column("deprecated")
      static let name = Column("name")
      static let version = Column("version")
      static let license = Column("license")
    }
  }

  struct ItemRecord: Codable, FetchableRecord, MutablePersistableRecord, ItemFields, Sendable {
    static let databaseTableName = "item"

    var id: Int64?
    var createdAt: Date
    var isDone: Bool
    var title: String

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
  }

  extension PodRecord {
    init(_ pod: Pod) {
      downloads = pod.downloads
      updatedAt = pod.updatedAt
      deprecated = pod.deprecated
      name = pod.name
      version = pod.version
      homepage = pod.homepage
      license = pod.license
      summary = pod.summary
    }
  }

  extension ItemRecord {
    init(_ item: ToDo) {
      createdAt = item.createdAt
      isDone = item.isDone
      title = item.title
    }
  }

  /// The database of both GRDB sides: the same tables, with different column types for dates.
  enum GRDBFile {
    static func open(_ path: String, dateType: Database.ColumnType) throws -> DatabasePool {
      var configuration = Configuration()
      configuration.prepareDatabase { db in
        try db.execute(
          sql: """
            PRAGMA cache_size = -262144; PRAGMA mmap_size = 4294967296;
            PRAGMA temp_store = MEMORY
            """)
      }
      let pool = try DatabasePool(path: path, configuration: configuration)
      // A pool sets NORMAL when it opens a file. With NORMAL, a commit does not wait for the disk.
      try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
      try pool.write { db in
        try db.create(table: "pod", options: .ifNotExists) { table in
          table.autoIncrementedPrimaryKey("id")
          table.column("downloads", .integer).notNull()
          table.column("updatedAt", dateType).notNull()
          table.column("deprecated", .boolean).notNull()
          table.column("name", .text).notNull()
          table.column("version", .text).notNull()
          table.column("homepage", .text)
          table.column("license", .text).notNull()
          table.column("summary", .text).notNull()
        }
        try db.create(table: "item", options: .ifNotExists) { table in
          table.autoIncrementedPrimaryKey("id")
          table.column("createdAt", dateType).notNull()
          table.column("isDone", .boolean).notNull()
          table.column("title", .text).notNull()
        }
        try db.create(
          indexOn: "pod", columns: ["name", "version"], options: [.ifNotExists, .unique])
        try db.create(indexOn: "pod", columns: ["updatedAt"], options: .ifNotExists)
        try db.create(indexOn: "item", columns: ["createdAt"], options: .ifNotExists)
      }
      return pool
    }
  }
#endif
