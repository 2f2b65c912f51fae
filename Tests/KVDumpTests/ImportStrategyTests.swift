import EntityStore
import Testing

@testable import KVDumpCommands

@Suite("Import strategies")
struct ImportStrategyTests {
  private static let numbers = ["energy", "impact-e", "lat", "lon", "alt", "vel"]
  private static let fireballs =
    [
      "--entity", "Fireball", "--unique", "dateTimeStamp", "--infer", "--map",
      "date=dateTimeStamp", "--type", "dateTimeStamp=date:yyyy-MM-dd HH:mm:ss",
    ] + numbers.flatMap { ["--type", "\($0)=double"] }

  /// The rows of a snapshot by date, with numbers in the form that the store writes.
  private func rows(_ file: String, _ folder: StoreFolder) throws -> [String: [String: String]] {
    let page = try JSONDocument.parsing(try folder.bytes(file)).root
    let fields = try #require(page["fields"]).elements.compactMap(\.string)
    var rows: [String: [String: String]] = [:]
    for row in try #require(page["data"]).elements {
      var values: [String: String] = [:]
      for (name, value) in zip(fields, row.elements) {
        guard let text = value.string else { continue }
        values[name] = Self.numbers.contains(name) ? "\(try #require(Double(text)))" : text
      }
      rows[try #require(values["date"])] = values
    }
    return rows
  }

  @Test func `a mirror of a later snapshot makes the changes of a comparison`() async throws {
    guard let first = RealData.file("fireball/fireball-2024-02.json"),
      let second = RealData.file("fireball/fireball-2026-05.json")
    else { return }
    let folder = try StoreFolder()
    let old = try rows(first, folder)
    let new = try rows(second, folder)
    let made = await folder.importing([first] + Self.fireballs)
    #expect(try folder.report(made) == ImportCounts(records: old.count, inserted: old.count))

    var expected = ImportCounts(records: new.count)
    for (date, values) in new {
      if let stored = old[date] {
        if stored == values { expected.unchanged += 1 } else { expected.updated += 1 }
      } else {
        expected.inserted += 1
      }
    }
    expected.deleted = old.keys.count { new[$0] == nil }
    let dry = await folder.importing([second, "--mirror", "--dry-run"] + Self.fireballs)
    #expect(try folder.report(dry) == expected)
    let mirrored = await folder.importing([second, "--mirror"] + Self.fireballs)
    #expect(try folder.report(mirrored) == expected)
    #expect(expected.deleted == 194 && expected.inserted == 281 && expected.updated == 313)

    #expect(await folder.run("count", "Fireball").data == "{\"count\":\(new.count)}\n")
    let again = await folder.importing([second, "--strategy", "mirror"] + Self.fireballs)
    #expect(try folder.report(again) == ImportCounts(records: new.count, unchanged: new.count))
    #expect(await folder.isSound())

    let row = try #require(new["2013-02-15 03:20:26"])
    let found = await folder.run("get", "Fireball", "dateTimeStamp=2013-02-15T03:20:26Z")
    let record = try JSONValue(parsing: found.data)
    #expect(record["energy"]?.doubleValue == row["energy"].flatMap(Double.init))
    #expect(record["lat_dir"]?.stringValue == row["lat-dir"])
  }

  @Test func `a mirror keeps absent records when records were rejected`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"k":1,"v":1},{"k":2,"v":2},{"k":3,"v":3}]"#, "--entity", "E", "--unique", "k", "--infer")
    let file = try folder.file("next.json", #"[{"k":1,"v":1},{"k":2,"v":"two"}]"#)
    let kept = await folder.importing([file, "--entity", "E", "--mirror"])
    #expect(kept.status == .success)
    #expect(try folder.report(kept).deleted == 0)
    #expect(
      kept.messages.contains("E: deleted nothing, as the rejected records may be stored ones"))
    #expect(await folder.run("count", "E").data == "{\"count\":3}\n")
    let deleted = await folder.importing([
      file, "--entity", "E", "--mirror", "--delete-despite-rejects",
    ])
    #expect(try folder.report(deleted).deleted == 2)
    #expect(await folder.run("records", "E", "--fields", "k").data == "{\"k\":1}\n")
    #expect(await folder.isSound())
  }

  @Test(arguments: [
    ("blank.json", "\n  \n"), ("empty.json", "[]"), ("lines.jsonl", ""), ("rows.csv", "k\n"),
    ("lines.jsonl", "[]\n"), ("table.json", #"{"fields":["k"],"data":[]}"#),
  ])
  func `a mirror of a file without records deletes nothing by default`(
    name: String, text: String
  ) async throws {
    let folder = try StoreFolder()
    try await folder.load(#"[{"k":1}]"#, "--entity", "E", "--unique", "k", "--infer")
    let file = try folder.file(name, text)
    let nothing = await folder.importing([file, "--entity", "E", "--mirror"])
    #expect(nothing.status == .negative, "\(nothing.messages)")
    #expect(
      nothing.messages.contains("nothing was deleted, --mirror-empty does it"),
      "\(nothing.messages)")
    #expect(await folder.run("count", "E").data == "{\"count\":1}\n")
    let all = await folder.importing([file, "--entity", "E", "--mirror", "--mirror-empty"])
    #expect(all.status == .success, "\(all.messages)")
    #expect(try folder.report(all).deleted == 1)
    // The store has no records left that the mirror could delete wrongly.
    #expect(await folder.importing([file, "--entity", "E", "--mirror"]).status == .success)
    #expect(await folder.isSound())
  }

  @Test func `replacing gives changed records a new id`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"k":1,"v":1},{"k":2,"v":2},{"k":3,"v":3}]"#, "--entity", "E", "--unique", "k", "--infer")
    try await folder.load(
      #"[{"k":1,"v":1},{"k":2,"v":9}]"#, "--entity", "E", "--strategy", "replace-matching")
    let ids = await folder.run("records", "E", "--format", "csv").data
    #expect(ids == "_id,k,v\r\n1,1,1\r\n3,3,3\r\n4,2,9\r\n")
    #expect(await folder.isSound())
  }

  @Test(arguments: [
    (["--mirror", "--insert-only"], "--insert-only: not together with mirror"),
    (["--strategy", "mirror", "--insert-only"], "--insert-only: not together with mirror"),
    (["--mirror", "--strategy", "upsert"], "--mirror: not together with --strategy upsert"),
    (["--delete-despite-rejects"], "--delete-despite-rejects: only with --mirror"),
    (["--strategy", "replace-matching", "--on-conflict", "patch"], "--on-conflict: not patch"),
    (["--max-rejects", "1", "--strict"], "--max-rejects: not together with --strict"),
    (["--sample", "1"], "--sample: only with --infer"),
    (["--csv", "--records", "a"], "--records: not together with --csv"),
    (["--columns", "--records", "a"], "--columns: not together with --records"),
    (["--no-header", "--header", "a"], "--no-header: not together with --header"),
    (["--name", ""], "--name: has 0 bytes"),
    (["--rejects", "-"], "--rejects: '-' is not a file"),
  ])
  func `options that contradict each other are a wrong use`(
    options: [String], message: String
  ) async throws {
    let folder = try StoreFolder()
    let file = try folder.file("p.json", #"[{"k":1}]"#)
    let outcome = await folder.importing([file, "--entity", "E"] + options)
    #expect(outcome.status == .usage)
    #expect(outcome.messages.contains(message), "\(outcome.messages)")
    #expect(!FileFacts.exists(folder.store))
  }
}
