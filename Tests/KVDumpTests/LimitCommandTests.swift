import EntityStore
import Foundation
import LodestoreVerifier
import Testing

@testable import KVDumpCommands

@Suite struct `Limits on the command line` {
  private static let schema = """
    {"entity":"Page","attributes":[{"name":"url","type":"string"},{"name":"at","type":"int64"}],\
    "indexes":[{"attributes":["url"],"unique":true}],"history":{"images":false,"preserved":[]},\
    "limit":{"count":100,"bytes":100000,"by":"at"}}
    """

  /// 1,000 pages, the youngest first.
  private static let records =
    "[" + (0..<1_000).map { #"{"url":"u\#($0)","at":\#(1_000 - $0)}"# }.joined(separator: ",") + "]"

  @Test func `a schema file declares limits, and an import ends within them`() async throws {
    let folder = try StoreFolder()
    let schema = try folder.file("schema.json", Self.schema)
    try await folder.load(Self.records, "--entity", "Page", "--schema", schema)
    let count = await folder.run("count", "Page", "--format", "csv")
    #expect(count.data.contains("100"), "\(count.data)")
    let records = await folder.run("records", "Page", "--format", "csv")
    #expect(records.data.contains("u99,") && !records.data.contains("u100,"))
    let told = await folder.run("schema", "--format", "table", "--color", "never")
    #expect(
      told.messages.contains("Page: limited to 100 records, 100000 bytes, by 'at'"),
      "\(told.messages)")
    let objects = await folder.run("schema", "Page", "--format", "json")
    #expect(
      objects.data.contains(#""limit":{"count":100,"bytes":100000,"by":"at"}"#), "\(objects.data)")
    let evicted = await folder.run("evict", "--format", "json")
    #expect(evicted.data.contains(#""evicted":0,"held":0"#), "\(evicted.data)")
    let history = await folder.run("history", "--format", "csv")
    #expect(history.data.contains("limit"), "\(history.data)")
    let keys = await folder.run("keys", "counters", "--format", "table", "--color", "never")
    #expect(keys.data.contains("size of the records of entity 1"), "\(keys.data)")
    #expect(await folder.isSound())
  }

  @Test func `a printed schema declares its limits again`() async throws {
    let folder = try StoreFolder()
    let schema = try folder.file("schema.json", Self.schema)
    try await folder.load("[]", "--entity", "Page", "--schema", schema)
    let printed = await folder.run("schema", "Page", "--format", "json")
    let other = try StoreFolder()
    let again = try other.file("schema.json", printed.data)
    try await other.load(Self.records, "--entity", "Page", "--schema", again)
    let count = await other.run("count", "Page", "--format", "csv")
    #expect(count.data.contains("100"), "\(count.data)")
  }

  @Test func `limits without a number are refused`() async throws {
    let folder = try StoreFolder()
    let schema = try folder.file(
      "schema.json",
      Self.schema.replacingOccurrences(of: #""count":100,"bytes":100000,"#, with: ""))
    let records = try folder.file("page.json", Self.records)
    let outcome = await folder.run("import", records, "--entity", "Page", "--schema", schema)
    #expect(outcome.status != .success)
    #expect(outcome.messages.contains("name one of them"), "\(outcome.messages)")
  }

  @Test func `a salvaged store keeps its limits`() async throws {
    let folder = try StoreFolder()
    let schema = try folder.file("schema.json", Self.schema)
    try await folder.load(Self.records, "--entity", "Page", "--schema", schema)
    let saved = folder.path + "/saved.lodestore"
    let outcome = await folder.run("salvage", saved)
    #expect(outcome.messages.contains("Page") || outcome.data.contains("Page"), "\(outcome)")
    let report = try Verifier.verify(path: saved)
    #expect(report.isSound && report.findings == [], "\(report.findings)")
    let store = try DynamicStore(path: saved, options: .readOnly)
    let text = try store.read { try $0.entity("Page").description.limitText }
    store.close()
    #expect(text == "100 records, 100000 bytes, by 'at'")
  }
}
