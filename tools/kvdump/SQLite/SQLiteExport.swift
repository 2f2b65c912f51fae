import EntityStore
import LMDB
import LodestoreFormat

/// An export of all entities and links of a store into a SQLite database, from one commit.
final class SQLiteExport {
  private let snapshot: DynamicSnapshot
  private let database: SQLiteDatabase
  private var schema: SQLiteSchema
  private let relationships: [RelationshipDescription]
  private let isStrict: Bool
  private let console: Console
  private let progress: Progress
  /// The rows of the report.
  private(set) var rows: [[Cell]] = []

  // The values that a reader of the tables should know of.
  private var exactCount = 0
  private var nulCount = 0
  private var unsignedCount = 0
  private var insertExact: SQLiteStatement?
  private var written = 0
  private let total: Int

  static let columns = ["table", "from", "rows"].map(Column.capital)

  /// Writes the file at `path`, which appears when it is complete.
  static func write(
    _ snapshot: DynamicSnapshot, to path: String, replaces: Bool, store: String,
    on console: Console
  ) throws {
    let file = try OutputFile(path, replaces: replaces, store: store)
    guard let temporary = file.temporaryPath else {
      throw CommandFailure.badArgument(
        path, reason: "is not a regular file", nextStep: "name a file of a folder")
    }
    let model = try modelVersion(of: store, on: console)
    let database = try SQLiteDatabase(temporary, title: path, isWritable: true)
    let export = try SQLiteExport(snapshot, database, on: console)
    try export.fill(model: model)
    try ExportFolder.check(store, links: true, on: console)
    try file.commit()
    try console.write(export.rows, of: columns)
  }

  /// Reports the tables that ``write(_:to:replaces:store:on:)`` would make.
  static func preview(_ snapshot: DynamicSnapshot, on console: Console) throws {
    let schema = SQLiteSchema(
      snapshot.entities.map(\.description), SQLiteSchema.relationships(of: snapshot))
    for note in schema.notes { console.note(note) }
    var rows: [[Cell]] = []
    for (entity, table) in zip(snapshot.entities, schema.tables) {
      rows.append([
        .text(table.name), .text(entity.name), .count(try snapshot.count(of: entity)),
      ])
    }
    for table in schema.linkTables {
      rows.append([.text(table.name), .text("links"), .null])
    }
    try console.write(rows, of: columns)
  }

  private init(
    _ snapshot: DynamicSnapshot, _ database: SQLiteDatabase, on console: Console
  ) throws {
    self.snapshot = snapshot
    self.database = database
    self.console = console
    progress = console.progress()
    relationships = SQLiteSchema.relationships(of: snapshot)
    schema = SQLiteSchema(snapshot.entities.map(\.description), relationships)
    // Strict tables exist since version 3.37.0.
    isStrict = database.library.versionNumber() >= 3_037_000
    total = try snapshot.entities.reduce(0) { try $0 + snapshot.count(of: $1) }
  }

  /// The version of the model that the program has stored; `nil` for none.
  private static func modelVersion(of store: String, on console: Console) throws -> UInt64? {
    try ReadStore.withEnvironment(store, warns: false, on: console) { environment in
      let name = TreeName.header.text
      guard let tree = try environment.openExistingTree(name, hasIntegerKeys: false)
      else { return nil }
      return try environment.read { transaction in
        let bytes = try transaction.get(HeaderField.model.key, in: tree)
        return bytes.flatMap { $0.count == 8 ? $0.uint64(at: 0) : nil }
      }
    }
  }

  private func fill(model: UInt64?) throws {
    // The file is temporary until it is complete, so it needs no journal.
    for pragma in ["journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"] {
      try database.execute("PRAGMA \(pragma)")
    }
    try database.execute("BEGIN")
    try writeDescriptions(model)
    defer { progress.end() }
    for table in schema.tables {
      try database.execute(schema.create(table, isStrict: isStrict))
    }
    for (entity, table) in zip(snapshot.entities, schema.tables) {
      try write(entity, to: table)
    }
    for table in schema.linkTables { try write(table) }
    for table in schema.tables { try writeIndexes(of: table) }
    insertExact = nil
    try database.execute("COMMIT")
    try noteDanglingKeys()
    noteValues()
  }

