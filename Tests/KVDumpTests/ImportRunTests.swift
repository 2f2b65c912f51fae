import EntityStore
import Testing

@testable import KVDumpCommands

@Suite("Import runs and their reports")
struct ImportRunTests {
  private func folder() async throws -> StoreFolder {
    let folder = try StoreFolder()
    try await folder.load(#"[{"k":-1,"v":1}]"#, "--entity", "E", "--unique", "k", "--infer")
    return folder
  }

  // MARK: Rejects

  @Test func `import writes every reject to a file, also those that the report omits`() async throws
  {
    let folder = try await folder()
    let count = ImportReport.longestRejectList + 500
    let lines = (0..<count).map { #"{"k":\#($0),"v":"x"}"# } + [#"{"k":1,"v":1}"#]
    let file = try folder.file("p.jsonl", lines.joined(separator: "\n"))
    let rejects = folder.path + "/rejects.jsonl"
    let outcome = await folder.importing([
      file, "--entity", "E", "--rejects", rejects, "--format", "json",
    ])
    #expect(outcome.status == .success)
    #expect(try folder.report(outcome).rejected == count)
    let report = try JSONValue(parsing: outcome.data)
    #expect(report["rejects"]?.arrayValue?.count == ImportReport.longestRejectList)
    let written = try folder.bytes(rejects).split(separator: UInt8(ascii: "\n"))
    #expect(written.count == count)
    let last = try JSONDocument.parsing(try #require(written.last)).root
    #expect(last["file"]?.string == file)
    #expect(last["page"]?.int64 == 11)
    #expect(last["record"]?.int64 == 500)
    #expect(last["attribute"]?.string == "v")
    #expect(
      last["reason"]?.string
        == "'v' must be an integer that fits int64, found a string; --type v=int64 reads texts")
    let offset = Int(try #require(last["byteOffset"]?.int64))
    let bytes = try folder.bytes(file)[offset...]
    #expect(bytes.starts(with: Array("\"x\"".utf8)))
  }

  @Test func `import refuses to write rejects over a file, but appends when it resumes`()
    async throws
  {
    let folder = try await folder()
    let file = try folder.file("p.json", #"[{"k":1,"v":"x"},{"k":2,"v":2}]"#)
    let other = try folder.file("r.jsonl", "{\"whole\":1}\n{\"cut")
    let refused = await folder.importing([file, "--entity", "E", "--rejects", other])
    #expect(refused.status == .cannotCreate)
    #expect(refused.messages.contains("r.jsonl: already exists"))
    for path in [file, folder.store, folder.store + "-lock"] {
      let outcome = await folder.importing([file, "--entity", "E", "--rejects", path, "--resume"])
      #expect(outcome.status == .usage)
      #expect(outcome.messages.contains("is the store or an imported file"))
    }
    let missing = await folder.importing([
      file, "--entity", "E", "--rejects", folder.path + "/no/r.jsonl",
    ])
    #expect(missing.status == .cannotCreate)
    #expect(await folder.run("count", "E").data == "{\"count\":1}\n")
    let added = await folder.importing([file, "--entity", "E", "--rejects", other, "--resume"])
    #expect(added.status == .success)
    let lines = try folder.bytes(other).split(separator: UInt8(ascii: "\n"))
    #expect(lines.count == 2)
    #expect(String(decoding: lines[0], as: UTF8.self) == "{\"whole\":1}")
    #expect(try JSONDocument.parsing(lines[1]).root["page"]?.int64 == 1)
  }

  @Test func `a refused import leaves no file of rejects`() async throws {
    let folder = try await folder()
    let file = try folder.file("p.json", "[{\"k\":")
    let rejects = folder.path + "/new.jsonl"
    let files = try folder.files()
    let outcome = await folder.importing([file, "--entity", "E", "--rejects", rejects])
    #expect(outcome.status != .success && outcome.status != .negative, "\(outcome)")
    #expect(try folder.files() == files)
    let kept = try folder.file("kept.jsonl", "")
    _ = await folder.importing([file, "--entity", "E", "--rejects", kept])
    #expect(try folder.bytes(kept).isEmpty)
  }

  @Test func `import stops when the file of rejects is full`() async throws {
    guard FileFacts.exists("/dev/full") else { return }
    let folder = try await folder()
    let lines = (0..<100).map { #"{"k":\#($0),"v":"x"}"# }
    let file = try folder.file("p.jsonl", lines.joined(separator: "\n"))
    let outcome = await folder.importing([file, "--entity", "E", "--rejects", "/dev/full"])
    #expect(outcome.status == .inputOutput)
    #expect(outcome.messages.contains("/dev/full: No space left on device"))
    #expect(outcome.messages.contains("and 90 more rejects; not all are in /dev/full\n"))
  }

  @Test(arguments: [(2, true), (3, false)])
  func `import stops beyond the limit of rejects with status 1`(limit: Int, stops: Bool)
    async throws
  {
    let folder = try await folder()
    let good = (0..<1000).map { #"{"k":\#($0),"v":1}"# }
    let bad = (0..<3).map { #"{"k":\#(2000 + $0),"v":"x"}"# }
    let text = (good + bad + [#"{"k":3000,"v":1}"#]).joined(separator: "\n")
    let file = try folder.file("p.jsonl", text)
    let rejects = folder.path + "/r.jsonl"
    let outcome = await folder.importing([
      file, "--entity", "E", "--max-rejects", "\(limit)", "--rejects", rejects,
    ])
    #expect(outcome.status == (stops ? .negative : .success))
    let inserted = stops ? 1000 : 1001
    #expect(
      try folder.report(outcome)
        == ImportCounts(records: inserted + 3, inserted: inserted, rejected: 3))
    #expect(try folder.bytes(rejects).count { $0 == UInt8(ascii: "\n") } == 3)
    #expect(outcome.messages.contains("more than 2 records were rejected") == stops)
    #expect(await folder.run("count", "E").data == "{\"count\":\(inserted + 1)}\n")
    #expect(await folder.isSound())
  }

  @Test func `import has status 1 when every record was rejected`() async throws {
    let folder = try await folder()
    let file = try folder.file("p.json", #"[{"k":1,"v":"x"},{"k":2,"v":"y"}]"#)
    let outcome = await folder.importing([file, "--entity", "E"])
    #expect(outcome.status == .negative)
    #expect(outcome.messages.hasSuffix("E: every record was rejected\n"))
    let empty = try folder.file("empty.json", "[]")
    #expect(await folder.importing([empty, "--entity", "E"]).status == .success)
  }

  @Test func `a failed import keeps its message, not Swift's description`() async throws {
    let folder = try await folder()
    let file = try folder.file("bad.json", #"[{"k":1}}]"#)
    let outcome = await folder.importing([file, "--entity", "E"])
    #expect(outcome.status == .damagedData)
    let failure = try #require(try await folder.imports("E").first?["failure"]?.stringValue)
    #expect(failure.contains("cannot read JSON at line 1, column 9"))
    #expect(!failure.contains("CommandFailure"))
  }

  // MARK: Dry runs

  @Test func `a dry run reports the changes and leaves the store's bytes alone`() async throws {
    let folder = try await folder()
    let temporary = folder.path + "/tmp"
    try folder.makeFolder(temporary)
    let before = try folder.bytes(folder.store)
    let file = try folder.file("p.json", #"[{"k":1,"v":2,"w":3}]"#)
    let outcome = await folder.importing(
      [file, "--entity", "E", "--mirror", "--infer", "--dry-run"],
      environment: ["TMPDIR": temporary])
    #expect(outcome.status == .success)
    #expect(
      try folder.report(outcome) == ImportCounts(records: 1, inserted: 1, deleted: 1))
    #expect(outcome.messages.contains("E: added attribute 'w', int64, optional\n"))
    #expect(outcome.messages.hasSuffix("dry run: \(folder.store) is as it was\n"))
    #expect(try folder.bytes(folder.store) == before)
    #expect(try await folder.imports("E").count == 1)
    #expect(try folder.files(in: temporary).isEmpty)
  }

  @Test func `a dry run needs no store, and makes none`() async throws {
    let folder = try StoreFolder()
    let file = try folder.file("p.json", #"[{"k":1}]"#)
    let outcome = await folder.importing([
      file, "--entity", "E", "--unique", "k", "--infer", "--dry-run",
    ])
    #expect(try folder.report(outcome) == ImportCounts(records: 1, inserted: 1))
    #expect(!FileFacts.exists(folder.store))
    let nowhere = await folder.importing(
      [file, "--entity", "E", "--unique", "k", "--infer", "--dry-run"],
      environment: ["TMPDIR": folder.path + "/no"])
    #expect(nowhere.status == .cannotCreate)
    #expect(nowhere.messages.contains("/no: No such file"))
  }

  // MARK: Progress

  @Test(arguments: [
    (0.0, "[........]"), (0.5, "[####....]"), (0.99, "[#######.]"), (1.0, "[########]"),
    (7.0, "[########]"), (.nan, "[........]"),
  ])
  func `import shows its progress as a bar`(share: Double, bar: String) {
    #expect(Progress.bar(share, width: 10) == bar)
  }

  @Test func `the line of progress has share, records, speed and rejects`() {
    var progress = ImportProgress()
    progress.records = 12_345
    progress.bytes = 5_000_000
    progress.seconds = 2
    progress.rejected = 1200
    #expect(
      ImportSession.line(progress, share: 0.42)
        == "[########............]  42 %  12,345 records, 6,172/s, 2.5 MB/s, 1,200 rejected")
    #expect(
      ImportSession.line(progress, share: nil)
        == "12,345 records, 6,172/s, 2.5 MB/s, 1,200 rejected")
    #expect(ImportSession.line(ImportProgress(), share: nil) == "0 records")
  }

  // MARK: Reports in the store

  @Test func `the command imports lists all reports, the newest first`() async throws {
    let folder = try await folder()
    let file = try folder.file("p.json", #"[{"k":1,"v":2},{"k":2,"v":"x"}]"#)
    _ = await folder.importing([file, "--entity", "E", "--name", "second"])
    _ = await folder.importing([file, "--entity", "E", "--mirror"])
    let rows = await folder.run("imports", "--format", "csv").data.split(separator: "\r\n")
    let cells = rows.map { $0.split(separator: ",", omittingEmptySubsequences: false) }
    #expect(
      cells[0].joined(separator: " ")
        == "name entity strategy run ending started pages records inserted updated unchanged "
        + "deleted rejected seconds recordsPerSecond")
    #expect(
      cells.dropFirst().map { ($0[..<5] + $0[6..<13]).joined(separator: " ") } == [
        "E E mirror 2 finished 1 2 0 0 1 0 1", "second E upsert 1 finished 1 2 1 0 0 0 1",
        "E E upsert 1 finished 1 1 1 0 0 0 0",
      ])
    let reports = try await folder.imports("E")
    #expect(reports.map { $0["run"]?.intValue } == [2, 1])
    #expect(reports[0]["keptUnseen"]?.boolValue == true)
    #expect(reports[0][path: "rejects.0.attribute"]?.stringValue == "v")
    let table = await folder.run("imports", "second", width: 200)
    #expect(table.data.contains("upsert"))
    let unknown = await folder.run("imports", "secnd")
    #expect(unknown.status == .usage)
    #expect(unknown.messages.contains("has no import \"secnd\"; did you mean \"second\"?"))
  }
}
