import EntityStore
import Testing

@testable import KVDumpCommands

@Suite("Resumed imports")
struct ImportResumeTests {
  private static let lines = (0..<12_000).map { #"{"k":\#($0),"v":"value \#($0 % 97)"}"# }

  private static func text(_ range: Range<Int>) -> String {
    lines[range].joined(separator: "\n") + "\n"
  }

  /// Makes a store with one record that is not among the lines, so that a mirror deletes it.
  private func folder() async throws -> StoreFolder {
    let folder = try StoreFolder()
    try await folder.load(#"{"k":-1,"v":"gone"}"#, "--entity", "E", "--unique", "k", "--infer")
    return folder
  }

  @Test func `a killed import continues after the last page`() async throws {
    guard let tool = ToolProcess.path else { return }
    let folder = try await folder()
    let killed = try PipedImport(tool, folder.store, ["--entity", "E", "--mirror"])
    try killed.write(Self.text(0..<5500))
    try await killed.waitForPages(folder, "E")
    killed.kill()
    let open = try #require(try await folder.imports("E").first)
    #expect(open["ending"]?.stringValue == "open")
    let way = await folder.run("imports", "E")
    #expect(way.messages.contains("--entity E --strategy mirror --resume"))

    let file = try folder.file("all.jsonl", Self.text(0..<12_000))
    let resumed = await folder.importing([file, "--entity", "E", "--mirror", "--resume"])
    #expect(resumed.status == .success)
    #expect(resumed.messages.contains("E: went on with run 2\n"))
    let expected = ImportCounts(records: 12_000, inserted: 12_000, deleted: 1)
    #expect(try folder.report(resumed) == expected)
    #expect(await folder.isSound())

    let whole = try await self.folder()
    let unkilled = await whole.importing([file, "--entity", "E", "--mirror"])
    #expect(try whole.report(unkilled) == expected)
    #expect(await whole.run("records", "E").data == folder.run("records", "E").data)
    let again = await folder.importing([file, "--entity", "E", "--mirror", "--resume"])
    #expect(again.messages.contains("E: there was nothing to continue; began from the start\n"))
    #expect(try folder.report(again).unchanged == 12_000)
  }

  @Test func `an import continues after a malformed page once the page is corrected`() async throws
  {
    let folder = try await folder()
    let bad = [
      try folder.file("a.jsonl", Self.text(0..<2000)),
      try folder.file("bad.json", #"[{"k":2000}}]"#),
    ]
    let failed = await folder.importing(bad + ["--entity", "E", "--name", "by night"])
    #expect(failed.status == .damagedData)
    #expect(failed.messages.contains("page 3: cannot read JSON at line 1"))
    #expect(failed.messages.contains("correct it and continue with --resume"))
    let report = try #require(try await folder.imports("by night").first)
    #expect(report["ending"]?.stringValue == "failed")
    #expect(report["pages"]?.intValue == 2)
    let way = await folder.run("imports", "by night")
    #expect(way.messages.contains("--entity E --name 'by night' --resume"))
    let seconds = try #require(report["seconds"]?.doubleValue)

    let other = try folder.file("b.jsonl", Self.text(1..<3000))
    let refused = await folder.importing([
      other, "--entity", "E", "--name", "by night", "--resume",
    ])
    #expect(refused.status == .damagedData)
    #expect(refused.messages.contains("the first 2 pages differ from the imported ones"))
    let strategy = await folder.importing(
      bad + ["--entity", "E", "--name", "by night", "--resume", "--mirror"])
    #expect(strategy.messages.contains("it was begun for E with the strategy upsert"))
    #expect(strategy.data.isEmpty)

    let mended = try folder.file("c.jsonl", Self.text(0..<3000))
    let resumed = await folder.importing([
      mended, "--entity", "E", "--name", "by night", "--resume",
    ])
    #expect(resumed.status == .success)
    #expect(try folder.report(resumed) == ImportCounts(records: 3000, inserted: 3000))
    // The report covers the records and the seconds of all runs.
    let total = try #require(try JSONValue(parsing: resumed.data)["seconds"]?.doubleValue)
    #expect(total >= seconds)
    #expect(try await folder.imports("by night").first?["seconds"]?.doubleValue == total)
    #expect(await folder.isSound())
  }

  @Test func `the later of two imports of one name runs to its end`() async throws {
    guard let tool = ToolProcess.path else { return }
    let folder = try await folder()
    let first = try PipedImport(tool, folder.store, ["--entity", "E"])
    try first.write(Self.text(0..<3000))
    try await first.waitForPages(folder, "E")
    let file = try folder.file("all.jsonl", Self.text(0..<4000))
    let second = await folder.importing([file, "--entity", "E"])
    #expect(second.status == .success)
    try first.write(Self.text(3000..<4000))
    let report = try JSONValue(parsing: try first.finish())
    #expect(report["inserted"]?.intValue ?? 0 > 0)
    #expect(report["records"]?.intValue ?? .max < 4000)
    #expect(
      first.process.terminationStatus == KVDumpCommands.ExitStatus.damagedData.rawValue)
    let endings = try await folder.imports("E").map { $0["ending"]?.stringValue }
    #expect(endings == ["finished", "cancelled", "finished"])
    #expect(await folder.run("count", "E").data == "{\"count\":4001}\n")
    #expect(await folder.isSound())
  }
}
