import EntityStore
import LodestoreFormat
import LodestoreSystem

/// An import of a whole SQLite database into a new store.
///
/// The store appears when it is complete and checked.
struct SQLiteImport {
  /// A table to import, with the entity that its rows become.
  struct Source {
    let entity: EntityDescription
    let table: String
    /// The query for the rows.
    let sql: String
    /// Returns the id and the values of the current row.
    let read: (SQLiteStatement) throws -> (id: UInt64, values: [Value])
  }

  /// The content of a database as a store.
  struct Plan {
    var sources: [Source] = []
    var relationships: [RelationshipDescription] = []
    /// The tables of links that no attribute holds, and of orders.
    var linkTables: [SQLiteSchema.LinkTable] = []
    var model: UInt64?
    var notes: [String] = []
  }

  /// The first bytes of each SQLite database.
  private static let signature = Array("SQLite format 3".utf8) + [0]

  /// Whether the file at `path` is a SQLite database.
  static func isDatabase(_ path: String) -> Bool {
    guard stat(at: path)?.isRegularFile == true, let descriptor = try? FileReading.open(path)
    else { return false }
    defer { close(descriptor) }
    return (try? FileReading.read(descriptor, atMost: signature.count)) == signature
  }

  static let columns = ["table", "entity", "rows"].map(Column.capital)

  private static let rowsPerBatch = 2_000

  /// Imports the database at `path` into a new store at `store`.
  ///
  /// - Parameter isDryRun: Whether the complete store is removed and not named.
  static func run(_ path: String, into store: String, isDryRun: Bool, on console: Console) throws {
    let copy = try StoreCopy(for: store)
    let database = try open(path)
    let isExport = try !database.rows(
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '\(SQLiteSchema.descriptions)'"
    ).isEmpty
    let plan =
      try isExport ? SQLiteStoreReader(database).read() : SQLiteTableReader(database).read()
    let rows = try SQLiteImport(database: database, plan: plan, console: console).fill(copy.path)
    _ = try CopyCheck(copy.path, on: console)
    if !isDryRun { try copy.commit() }
    try console.write(rows, of: columns)
    for note in plan.notes { console.note(note) }
    if isDryRun { console.note("dry run: \(store) was not made") }
  }

  /// Opens the database for reading at one point of time, and checks its pages.
  static func open(_ path: String) throws -> SQLiteDatabase {
    let database = try SQLiteDatabase(path)
    try database.execute("BEGIN")
    let check = try database.rows("PRAGMA quick_check(1)")
    if case .text(let finding)? = check.first?.first, finding != "ok" {
      throw CommandFailure.damagedSQLite(path, finding)
    }
    return database
  }

  private let database: SQLiteDatabase
  private let plan: Plan
  private let console: Console

  private init(database: SQLiteDatabase, plan: Plan, console: Console) {
    self.database = database
    self.plan = plan
    self.console = console
  }

  /// Makes the store and returns the rows of the report.
  private func fill(_ path: String) throws -> [[Cell]] {
    let entities = plan.sources.map(\.entity)
    let rebuild = try StoreRebuild(
      path: path, entities: entities, relationships: plan.relationships, model: plan.model)
    defer { rebuild.close() }
    let progress = console.progress()
    defer { progress.end() }
    var rows: [[Cell]] = []
    for source in plan.sources {
      let count = try put(source, into: rebuild, progress)
      rows.append([.text(source.table), .text(source.entity.name), .count(count)])
    }
    for table in plan.linkTables {
      let count = try put(table, into: rebuild)
      rows.append([.text(table.name), .text("links"), .count(count)])
    }
    let restarted = Set(entities.filter { $0.history != nil }.map(\.number))
    let repeated = try rebuild.finish(counters: [:], restarted: restarted)
    if let (number, first, second) = repeated.first {
      let name = entities.first { $0.number == number }?.name ?? ""
      throw CommandFailure.repeatedSQLiteKey(database.title, name, first, second)
    }
    return rows
  }