  private func writeDescriptions(_ model: UInt64?) throws {
    let name = SQLiteSchema.descriptions
    try database.execute(
      "CREATE TABLE \(name) (kind TEXT NOT NULL, number INTEGER NOT NULL, name TEXT, "
        + "description BLOB, PRIMARY KEY (kind, number))")
    let insert = try database.prepare("INSERT INTO \(name) VALUES (?, ?, ?, ?)")
    try insert.run([.text("version"), .integer(SQLiteSchema.version), .null, .null])
    if let model {
      try insert.run([.text("model"), .integer(Int64(bitPattern: model)), .null, .null])
    }
    for table in schema.tables {
      try insert.run([
        .text("entity"), .integer(Int64(table.entity.number.rawValue)), .text(table.name),
        .blob(table.entity.document.encoded()),
      ])
    }
    for relationship in relationships {
      let table = schema.linkTables.first { $0.relationship.number == relationship.number }
      try insert.run([
        .text("relationship"), .integer(Int64(relationship.number)),
        table.map { .text($0.name) } ?? .null, .blob(relationship.document.encoded()),
      ])
    }
  }

  // MARK: Records

  private func write(_ entity: DynamicEntity, to table: SQLiteSchema.Table) throws {
    let places = [String](repeating: "?", count: table.columns.count + 1).joined(separator: ", ")
    let insert = try database.prepare(
      "INSERT INTO \(SQLiteDatabase.quoted(table.name)) VALUES (\(places))")
    let attributes = table.entity.declaredAttributes
    var count = 0
    try snapshot.forEachRecord(of: entity) { record in
      let reader = try record.reader(verifyingChecksum: true)
      let id = SQLiteValue.integer(Int64(bitPattern: record.id))
      let row =
        try [id]
        + attributes.map { attribute in
          try column(attribute, of: entity, record.id, reader)
        }
      try insert.run(row)
      count += 1
      progress.show(Progress.text(written + count, total))
      return true
    }
    written += count
    rows.append([.text(table.name), .text(entity.name), .count(count)])
  }

  /// The value of a column, whose exact form is written too if it differs.
  private func column(
    _ attribute: EntityDescription.Attribute, of entity: DynamicEntity, _ id: UInt64,
    _ reader: DynamicRecord.Reader
  ) throws -> SQLiteValue {
    let value: Value
    let column: SQLiteValue
    let exact: String?
    do {
      value = try reader.value(of: attribute)
      column = try SQLiteValue(value)
      exact = try SQLiteValue.exactText(of: value)
    } catch {
      throw CommandFailure.damagedRecord(entity.name, id, reason: "\(error)")
    }
    note(column, of: value)
    if let exact { try writeExact(exact, entity, .integer(Int64(bitPattern: id)), attribute) }
    return column
  }

  /// Counts values that other programs may read otherwise.
  private func note(_ value: SQLiteValue, of stored: Value) {
    guard case .text(let text) = value else { return }
    if case .unsigned = stored { unsignedCount += 1 }
    if case .string = stored, text.utf8.contains(0) { nulCount += 1 }
  }

  private func writeExact(
    _ text: String, _ entity: DynamicEntity, _ id: SQLiteValue,
    _ attribute: EntityDescription.Attribute
  ) throws {
    let insert: SQLiteStatement
    if let insertExact {
      insert = insertExact
    } else {
      let name = SQLiteSchema.exactValues
      try database.execute(
        "CREATE TABLE \(name) (entity INTEGER NOT NULL, id INTEGER NOT NULL, "
          + "attribute INTEGER NOT NULL, value TEXT NOT NULL, "
          + "PRIMARY KEY (entity, id, attribute)) WITHOUT ROWID")
      insert = try database.prepare("INSERT INTO \(name) VALUES (?, ?, ?, ?)")
      insertExact = insert
    }
    exactCount += 1
    try insert.run([
      .integer(Int64(entity.description.number.rawValue)), id, .integer(Int64(attribute.number)),
      .text(text),
    ])
  }

  private func writeIndexes(of table: SQLiteSchema.Table) throws {
    for index in schema.indexes(of: table) {
      do {
        try database.execute(index.sql)
      } catch {
        guard error.isSQLiteConstraint else { throw error }
        // Two stored values may differ where their forms in the table are equal.
        try database.execute(index.plainSQL)
        console.note("\(index.name): its keys are not unique in the table; the index is not unique")
      }
    }
  }

