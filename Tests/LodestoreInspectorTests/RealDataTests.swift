import EntityStore
import LodestoreJSON
import Testing

@testable import KVDumpCommands
@testable import LodestoreInspector

// Whole Foundation: the removal of a folder is not in FoundationEssentials.
import Foundation

@Suite("Real data in the inspector")
struct RealDataTests {
  /// The pods next to the repository; `nil`, with a printed message, without them.
  private static let pods: String? = {
    let repository = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let named = ProcessInfo.processInfo.environment["LODESTORE_DATA"]
    let path = (named ?? "/\(repository)/../shared/data") + "/cocoapods/specs-trunk.jsonl"
    if FileManager.default.fileExists(atPath: path) { return path }
    print("skipped: no \(path); LODESTORE_DATA names the folder with the real data")
    return nil
  }()

  @Test func `a pod is found by a nested attribute, and its page has all its values`()
    async throws
  {
    guard let pods = Self.pods else { return }
    let folder = FileManager.default.temporaryDirectory.path + "/inspector-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/pods.lodestore"
    let errors = MemorySink()
    let status = await KVDump.execute(
      [
        "import", path, pods, "--records", "result", "--entity", "Pod", "--unique", "name,version",
        "--infer",
      ], on: Console(output: MemorySink(), errors: errors))
    try #require(status == .success, "\(errors.text)")
    let store = try DynamicStore(path: path, options: ReadStore.options)
    defer { store.close() }
    func json(_ address: String) throws -> JSONNode {
      let answer = PrintedAddress(address, of: store, path: path)
      #expect(answer.status == 200)
      var bytes: [UInt8] = []
      try answer.forEachPart { bytes += $0 }
      return try JSONDocument.parsing(bytes).root
    }
    let rows = try json("/Pod.json?name=AFNetworking&_column=version&_column=license.type")["rows"]
    #expect(rows?.count == 27)
    #expect(try json("/.json")["entities"]?[0]?["records"]?.int64 == 11_028)
    let nested = try json("/Pod.json?license.type=BSD&_sort=name&_limit=3")
    let first = try #require(nested["rows"]?[0])
    #expect(first["license"]?["type"]?.string == "BSD")
    let id = try #require(first["_id"]?.int64)
    #expect(try json("/Pod/\(id).json")["record"]?["license"]?["type"]?.string == "BSD")
    let all = try json("/Pod.json?_limit=all&_column=name")["rows"]
    #expect(all?.count == 11_028)
  }
}
