import EntityStore
import Foundation
import Testing

@testable import KVDumpCommands

@Suite("Import from SQLite")
struct SQLiteImportTests {
  /// A database with the kinds of tables, columns, keys and values that programs make.
  private func shop(_ folder: StoreFolder) throws -> String {
    try folder.database(
      "shop.db",
      """
      CREATE TABLE artists (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, born DATETIME,
      active BOOLEAN, photo BLOB, size REAL)
      """,
      """
      CREATE TABLE albums (code TEXT PRIMARY KEY, title TEXT COLLATE NOCASE, artist INTEGER NOT NULL
      REFERENCES artists ON DELETE CASCADE, price, year AS (2000 + artist), "the note" TEXT)
      """,
      "CREATE TABLE tracks (album TEXT REFERENCES albums (code), no INT, PRIMARY KEY (album, no))",
      "CREATE TABLE words (word TEXT PRIMARY KEY, n INT) WITHOUT ROWID",
      "CREATE TABLE uses (word TEXT REFERENCES words, album TEXT REFERENCES gone, parent INT "
        + "REFERENCES artists)",
      "CREATE INDEX albums_title ON albums (title, price)",
      "CREATE INDEX albums_lower ON albums (lower(title))",
      "CREATE VIEW names AS SELECT name FROM artists",
      "INSERT INTO artists VALUES (3, 'Ann', '2024-01-05 10:00:00', 1, x'00ff', 2), "
        + "(7, 'Bob', NULL, 0, NULL, 0.5)",
      "INSERT INTO albums (code, title, artist, price) VALUES ('x', 'X', 3, 5), "
        + "('y', 'Y', 7, 'free')",
      "INSERT INTO tracks VALUES ('x', 1), ('x', 2), ('y', 1)",
      "INSERT INTO words VALUES ('a', 1)", "INSERT INTO uses VALUES ('a', 'q', 99)")
  }

