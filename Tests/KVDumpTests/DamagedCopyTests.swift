import EntityStore
import Foundation
import Testing

@testable import KVDumpCommands

/// Copies and exports of stores in which bytes have changed.
@Suite("Copies of damaged stores")
struct DamagedCopyTests {
  /// A store with three records, of which `find` has become `put` in the bytes of the file.
  private func damagedStore(
    _ find: [UInt8], _ put: [UInt8], keepsSize: Bool = true
  ) async throws -> StoreFolder {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"k":"mark-a","v":1},{"k":"mark-b","v":2},{"k":"mark-c","v":2}]"#,
      "--entity", "E", "--unique", "k", "--index", "v", "--infer")
    let store = try Store(at: folder.store, entities: [])
    try await store.write { try $0.put(Data("in a bucket".utf8), for: "x", in: "settings") }
    store.close()
    #expect(await folder.isSound())
    var bytes = try folder.bytes(folder.store)
    let range = try #require(bytes.range(of: Data(find), options: .backwards))
    bytes.replaceSubrange(range, with: put)
    try bytes.write(to: URL(fileURLWithPath: folder.store))
    return folder
  }

  private static func id(_ number: UInt8) -> [UInt8] { [number, 0, 0, 0, 0, 0, 0, 0] }

  /// Of the unique index, with the id that it leads to.
  private static func entry(_ key: String, _ id: UInt8) -> [UInt8] {
    [2] + key.utf8 + [0] + self.id(id)
  }

  private static let marker = Array("mark-b".utf8)
  /// The last attribute of a record, behind which its checksum is; not a key.
  private static let record: [UInt8] = [6, 0] + marker
  private static let changedRecord: [UInt8] = [6, 0] + Array("mark-x".utf8)

  @Test func `a copy with a damaged record is refused, and nothing is left of it`() async throws {
    let folder = try await damagedStore(Self.record, Self.changedRecord)
    let before = try folder.bytes(folder.store)
    let files = try folder.files()
    let outcome = await folder.run("compact", folder.path + "/copy.lodestore")
    #expect(outcome.status == .damagedData && outcome.data.isEmpty)
    #expect(outcome.messages.contains("E 2: its checksum is"), "\(outcome.messages)")
    #expect(outcome.messages.hasSuffix("; no copy was made\n"))
    let json = await folder.run("compact", folder.path + "/copy.lodestore", "--format", "json")
    #expect(json.messages.contains(#""entity":"E","_id":2"#), "\(json.messages)")
    #expect(try folder.files() == files)
    #expect(try folder.bytes(folder.store) == before)
  }

  @Test(arguments: [
    (entry("mark-b", 2), entry("mark-b", 9), "index 'E.k': leads to E 9, which is not there"),
    (entry("mark-b", 2), entry("mark-b", 1), "index 'E.k': a record has two entries in it"),
    (Array("in a bucket".utf8), Array("in 1 bucket".utf8), "buckets 73657474696e6773"),
  ])
  func `a copy with a damaged index or bucket is refused`(
    find: [UInt8], put: [UInt8], message: String
  ) async throws {
    let folder = try await damagedStore(find, put)
    let files = try folder.files()
    let outcome = await folder.run("compact", folder.path + "/copy.lodestore")
    #expect(outcome.status == .damagedData)
    #expect(outcome.messages.contains(message), "\(outcome.messages)")
    #expect(try folder.files() == files)
  }

  @Test func `a copy leaves nothing beside itself`() async throws {
    let folder = try await damagedStore(Self.marker, Self.marker)
    let files = try folder.files()
    let outcome = await folder.run("compact", folder.path + "/copy.lodestore")
    #expect(outcome.status == .success && outcome.data.contains(#""entities":1,"records":3"#))
    #expect(try folder.files() == (files + ["copy.lodestore"]).sorted())
    let memory = MemoryConsole()
    let copy = folder.path + "/copy.lodestore"
    #expect(await KVDump.execute(["verify", copy], on: memory.console) == .success)
  }

  @Test(arguments: [
    [], ["--fields", "_id"], ["--fields", "v"], ["--where", "v == 2"], ["--where", "k != 'z'"],
    ["--where", "v == 2", "--fields", "v"], ["--sort", "v", "--fields", "_id"], ["--sort", "k"],
    ["--format", "csv"], ["--format", "json"],
  ])
  func `an export of a damaged record names it, and leaves no file`(
    arguments: [String]
  ) async throws {
    let folder = try await damagedStore(Self.record, Self.changedRecord)
    let files = try folder.files()
    let memory = MemoryConsole()
    let status = await KVDump.execute(
      ["export", folder.store, "E", folder.path + "/e.jsonl"] + arguments, on: memory.console)
    #expect(status == .damagedData)
    #expect(memory.messages.text.contains("E 2: its checksum"), "\(memory.messages.text)")
    #expect(try folder.files() == files)
  }

  @Test func `an export of all entities ends at a damaged record`() async throws {
    let folder = try await damagedStore(Self.record, Self.changedRecord)
    let outcome = await folder.run("export", "--all-entities", folder.path + "/all")
    #expect(outcome.status == .damagedData && outcome.messages.contains("E 2: its checksum"))
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/all")
    #expect(left == [ExportFolder.schemaName])
  }
}