  // MARK: Links

  private func write(_ table: SQLiteSchema.LinkTable) throws {
    let relationship = table.relationship
    try database.execute(schema.create(table, isStrict: isStrict))
    let name = SQLiteDatabase.quoted(table.name)
    let places = table.columns.map { _ in "?" }.joined(separator: ", ")
    let insert = try database.prepare("INSERT INTO \(name) VALUES (\(places))")
    let isFromFirst = relationship.attribute == nil && relationship.from.name != nil
    let first: RelationshipSide = isFromFirst ? .from : .to
    var count = 0
    try forEachLink(of: relationship, from: first) { owner, other, position in
      var row: [SQLiteValue] = first == .from ? [owner, other] : [other, owner]
      for side in RelationshipSide.allCases where relationship[side].isOrdered {
        row.append(side == first ? .integer(position) : .null)
      }
      try insert.run(row)
      count += 1
      progress.show("\(NumberText.grouped(count)) links of \(table.name)")
    }
    if isFromFirst, relationship.to.isOrdered {
      let update = try database.prepare(
        "UPDATE \(name) SET to_position = ? WHERE from_id = ? AND to_id = ?")
      try forEachLink(of: relationship, from: .to) { owner, other, position in
        try update.run([.integer(position), other, owner])
      }
    }
    try database.execute(
      "CREATE INDEX \(SQLiteDatabase.quoted("idx_\(table.name)_to_id")) ON \(name) (to_id)")
    rows.append([.text(table.name), .text("links"), .count(count)])
  }

  /// Visits the links of a relationship from one side, in the order of each record's links.
  private func forEachLink(
    of relationship: RelationshipDescription, from side: RelationshipSide,
    _ body: (SQLiteValue, SQLiteValue, Int64) throws -> Void
  ) throws {
    let number = relationship[side].entity
    guard let entity = snapshot.entities.first(where: { $0.description.number == number }),
      let end = snapshot.relationships(of: entity).first(where: {
        $0.number == relationship.number && $0.isFirst == (side == .from)
      })
    else { return }
    try snapshot.forEachRecord(of: entity) { record in
      let owner = SQLiteValue.integer(Int64(bitPattern: record.id))
      var position: Int64 = 0
      try snapshot.forEachRelated(to: [record.id], by: end) { other in
        try body(owner, .integer(Int64(bitPattern: other.id)), position)
        position += 1
        return true
      }
      return true
    }
  }

  // MARK: Notes

  private func noteDanglingKeys() throws {
    let check = try database.prepare("PRAGMA foreign_key_check")
    var counts: [String: Int] = [:]
    while try check.step() {
      guard case .text(let table) = check.value(0), case .text(let parent) = check.value(2) else {
        continue
      }
      counts["table \"\(table)\"|\(parent)", default: 0] += 1
    }
    for (place, count) in counts.sorted(by: { $0.key < $1.key }) {
      let names = place.split(separator: "|")
      console.note(
        "\(names[0]): ids of \(names[1]) without an exported record, "
          + "such as an expired one: \(NumberText.grouped(count)); 'PRAGMA foreign_key_check' lists the "
          + "rows")
    }
  }

  private func noteValues() {
    for note in schema.notes { console.note(note) }
    let counts = [
      (
        exactCount, "values without an equal in SQLite, such as NaN",
        "; \(SQLiteSchema.exactValues) keeps them for 'kvdump import'"
      ), (unsignedCount, "integers above 9,223,372,036,854,775,807, stored as texts", ""),
      (nulCount, "texts with a NUL character, at which some programs end them", ""),
    ]
    for (count, words, rest) in counts where count > 0 {
      console.note("\(words): \(NumberText.grouped(count))\(rest)")
    }
    let kept = snapshot.entities.filter { $0.description.history != nil }.map(\.name)
    if !kept.isEmpty {
      console.note("the history of \(kept.joined(separator: ", ")) is left out")
    }
  }
}

extension CommandFailure {
  /// Whether a constraint of a SQLite table was broken.
  var isSQLiteConstraint: Bool {
    details.contains { detail in
      guard detail.name == "sqliteCode", case .integer(let code) = detail.value else {
        return false
      }
      return code & 0xFF == 19
    }
  }
}
