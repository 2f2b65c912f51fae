import Foundation
import Testing

@testable import KVDumpCommands

@Suite struct `Expiry on the command line` {
  private static let schema = """
    {"entity":"Offer","attributes":[{"name":"code","type":"string"},\
    {"name":"until","type":"date","optional":true}],\
    "indexes":[{"attributes":["code"],"unique":true}],\
    "history":{"images":false,"preserved":[]},"expires":"until"}
    """
  private static let records = """
    [{"code":"past","until":"2001-02-03T00:00:00Z"},{"code":"ever","until":null},
    {"code":"far","until":"2999-01-01T00:00:00Z"}]
    """

  @Test func `a schema file declares expiry; reads omit expired records, and writes remove them`()
    async throws
  {
    let folder = try StoreFolder()
    let schema = try folder.file("schema.json", Self.schema)
    try await folder.load(Self.records, "--entity", "Offer", "--schema", schema)
    let count = await folder.run("count", "Offer", "--format", "csv")
    #expect(count.data.contains("2"), "\(count.data)")
    let records = await folder.run("records", "Offer", "--format", "csv")
    #expect(records.data.contains("ever") && !records.data.contains("past"))
    let told = await folder.run("schema", "--format", "table", "--color", "never")
    #expect(told.messages.contains("Offer: records expire by 'until'"), "\(told.messages)")
    let objects = await folder.run("schema", "Offer", "--format", "json")
    #expect(objects.data.contains(#""expires":"until""#), "\(objects.data)")

    // The last write of the import has already evicted the expired record.
    let evicted = await folder.run("evict", "--format", "json")
    #expect(evicted.status == .success)
    #expect(evicted.data.contains(#""evicted":0,"held":0"#), "\(evicted.data)")
    let changes = await folder.run("history", "--changes", "--format", "csv")
    #expect(changes.data.contains(",expired,Offer,1,"), "\(changes.data)")
    #expect(await folder.isSound())
  }

  @Test func `an expiry by a text that is no date is refused`() async throws {
    let folder = try StoreFolder()
    let schema = try folder.file(
      "schema.json",
      Self.schema.replacingOccurrences(of: #""expires":"until""#, with: #""expires":"code""#))
    let records = try folder.file("page.json", Self.records)
    let outcome = await folder.run("import", records, "--entity", "Offer", "--schema", schema)
    #expect(outcome.status != .success)
    #expect(outcome.messages.contains("name an attribute of type Date"), "\(outcome.messages)")
  }
}
