import EntityStore
import Foundation
import Testing

@testable import KVDumpCommands

@Suite("Export to SQLite")
struct SQLiteExportTests {
  @Test func `a store comes back from SQLite with every value, link, order and id`() async throws {
    var values = KnotValues(seed: 5)
    let folder = try StoreFolder()
    let store = try Store(at: folder.store, entities: [Knot.self])
    try `Export, import and export`.fill(store, &values, count: 300)
    store.close()
    let database = folder.path + "/knots.db"
    let exported = await folder.run("export", "--sqlite", database)
    #expect(exported.status == .success, "\(exported.messages)")
    #expect(exported.messages.contains("values without an equal in SQLite, such as NaN: "))
    let faults = try PythonSQLite.faults(database)
    #expect(faults == nil || faults == "[('ok',)]\n")

    let copy = try StoreFolder()
    let imported = await copy.importing([database])
    #expect(imported.status == .success, "\(imported.messages)")
    #expect(try await copy.digest(of: copy.store) == folder.digest(of: folder.store))
    #expect(await copy.run("schema").data == folder.run("schema").data)
    #expect(await copy.isSound())
    let again = copy.path + "/again.db"
    await copy.run("export", "--sqlite", again)
    for table in ["Knot", "Knot_kids", "Knot_friends", SQLiteSchema.exactValues] {
      let query = "SELECT * FROM \(table) ORDER BY 1, 2"
      let second = try SQLiteDatabase(again).rows(query)
      #expect(try SQLiteDatabase(database).rows(query) == second, "\(table)")
    }
    // A program opens the store, so the relationships are those that it declares.
    try Store(at: copy.store, entities: [Knot.self]).close()
  }