  @Test func `tables become entities, and foreign keys relationships`() async throws {
    let folder = try StoreFolder()
    let imported = await folder.importing([try shop(folder)])
    #expect(imported.status == .success, "\(imported.messages)")
    #expect(imported.data.hasPrefix(#"{"table":"artists","entity":"artists","rows":2}"#))
    #expect(await folder.isSound())
    let artists = await folder.run("records", "artists").data.split(separator: "\n")
    #expect(
      artists[0]
        == #"{"_id":3,"id":3,"name":"Ann","born":"2024-01-05T10:00:00Z","active":true,"photo":"AP8=","size":2.0}"#
    )
    let album = await folder.run("records", "albums", "--limit", "1").data
    #expect(
      album.hasPrefix(
        #"{"_id":1,"code":"x","title":"X","artist":3,"price":5,"year":2003,"the_note":null}"#))
    for (entity, condition, count) in [
      ("albums", "artist.name == \"Ann\"", 1), ("tracks", "album.artist.name == \"Ann\"", 2),
      ("artists", "albums.@count == 1", 2),
    ] {
      let found = await folder.run("count", entity, condition, "--format", "json")
      #expect(found.data.contains("\(count)"), "\(condition): \(found.data) \(found.messages)")
    }
    for note in [
      "view \"names\" is left out", "albums.price: mixed values are json: 1 integer, 1 text",
      "column \"the note\" is attribute 'the_note'", "has an expression or a condition",
      "the index over title, price is left out, because json values",
      "uses.word: the foreign key to words stays",
      "uses.album: the foreign key to gone stays a plain value, because there is no such table",
      "uses.parent: the foreign key to artists stays a plain value, because values lead to no row: 1",
    ] {
      #expect(imported.messages.contains(note), "\(note)\n\(imported.messages)")
    }
    // A unique key refuses a second artist of the name.
    let twice = try folder.file("p.json", #"[{"id":9,"name":"Ann"}]"#)
    let rejected = await folder.importing([twice, "--entity", "artists", "--unique", "id"])
    #expect(try folder.report(rejected).rejected == 1)
    // The store is made once.
    #expect(await folder.importing([try shop(folder)]).status == .cannotCreate)
  }

  @Test func `foreign keys of several columns become relationships`() async throws {
    let folder = try StoreFolder()
    let path = try folder.database(
      "discs.db", "CREATE TABLE albums (code TEXT PRIMARY KEY)",
      """
      CREATE TABLE discs (album TEXT REFERENCES albums, no INT, title TEXT,
      PRIMARY KEY (no, album))
      """,
      """
      CREATE TABLE tracks (name TEXT, album TEXT REFERENCES albums, disc INT, discs TEXT,
      FOREIGN KEY (disc, album) REFERENCES discs ON DELETE CASCADE,
      FOREIGN KEY (album, disc) REFERENCES discs (album, no))
      """,
      """
      CREATE TABLE notes (disc INT NOT NULL, album TEXT NOT NULL, more INT, other TEXT,
      FOREIGN KEY (album, disc) REFERENCES discs (album, no),
      FOREIGN KEY (more, other) REFERENCES discs, FOREIGN KEY (disc, other) REFERENCES tracks)
      """,
      "INSERT INTO albums VALUES ('x'), ('y')",
      "INSERT INTO discs VALUES ('x', 1, 'One'), ('x', 2, 'Two'), ('y', 1, 'Other')",
      "INSERT INTO tracks VALUES ('a', 'x', 2, 'd'), ('b', 'y', 1, NULL), ('c', 'y', NULL, NULL)",
      "INSERT INTO notes VALUES (1, 'y', 5, 'x')")
    let imported = await folder.importing([path])
    #expect(imported.status == .success, "\(imported.messages)")
    #expect(await folder.isSound())
    let tracks = await folder.run("records", "tracks").data.split(separator: "\n")
    #expect(
      tracks[0]
        == #"{"_id":1,"name":"a","album":1,"disc":2,"discs":"d","discs_2":2,"discs_3":2}"#)
    #expect(tracks[2].hasSuffix(#""disc":null,"discs":null,"discs_2":null,"discs_3":null}"#))
    #expect(
      await folder.run("records", "notes").data.hasPrefix(
        #"{"_id":1,"disc":1,"album":"y","more":5,"other":"x","discs":3}"#))
    for (entity, condition, count) in [
      ("tracks", "discs_2.title == \"Other\"", 1), ("discs", "tracks.@count == 1", 2),
      ("notes", "discs.album.code == \"y\"", 1),
    ] {
      let found = await folder.run("count", entity, condition, "--format", "json")
      #expect(found.data.contains("\(count)"), "\(condition): \(found.data) \(found.messages)")
    }
    for note in [
      "tracks: the foreign key over disc, album is attribute 'discs_",
      "tracks: the foreign key over album, disc is attribute 'discs_",
      "notes.more+other: the foreign key to discs stays plain values, because values lead to no row",
      "notes.disc+other: the foreign key to tracks stays plain values, because it does not lead",
    ] {
      #expect(imported.messages.contains(note), "\(note)\n\(imported.messages)")
    }
  }

  @Test func `a dry run of a whole database makes no store`() async throws {
    let folder = try StoreFolder()
    let imported = await folder.importing([try shop(folder), "--dry-run"])
    #expect(imported.status == .success)
    #expect(imported.messages.contains("was not made"))
    #expect(try folder.files() == ["shop.db"])
  }

  @Test func `one table is imported like a file of records`() async throws {
    let folder = try StoreFolder()
    let path = try shop(folder)
    let several = await folder.importing([path, "--entity", "A", "--unique", "id", "--infer"])
    #expect(several.status == .usage)
    #expect(several.messages.contains("--records TABLE chooses one of artists, albums"))
    let arguments = [path, "--entity", "A", "--records", "artists", "--unique", "id"]
    let first = await folder.importing(arguments + ["--infer", "--type", "born=date"])
    #expect(try folder.report(first) == ImportCounts(records: 2, inserted: 2))
    try SQLiteDatabase(path, isWritable: true).execute("DELETE FROM artists WHERE id = 3")
    let second = await folder.importing(arguments + ["--mirror"])
    #expect(try folder.report(second) == ImportCounts(records: 1, unchanged: 1, deleted: 1))
    #expect(await folder.isSound())
    let view = await folder.importing([
      path, "--entity", "N", "--records", "names", "--insert-only", "--infer",
    ])
    #expect(try folder.report(view).inserted == 1)
  }

  @Test func `texts that are not UTF-8 are reported`() async throws {
    let folder = try StoreFolder()
    let path = try folder.database(
      "t.db", "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)",
      "INSERT INTO t VALUES (1, CAST(x'61ff62' AS TEXT)), (2, 'good')")
    let table = await folder.importing([path, "--entity", "T", "--unique", "id", "--infer"])
    #expect(try folder.report(table).rejected == 1)
    let copy = folder.path + "/copy.lodestore"
    let whole = await folder.command("import", copy, path)
    #expect(whole.messages.contains("t.a: texts that are not UTF-8"))
    #expect(await folder.command("records", copy, "t", "--limit", "1").data.contains("a\u{FFFD}b"))
  }

  @Test func `rows in the write-ahead log of an open database are imported`() async throws {
    let folder = try StoreFolder()
    let path = try folder.file("w.db", "")
    let writer = try SQLiteDatabase(path, isWritable: true)
    try writer.execute("PRAGMA journal_mode = WAL")
    try writer.execute("CREATE TABLE t (a INT)")
    try writer.execute("INSERT INTO t VALUES (4)")
    try #require(FileFacts(path + "-wal")?.size ?? 0 > 0)
    let imported = await folder.importing([path])
    #expect(imported.status == .success, "\(imported.messages)")
    #expect(await folder.run("records", "t").data == #"{"_id":1,"a":4}"# + "\n")
  }

  @Test func `a locked database is refused after some seconds`() async throws {
    let folder = try StoreFolder()
    let path = try folder.database("l.db", "CREATE TABLE t (a INT)")
    let writer = try SQLiteDatabase(path, isWritable: true)
    try writer.execute("BEGIN EXCLUSIVE")
    let imported = await folder.importing([path])
    #expect(imported.status == .tryAgain)
    #expect(imported.messages.contains("close the program that has it locked"))
    #expect(!FileFacts.exists(folder.store))
  }

  @Test(arguments: [100, 4_096, 5 * 4_096])
  func `a damaged database gives a failure or a store, and never half of one`(
    offset: Int
  ) async throws {
    let folder = try StoreFolder()
    let path = try shop(folder)
    var bytes = try folder.bytes(path)
    for place in offset..<(offset + 200) { bytes[place] = 0xA5 }
    try bytes.write(to: URL(fileURLWithPath: path))
    let imported = await folder.importing([path])
    #expect(imported.status == .damagedData, "\(imported.messages)")
    #expect(imported.messages.contains("shop.db: SQLite: "))
    #expect(try folder.files() == ["shop.db"])
  }

  @Test func `a damaged description of an exported store is refused`() async throws {
    let folder = try StoreFolder()
    try await folder.load("[{\"n\":1}]", "--entity", "E", "--unique", "n", "--infer")
    let path = folder.path + "/e.db"
    await folder.run("export", "--sqlite", path)
    try SQLiteDatabase(path, isWritable: true)
      .execute("UPDATE lodestore_schema SET description = x'0102' WHERE kind = 'entity'")
    let copy = folder.path + "/copy.lodestore"
    let imported = await folder.command("import", copy, path)
    #expect(imported.status == .damagedData)
    #expect(imported.messages.contains("e.db: lodestore_schema: "))
    #expect(!FileFacts.exists(copy))
  }

  @Test func `a whole database takes no options about records`() async throws {
    let folder = try StoreFolder()
    let outcome = await folder.importing([try shop(folder), "--infer"])
    #expect(outcome.status == .usage)
    #expect(outcome.messages.contains("only --dry-run is for a whole SQLite database"))
    let json = try folder.file("a.json", "[]")
    #expect(await folder.importing([json]).messages.contains("'--entity <entity>'"))
  }
}
