import EntityStore
import Foundation
import LodestoreFormat
import Testing

@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

/// Copies and exports of stores in which bytes have changed.
@Suite("Copies of damaged stores")
struct DamagedCopyTests {
  /// Makes a store with three records, and replaces `find` by `put` in the bytes of the file.
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

  /// The key of an entry in an index over a text: the code of a text, the text, a zero, and the
  /// record's id.
  private static func entry(_ key: String, _ id: UInt8) -> [UInt8] {
    [2] + key.utf8 + [0] + self.id(id)
  }

  private static let marker = Array("mark-b".utf8)
  /// The bytes of a record's last attribute before its checksum, which occur in no key.
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

  @Test func `a copy leaves no other file`() async throws {
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

  @Test func `an export of all entities ends at a damaged record, and leaves no file`() async throws
  {
    let folder = try await damagedStore(Self.record, Self.changedRecord)
    let files = try folder.files()
    let outcome = await folder.run("export", "--all-entities", folder.path + "/all")
    #expect(outcome.status == .damagedData && outcome.messages.contains("E 2: its checksum"))
    #expect(!outcome.messages.contains("replaced"))
    #expect(try folder.files() == files)
  }

  @Test(arguments: Fault.all)
  func `an export of all entities fails at every finding in its trees, and leaves no file`(
    _ fault: Fault
  ) async throws {
    let store = try fault.base == .kept ? VerifiedStore.kept() : VerifiedStore()
    try store.change { try fault.plant($0) }
    let findings = try Verifier.verify(path: store.path).findings
    let trees = ["records.", "index.", "elements.", "links.", "order."]
    guard
      findings.contains(where: { finding in
        trees.contains { finding.tree?.hasPrefix($0) ?? false }
      })
    else { return }
    let folder = store.path + "-all"
    let memory = MemoryConsole()
    let status = await KVDump.execute(
      ["export", store.path, "--all-entities", folder, "--links"], on: memory.console)
    #expect(status == .damagedData, "\(findings): \(memory.messages.text)")
    #expect(!FileManager.default.fileExists(atPath: folder))
  }

  @Test func `a folder and existing files stay, and a replaced file is reported`() async throws {
    let folder = try await damagedStore(Self.record, Self.changedRecord)
    let all = folder.path + "/all"
    try FileManager.default.createDirectory(atPath: all, withIntermediateDirectories: true)
    let other = try folder.file("all/other.txt", "of somebody")
    let first = await folder.run("export", "--all-entities", all)
    #expect(first.status == .damagedData)
    #expect(try FileManager.default.contentsOfDirectory(atPath: all) == ["other.txt"])
    let schema = try folder.file("all/\(ExportFolder.schemaName)", "old")
    let second = await folder.run("export", "--all-entities", all, "--force")
    #expect(second.status == .damagedData)
    let told = "; \(schema) was replaced before; write it again\n"
    #expect(second.messages.hasSuffix(told), "\(second.messages)")
    #expect(try folder.bytes(other) == Data("of somebody".utf8))
    let left = try FileManager.default.contentsOfDirectory(atPath: all).sorted()
    #expect(left == [ExportFolder.schemaName, "other.txt"])
  }

  // MARK: Lost pairs and entries

  /// Makes the store without one pair, as if a part of a write were lost.
  private func incompleteStore(_ key: [UInt8], _ tree: TreeName) async throws -> StoreFolder {
    let folder = try await damagedStore(Self.marker, Self.marker)
    try FaultFile.commit(to: folder.store) { try $0.remove(key, tree) }
    #expect(await !folder.isSound())
    return folder
  }

  private static let lostRecord = (id(2), TreeName.records(entity: 1))
  /// The index over `v`, whose keys are tuples with ids after them.
  private static func lostEntry() throws -> ([UInt8], TreeName) {
    var encoder = KeyEncoder()
    try encoder.append(.integer(2))
    encoder.finishTuple()
    encoder.append(recordID: 2)
    return (Array(encoder.bytes), .index(entity: 1, index: 2))
  }

  @Test(arguments: [
    [], ["--where", "v == 2"], ["--where", "k != 'z'"], ["--where", "k == 'mark-a'"],
    ["--sort", "v"], ["--format", "csv"],
  ])
  func `an export that a lost record or entry could shorten fails, and leaves no file`(
    arguments: [String]
  ) async throws {
    for (key, tree) in [Self.lostRecord, try Self.lostEntry()] {
      let folder = try await incompleteStore(key, tree)
      let files = try folder.files()
      for file in [folder.path + "/e.jsonl", "-"] {
        let memory = MemoryConsole()
        let status = await KVDump.execute(
          ["export", folder.store, "E", file] + arguments, on: memory.console)
        #expect(status == .damagedData, "\(tree) \(arguments)")
        #expect(memory.messages.text.contains("index 'E."), "\(memory.messages.text)")
      }
      #expect(try folder.files() == files)
    }
  }

  @Test func `an export of all entities fails at a lost record or entry`() async throws {
    for (key, tree) in [Self.lostRecord, try Self.lostEntry()] {
      let folder = try await incompleteStore(key, tree)
      let outcome = await folder.run("export", "--all-entities", folder.path + "/all")
      #expect(outcome.status == .damagedData && outcome.messages.contains("index 'E."))
      #expect(outcome.data == "")
    }
  }

  @Test func `an export by an index over elements fails if an entry is lost`()
    async throws
  {
    let folder = try StoreFolder()
    let rows = (0..<200).map { #"{"k":\#($0),"words":["w\#($0)","all"]}"# }
    try await folder.load(
      rows.joined(separator: "\n"), "--entity", "Bag", "--unique", "k", "--index", "words[]",
      "--infer", name: "bags.jsonl")
    let query = ["--where", "ANY words == 'w7'"]
    let sound = await folder.run("export", "Bag", "-", query[0], query[1])
    #expect(sound.status == .success && sound.data.contains("w7"))
    let tree = TreeName.elements(entity: 1, index: 1)
    try FaultFile.commit(to: folder.store) { store in
      let word = try Self.word("w7")
      let pair = try required(store.pairs(tree).first { $0.key.starts(with: word) })
      try store.remove(pair.key, tree)
    }
    let outcome = await folder.run("export", "Bag", "-", query[0], query[1])
    #expect(outcome.status == .damagedData && outcome.data == "", "\(outcome)")
    #expect(outcome.messages.contains("it has 399 entries for 400 elements"), "\(outcome)")
  }

  private static func word(_ text: String) throws -> [UInt8] {
    var encoder = KeyEncoder()
    try encoder.append(.string(text))
    encoder.finishTuple()
    return Array(encoder.bytes)
  }
}