  @Test func `a row changed in SQLite is imported as it is there`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"n":1,"d":0.5},{"n":2,"d":-0.0}]"#, "--entity", "E", "--unique", "n", "--infer")
    let path = folder.path + "/e.db"
    await folder.run("export", "--sqlite", path)
    let database = try SQLiteDatabase(path, isWritable: true)
    try database.execute("UPDATE E SET d = 7 WHERE n = 2")
    try database.execute("DELETE FROM E WHERE n = 1")
    try database.execute("ALTER TABLE E ADD COLUMN extra TEXT")
    try database.execute("CREATE TABLE more (x)")
    let copy = folder.path + "/copy.lodestore"
    let imported = await folder.command("import", copy, path)
    #expect(imported.status == .success)
    #expect(imported.messages.contains("column \"extra\" is not of the exported store"))
    #expect(imported.messages.contains("\"more\" is not of the exported store"))
    #expect(await folder.command("records", copy, "E").data == #"{"_id":2,"n":2,"d":7.0}"# + "\n")

    try database.execute("PRAGMA ignore_check_constraints = 1")
    try database.execute("INSERT INTO E (_id, n) VALUES (-4, 9)")
    let refused = await folder.command("import", folder.path + "/no.lodestore", path)
    #expect(refused.status == .damagedData)
    #expect(refused.messages.contains("E: a row has an id below 1"))
    #expect(!FileFacts.exists(folder.path + "/no.lodestore"))
  }

  @Test func `values have the types that SQLite's programs expect`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      """
      [{"b":true,"i":-3,"d":0.5,"t":"a\\u0000b","day":"2024-01-05T10:00:00Z","j":{"k":[1]},
      "u":18446744073709551615,"x":"AQI=","n":null,"p":"1.50"}]
      """, "--entity", "E", "--unique", "i", "--infer", "--type", "day=date", "--type", "u=uint64",
      "--type", "x=data", "--type", "p=decimal")
    let path = folder.path + "/e.db"
    let outcome = await folder.run("export", "--sqlite", path)
    #expect(outcome.status == .success, "\(outcome.messages)")
    #expect(outcome.messages.contains("texts with a NUL character, at which some programs end"))
    #expect(outcome.messages.contains("stored as texts: 1"))
    let database = try SQLiteDatabase(path)
    #expect(
      try database.rows("SELECT _id, b, i, d, t, day, j, u, x, p FROM E") == [
        [
          .integer(1), .integer(1), .integer(-3), .real(0.5), .text("a\0b"),
          .text("2024-01-05T10:00:00Z"), .text(#"{"k":[1]}"#), .text("18446744073709551615"),
          .blob([1, 2]), .text("1.5"),
        ]
      ])
    let indexes = try database.rows("PRAGMA index_list(E)")
    #expect(indexes.map { $0[1...2] } == [[.text("idx_E_i"), .integer(1)]])
    let copy = folder.path + "/copy.lodestore"
    #expect(await folder.command("import", copy, path).status == .success)
    #expect(try await folder.digest(of: copy) == folder.digest(of: folder.store))
  }

  @Test func `names that differ in the case of letters alone get different tables`() async throws {
    let folder = try StoreFolder()
    for entity in ["Order", "order"] {
      try await folder.load(
        #"[{"id":1,"ID":2}]"#, "--entity", entity, "--unique", "id", "--infer")
    }
    let path = folder.path + "/e.db"
    let outcome = await folder.run("export", "--sqlite", path)
    #expect(outcome.messages.contains("entity order is table \"order_2\""))
    #expect(outcome.messages.contains("Order.ID is column \"ID_2\""))
    let copy = folder.path + "/copy.lodestore"
    #expect(await folder.command("import", copy, path).status == .success)
    #expect(try await folder.digest(of: copy) == folder.digest(of: folder.store))
  }

  @Test func `an existing file stays without --force, and after a failed export`() async throws {
    let folder = try StoreFolder()
    try await folder.load("[{\"n\":1}]", "--entity", "E", "--unique", "n", "--infer")
    let path = try folder.file("e.db", "mine")
    let refused = await folder.run("export", "--sqlite", path)
    #expect(refused.status == .cannotCreate)
    #expect(refused.messages.contains("--force replaces it"))
    let dry = await folder.run("export", "--sqlite", path, "--dry-run")
    #expect(dry.data == #"{"table":"E","from":"E","rows":1}"# + "\n")
    #expect(try String(decoding: folder.bytes(path), as: UTF8.self) == "mine")
    let missing = await folder.run("export", "--sqlite", folder.path + "/none/e.db")
    #expect(missing.status == .cannotCreate)
    #expect(await folder.run("export", "--sqlite", path, "--force").status == .success)
    #expect(SQLiteImport.isDatabase(path))
    #expect(try folder.files() == ["a.lodestore", "a.lodestore-lock", "e.db", "page.json"])
  }

  @Test func `a full disk leaves no database`() async throws {
    guard let disk = try SmallFileSystem(.tmpfs) else { return }
    let folder = try StoreFolder()
    let text = String(repeating: "x", count: 1 << 20)
    let lines = (0..<20).map { "{\"n\":\($0),\"t\":\"\(text)\"}\n" }.joined()
    try await folder.load(lines, "--entity", "E", "--unique", "n", "--infer", name: "l.jsonl")
    let outcome = await folder.run("export", "--sqlite", disk.path + "/e.db")
    #expect(outcome.status == .inputOutput, "\(outcome.messages)")
    #expect(try folder.files(in: disk.path) == [])
  }

  @Test(arguments: [
    ("swapi/films.jsonl", "results", "episode_id"), ("swapi/people.jsonl", "results", "url"),
    ("cocoapods/specs-trunk.jsonl", "result", "name,version"),
  ])
  func `real data comes back from SQLite`(name: String, path: String, key: String) async throws {
    guard let file = RealData.file(name) else { return }
    let folder = try StoreFolder()
    await folder.run(
      "import", file, "--records", path, "--entity", "E", "--unique", key, "--infer")
    let database = folder.path + "/e.db"
    #expect(await folder.run("export", "--sqlite", database).status == .success)
    let faults = try PythonSQLite.faults(database)
    #expect(faults == nil || faults == "[('ok',)]\n")
    let copy = folder.path + "/copy.lodestore"
    #expect(await folder.command("import", copy, database).status == .success)
    #expect(try await folder.digest(of: copy) == folder.digest(of: folder.store))
  }
}
