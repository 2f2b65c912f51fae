import EntityStore
import Testing

@testable import KVDumpCommands

@Suite("Places in kvdump")
struct PlaceCommandTests {
  private static let schema = #"""
    {"entity":"Fall","attributes":[{"name":"name","type":"string"},
    {"name":"latitude","type":"double","optional":true},
    {"name":"longitude","type":"double","optional":true},
    {"name":"note","type":"string","optional":true},
    {"name":"site","type":"json","optional":true}],
    "placeIndexes":[{"sources":[{"attribute":"latitude"},{"attribute":"longitude"}]}],
    "searchIndexes":[{"sources":[{"attribute":"note"}]}]}
    """#

  private func falls() async throws -> StoreFolder {
    let folder = try StoreFolder()
    let schema = try folder.file("schema.json", Self.schema)
    try await folder.load(
      #"""
      [{"name":"far","latitude":10,"longitude":10,"note":"red","site":{"lat":1,"lon":2}},
      {"name":"near","latitude":54.9,"longitude":61.2,"note":"green","site":{"lat":"x","lon":2}},
      {"name":"nearer","latitude":54.8,"longitude":61,"note":"red","site":{"lat":3.5}},
      {"name":"none","note":"red"}]
      """#, "--entity", "Fall", "--schema", schema, "--insert-only")
    return folder
  }

  private func names(_ outcome: StoreFolder.Outcome) -> [String] {
    #expect(outcome.status == .success, "\(outcome.messages)")
    return outcome.data.split(whereSeparator: \.isNewline).dropFirst().compactMap {
      $0.split(separator: ",").first.map(String.init)
    }
  }

  private func query(_ folder: StoreFolder, _ arguments: String...) async -> [String] {
    names(
      await folder.execute(
        "query", ["Fall", "--fields", "name", "--format", "csv"] + arguments))
  }

  @Test func `near finds records by distance, the nearest first`() async throws {
    let folder = try await falls()
    #expect(await query(folder, "--near", "54.8,61.1") == ["nearer", "near", "far"])
    #expect(await query(folder, "--near", "54.8,61.1,500km") == ["nearer", "near"])
    #expect(await query(folder, "--near", "54.8,61.1,6.5km") == ["nearer"])
    #expect(await query(folder, "--near", "54.8,61.1,10mi", "note == 'green'") == ["near"])
    #expect(await query(folder, "--near", "-54.8,-61.1,1m").isEmpty)
    let outcome = await folder.run(
      "query", "Fall", "--near", "54.8,61.1,10km", "--fields", "name", "--format", "jsonl")
    #expect(outcome.data == "{\"name\":\"nearer\",\"_distance\":6410.0}\n")
    #expect(await folder.isSound())
  }

  @Test func `the distance is a term of an order`() async throws {
    let folder = try await falls()
    let near = "54.8,61.1"
    #expect(
      await query(folder, "--near", near, "--sort", "_distance") == ["nearer", "near", "far"])
    #expect(
      await query(folder, "--near", near, "--sort", "-_distance") == ["far", "near", "nearer"])
    #expect(
      await query(folder, "--near", near, "--sort", "note,-_distance") == ["near", "far", "nearer"])
    let plan = await folder.run(
      "explain", "Fall", "--near", near, "--sort", "_distance", "--limit", "1")
    #expect(plan.status == .success && plan.data.contains("_distance"))
    let without = await folder.run("query", "Fall", "--sort", "_distance")
    #expect(without.status == .usage, "\(without.messages)")
    #expect(without.messages.contains("the condition has no NEAR"), "\(without.messages)")
  }

  @Test(arguments: ["91,0", "0,181", "1", "1,2,3ft", "a,b", "1,2,-3km", "1,2,3,4"])
  func `a place that is none is a wrong use`(place: String) async throws {
    let folder = try await falls()
    let outcome = await folder.run("query", "Fall", "--near", place)
    #expect(outcome.status == .usage && outcome.messages.contains("--near"), "\(outcome.messages)")
  }

  @Test func `GeoJSON that is written is read as equal records`() async throws {
    let folder = try await falls()
    let file = folder.path + "/falls.geojson"
    let exported = await folder.run("export", "Fall", file, "--fields", "name,note")
    #expect(exported.status == .success, "\(exported.messages)")
    let text = String(decoding: try folder.bytes(file), as: UTF8.self)
    let collection = try JSONValue(parsing: text)
    #expect(collection["type"]?.stringValue == "FeatureCollection")
    #expect(collection["features"]?.arrayValue?.count == 4)
    let first = collection["features"]?.arrayValue?.first
    #expect(first?["geometry"]?["coordinates"]?.arrayValue?.first?.doubleValue == 10)
    #expect(first?["properties"]?["name"]?.stringValue == "far")
    #expect(collection["features"]?.arrayValue?.last?["geometry"] == .null)
    let other = try StoreFolder()
    try await other.load(
      text, "--entity", "Fall", "--infer", "--insert-only", name: "falls.geojson")
    let fields = "name,note,latitude,longitude"
    #expect(
      await other.run("query", "Fall", "--fields", fields).data
        == folder.run("query", "Fall", "--fields", fields).data)
    #expect(await other.isSound())
    let none = await folder.run("query", "Fall", "FALSEPREDICATE", "--format", "geojson")
    #expect(none.data == "{\"type\":\"FeatureCollection\",\"features\":[]}\n")
  }

  @Test func `named attributes are the places of an entity without a place index`() async throws {
    let folder = try await falls()
    let outcome = await folder.run(
      "query", "Fall", "--format", "geojson", "--latitude", "site.lat", "--longitude", "site.lon",
      "--fields", "name")
    let features = try JSONValue(parsing: outcome.data)["features"]?.arrayValue ?? []
    #expect(features.count == 4)
    let numbers = features.first?["geometry"]?["coordinates"]?.arrayValue?.compactMap(\.doubleValue)
    #expect(numbers == [2, 1])
    // A record with a text, or without a longitude, has no geometry.
    #expect(features.dropFirst().allSatisfy { $0["geometry"] == .null })
    let found = await folder.run(
      "search", "Fall", "green", "--format", "geojson", "--latitude", "longitude", "--longitude",
      "latitude")
    #expect(found.data.contains("\"coordinates\":[54.9,61.2]"), "\(found.data)")
    let exported = await folder.run(
      "export", "Fall", "-", "--format", "geojson", "--latitude", "site.lat", "--longitude",
      "site.lon")
    #expect(exported.status == .success && exported.data.contains("[2.0,1.0]"))
    for wrong in [
      ["--latitude", "site.lat"], ["--latitude", "site.lat", "--longitude", "site.lon"],
      ["--format", "geojson", "--latitude", "nothing", "--longitude", "site.lon"],
    ] {
      #expect(await folder.execute("query", ["Fall"] + wrong).status == .usage, "\(wrong)")
    }
  }

  @Test func `search refuses a condition with a search of its own`() async throws {
    let folder = try await falls()
    let both = await folder.run("search", "Fall", "red", "note SEARCH 'green'")
    #expect(both.status == .usage)
    #expect(
      both.messages.hasPrefix("kvdump: \"note SEARCH 'green'\": has a SEARCH of its own")
        && both.messages.contains("kvdump query"), "\(both.messages)")
    let found = await folder.run(
      "search", "Fall", "red", "latitude > 20", "--fields", "name", "--format", "csv")
    #expect(names(found) == ["nearer"])
  }
}
