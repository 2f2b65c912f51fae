import Foundation
import Testing

@testable import KVDumpCommands

@Suite struct `Members inside of members` {
  private let quakes = """
    {"type": "FeatureCollection", "features": [
      {"type": "Feature", "id": "a", "properties": {"mag": 4.5, "place": "here", "time": 1000},
       "geometry": {"type": "Point", "coordinates": [10.5, -3]}},
      {"type": "Feature", "id": "b", "properties": {"mag": null, "place": "there"},
       "geometry": {"type": "Point", "coordinates": [11, 4.25]}},
      {"type": "Feature", "id": "c", "properties": null, "geometry": null}
    ]}
    """

  private let maps = [
    "--entity", "Quake", "--records", "features", "--unique", "id",
    "--map", "properties.mag=mag", "--map", "properties.place=place",
    "--map", "geometry.coordinates.0=longitude", "--map", "geometry.coordinates.1=latitude",
  ]

  private func load(_ folder: StoreFolder, _ more: String...) async throws -> StoreFolder.Outcome {
    let file = try folder.file("quakes.json", quakes)
    let memory = MemoryConsole()
    let status = await KVDump.execute(
      ["import", folder.store, file] + maps + more, on: memory.console)
    return .init(status: status, data: memory.data.text, messages: memory.messages.text)
  }

  @Test func `members inside of members become attributes of an inferred schema`() async throws {
    let folder = try StoreFolder()
    let outcome = try await load(folder, "--infer")
    #expect(outcome.status == .success, "\(outcome.messages)")
    #expect(outcome.data.contains(#""inserted":3"#), "\(outcome.data) \(outcome.messages)")
    #expect(outcome.messages.contains("attribute 'mag', double, optional"), "\(outcome.messages)")
    #expect(!outcome.messages.contains("'properties'"), "\(outcome.messages)")
    let found = await folder.run(
      "query", "Quake", "mag > 4 AND latitude < 0", "--format", "jsonl")
    #expect(
      found.data.contains(
        #""id":"a","mag":4.5,"place":"here","longitude":10.5,"latitude":-3"#)
        || found.data.contains(#""mag":4.5"#) && found.data.contains(#""latitude":-3"#),
      "\(found.data)")
    let again = try await load(folder)
    #expect(again.data.contains(#""unchanged":3"#), "\(again.data) \(again.messages)")
    #expect(await folder.isSound())
  }

  @Test func `a member with the full path as its name precedes nested members`() async throws {
    let folder = try StoreFolder()
    let outcome = try await folder.load(
      #"[{"id": 1, "a.b": 7, "a": {"b": 8}}, {"id": 2, "a": {"b": 9}}]"#,
      "--entity", "Item", "--unique", "id", "--infer", "--map", "a.b=value")
    #expect(outcome.status == .success)
    let items = await folder.run("records", "Item", "--format", "jsonl")
    #expect(
      items.data.contains(#""value":7"#) && items.data.contains(#""value":9"#), "\(items.data)")
  }

  @Test func `import reports nested members that no record has, like a mistyped name`() async throws
  {
    let folder = try StoreFolder()
    let file = try folder.file("a.json", #"[{"id": 1, "p": {"mag": 2}}]"#)
    let outcome = await folder.run(
      "import", file, "--entity", "Item", "--unique", "id", "--infer", "--map", "p.mga=mag")
    #expect(outcome.status != .success && outcome.messages.contains("p.mga"), "\(outcome.messages)")
  }

  @Test func `a schema file carries an index over nested elements to another store`() async throws {
    let folder = try StoreFolder()
    let text = #"[{"id": 1, "tags": ["a", "b"]}, {"id": 2, "tags": ["b"]}]"#
    let outcome = try await folder.load(
      text, "--entity", "Item", "--unique", "id", "--infer", "--index", "tags[]")
    #expect(outcome.status == .success, "\(outcome.messages)")
    let schema = await folder.run("schema", "--format", "json")
    #expect(
      schema.data.contains(#""elementIndexes":[{"attribute":"tags","path":[]}]"#), "\(schema.data)")
    let file = try folder.file("schema.json", schema.data)
    let other = try StoreFolder()
    let copied = try await other.load(text, "--entity", "Item", "--schema", file)
    #expect(copied.status == .success, "\(copied.messages)")
    let same = await other.run("schema", "--diff", folder.store, "--format", "table")
    #expect(same.messages.contains("nothing would change"), "\(same.data)")
    #expect(await other.isSound())
  }
}
