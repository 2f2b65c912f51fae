import EntityStore
// Whole Foundation: `Process` is not in FoundationEssentials.
import Foundation
import Testing

@testable import KVDumpCommands

/// The real pages next to the repository; without them, the tests print a message and pass.
enum RealData {
  static let folder: String = {
    let repository = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let named = ProcessInfo.processInfo.environment["LODESTORE_DATA"]
    return named ?? "/" + repository + "/../shared/data"
  }()

  static func file(_ name: String) -> String? {
    let path = folder + "/" + name
    if FileFacts.exists(path) { return path }
    print("skipped: no \(path); LODESTORE_DATA names the folder with the real data")
    return nil
  }
}

@Suite("Real data")
struct RealDataTests {
  @Test(arguments: [
    ("swapi/films.jsonl", "results", "episode_id", 6), ("swapi/people.jsonl", "results", "url", 82),
    ("swapi/planets.jsonl", "results", "url", 60), ("swapi/species.jsonl", "results", "url", 37),
    ("swapi/starships.jsonl", "results", "url", 36),
    ("swapi/vehicles.jsonl", "results", "url", 39),
    ("cocoapods/specs-trunk.jsonl", "result", "name,version", 11_028),
  ])
  func `real data comes back unchanged, and the second import changes nothing`(
    name: String, path: String, key: String, count: Int
  ) async throws {
    guard let file = RealData.file(name) else { return }
    let folder = try StoreFolder()
    let first = await folder.run(
      "import", file, "--records", path, "--entity", "E", "--unique", key, "--infer")
    #expect(first.data.contains(#""inserted":\#(count),"updated":0,"unchanged":0,"#))
    #expect(first.data.contains(#""rejected":0,"#))
    let again = await folder.run("import", file, "--records", path, "--entity", "E")
    #expect(again.data.contains(#""inserted":0,"updated":0,"unchanged":\#(count),"#))
    #expect(await folder.isSound())

    let rows = await folder.run("records", "E").data.split(separator: "\n")
    let pages = PageReader([try InputFile(file)], records: path)
    var index = 0
    while let page = try pages.next() {
      for record in page.records {
        defer { index += 1 }
        // The test compares every record of small files, and one in seven of the large file.
        guard count < 1000 || index.isMultiple(of: 7) else { continue }
        let row = try JSONDocument.parsing(rows[index].utf8).root
        for (member, value) in record.node.members {
          #expect(row[member]?.jsonValue == value.jsonValue, "record \(index) '\(member)'")
        }
        #expect(
          row.members.allSatisfy {
            $0.key == "_id" || record.node[$0.key] != nil || $0.value.isNull
          })
      }
    }
    #expect(index == count)
  }

  @Test func `import takes one snapshot of the fireballs over another`() async throws {
    guard let old = RealData.file("fireball/fireball-2024-02.json"),
      let new = RealData.file("fireball/fireball-2026-05.json")
    else { return }
    let folder = try StoreFolder()
    await folder.run("import", old, "--entity", "Fireball", "--unique", "date", "--infer")
    let outcome = await folder.run("import", new, "--entity", "Fireball")
    #expect(outcome.data.contains(#""inserted":281,"updated":313,"unchanged":466,"#))
    #expect(
      await folder.run("index", "Fireball", "date", "--reverse", "--limit", "1", "--fields", "date")
        .data == "{\"date\":\"2026-05-10 16:57:36\"}\n")
    #expect(await folder.isSound())
  }

  @Test func `import keeps the later of two records with one key`() async throws {
    guard let file = RealData.file("cocoapods/specs-vendor.jsonl") else { return }
    let folder = try StoreFolder()
    let outcome = await folder.run(
      "import", file, "--records", "result", "--entity", "Pod", "--unique", "name,version",
      "--infer")
    #expect(outcome.data.contains(#""inserted":1118,"#))
    #expect(outcome.data.contains(#""rejected":1,"#))
    #expect(await folder.isSound())
  }
}

@Suite("A reader during an import")
struct BesideAWriterTests {
  @Test func `a reader during an import sees whole pages only`() async throws {
    guard let tool = ToolProcess.path else { return }
    let folder = try StoreFolder()
    try await folder.load(#"[{"k":-1,"v":0}]"#, "--entity", "E", "--unique", "k", "--infer")
    let pages = (0..<200).map { page in
      let records = (0..<10).map { "{\"k\":\(page * 10 + $0),\"v\":\(page)}" }
      return "{\"r\":[\(records.joined(separator: ","))]}"
    }
    let file = try folder.file("pages.jsonl", pages.joined(separator: "\n"))
    let writer = Process()
    writer.executableURL = URL(fileURLWithPath: tool)
    writer.arguments = ["import", folder.store, file, "--records", "r", "--entity", "E"]
    writer.standardOutput = FileHandle.nullDevice
    try writer.run()
    var last = 0
    repeat {
      let outcome = await folder.run("records", "E", "--fields", "k,v")
      #expect(outcome.status == .success, "\(outcome.messages)")
      let count = outcome.data.split(separator: "\n").count
      #expect(count % 10 == 1 && count >= last)
      last = count
    } while writer.isRunning
    writer.waitUntilExit()
    #expect(writer.terminationStatus == 0)
    #expect(await folder.run("records", "E").data.split(separator: "\n").count == 2001)
    #expect(await folder.isSound())
  }
}