  private func put(
    _ source: Source, into rebuild: StoreRebuild, _ progress: Progress
  ) throws -> Int {
    let statement = try database.prepare(source.sql)
    let layout = source.entity.layout
    let constraints = source.entity.declaredAttributes.map { ($0.name, $0.constraints) }
    var batch: [(key: UInt64, body: [UInt8])] = []
    var count = 0
    while try statement.step() {
      let (id, values) = try source.read(statement)
      for ((name, constraint), value) in zip(constraints, values)
      where constraint.hasRange && value != .null && constraint.breach(of: value) != nil {
        throw CommandFailure.sqliteBreach(database.title, source.table, id, attribute: name)
      }
      do {
        batch.append((id, try layout.record(id: id, values: values)))
      } catch {
        throw CommandFailure.badSQLiteRow(database.title, source.table, id, reason: "\(error)")
      }
      count += 1
      progress.show("\(NumberText.grouped(count)) rows of \(source.table)")
      if batch.count == Self.rowsPerBatch {
        try rebuild.put(batch, of: source.entity.number)
        batch.removeAll(keepingCapacity: true)
      }
    }
    try rebuild.put(batch, of: source.entity.number)
    return count
  }

  private func put(_ table: SQLiteSchema.LinkTable, into rebuild: StoreRebuild) throws -> Int {
    let number = table.relationship.number
    let name = SQLiteDatabase.quoted(table.name)
    var count = 0
    if table.relationship.attribute == nil {
      let statement = try database.prepare("SELECT from_id, to_id FROM \(name)")
      var links: Set<LinkPair> = []
      while try statement.step() {
        links.insert(LinkPair(from: try id(statement, 0, table), to: try id(statement, 1, table)))
        count += 1
        if links.count == Self.rowsPerBatch {
          try rebuild.put(links, of: number)
          links.removeAll(keepingCapacity: true)
        }
      }
      try rebuild.put(links, of: number)
    }
    for side in RelationshipSide.allCases where table.relationship[side].isOrdered {
      let (own, other) = side == .from ? ("from_id", "to_id") : ("to_id", "from_id")
      let position = side == .from ? "from_position" : "to_position"
      let statement = try database.prepare(
        "SELECT \(own), \(other) FROM \(name) ORDER BY \(own), \(position), \(other)")
      var order: [UInt64: [UInt64]] = [:]
      while try statement.step() {
        let owner = try id(statement, 0, table)
        // The links of a record are next to each other, so a record is never divided.
        if order.count >= Self.rowsPerBatch, order[owner] == nil {
          try rebuild.put(order: order, of: number, side)
          order.removeAll(keepingCapacity: true)
        }
        order[owner, default: []].append(try id(statement, 1, table))
      }
      try rebuild.put(order: order, of: number, side)
    }
    return count
  }

  private func id(
    _ statement: SQLiteStatement, _ column: Int, _ table: SQLiteSchema.LinkTable
  ) throws -> UInt64 {
    guard case .integer(let id) = statement.value(column), id > 0 else {
      throw CommandFailure.badSQLiteRow(
        database.title, table.name, nil, reason: "a link has no id from 1 on")
    }
    return UInt64(id)
  }
}

extension CommandFailure {
  /// The failure for a row that the store cannot hold; without an id for a row of links.
  static func badSQLiteRow(_ path: String, _ table: String, _ id: UInt64?, reason: String) -> Self {
    CommandFailure(
      code: "bad-row",
      message: "\(path): \(table)\(id.map { " \($0)" } ?? ""): \(reason); correct the row, or "
        + "import the table alone with --entity", status: .damagedData,
      details: [.text("path", path), .text("table", table)]
        + (id.map { [Detail(name: "_id", value: .unsigned($0))] } ?? []))
  }

  static func sqliteBreach(
    _ path: String, _ table: String, _ id: UInt64, attribute: String
  ) -> Self {
    badSQLiteRow(path, table, id, reason: "'\(attribute)' is beyond the bounds of its attribute")
  }

  static func repeatedSQLiteKey(
    _ path: String, _ entity: String, _ first: UInt64, _ second: UInt64
  ) -> Self {
    badSQLiteRow(
      path, entity, first,
      reason: "record \(second) has an equal unique key, as texts are equal in a store if they "
        + "differ in the composition of their characters alone")
  }
}
