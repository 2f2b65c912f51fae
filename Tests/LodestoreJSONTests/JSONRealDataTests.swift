import Foundation
import LodestoreJSON
import Testing

private struct PodSpec: Decodable {
  var name: String
  var version: String
  var summary: String?
  var homepage: String?
  var license: JSONValue?
  var authors: JSONValue?
  var source: JSONValue?
  var platforms: JSONValue?
  var dependencies: JSONValue?
}

@Suite struct `Real pages` {
  private static let data = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("../shared/data").standardizedFileURL

  /// The bytes of a file of the shared data, or nil and a line on the console.
  private func bytes(_ path: String) -> Data? {
    let file = Self.data.appendingPathComponent(path)
    guard let bytes = try? Data(contentsOf: file, options: .mappedIfSafe) else {
      print("SKIPPED: real pages, because there is no \(file.path)")
      return nil
    }
    return bytes
  }

  @Test(arguments: [
    ("cocoapods/specs-trunk.jsonl", 11_028), ("cocoapods/specs-vendor.jsonl", 1119),
  ])
  func `every podspec parses, decodes and writes back`(_ path: String, _ count: Int) throws {
    guard let bytes = bytes(path) else { return }
    var reader = JSONLinesReader()
    reader.append(bytes)
    reader.finish()
    var records = 0
    while let line = try reader.next() {
      for node in try #require(line.root["result"]).elements {
        let spec = try JSONNodeDecoder().decode(PodSpec.self, from: node)
        #expect(!spec.name.isEmpty && !spec.version.isEmpty)
        #expect(spec.source == node["source"]?.jsonValue)
        records += 1
      }
      let value = line.root.jsonValue
      #expect(try JSONValue(parsing: value.description) == value)
    }
    #expect(records == count)
  }

  @Test(arguments: ["films", "people", "planets", "species", "starships", "vehicles"])
  func `every SWAPI page has the values that Foundation reads`(_ name: String) throws {
    guard let bytes = bytes("swapi/\(name).jsonl") else { return }
    var reader = JSONLinesReader()
    reader.append(bytes)
    reader.finish()
    var lines = 0
    while let line = try reader.next() {
      let source = line.root.withSourceBytes { Data($0) }
      #expect(try JSONDecoder().decode(JSONValue.self, from: source) == line.root.jsonValue)
      lines += 1
    }
    #expect(lines > 0)
  }

  @Test(arguments: ["fireball-2024-02", "fireball-2026-05", "fireball-components-2024-02"])
  func `every fireball file has the values that Foundation reads`(_ name: String) throws {
    guard let bytes = bytes("fireball/\(name).json") else { return }
    #expect(
      try JSONDecoder().decode(JSONValue.self, from: bytes) == JSONValue(parsing: bytes))
  }
}
