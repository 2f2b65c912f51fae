import EntityStore
import LodestoreFormat
import Testing

@testable import KVDumpCommands
@testable import LodestoreVerifier

/// A kennel with a name.
///
/// A function of the program derives whether the kennel is loud; the store counts its dogs.
private struct Kennel: Entity {
  var id = RecordID<Kennel>()
  var name: String
  private(set) var dogCount = 0
  private(set) var isLoud = false

  static let dogs = ToMany<Kennel, Dog>(inverse: \.kennel, ordered: true)
  static let schema = EntitySchema<Kennel>(
    "Kennel",
    attributes: [
      .init("name", \.name), .derived("dogCount", \.dogCount, .count(dogs)),
      .derived("isLoud", \.isLoud, .function(version: 1) { $0.name == "loud" }),
    ], relationships: [.init("dogs", dogs)])

  init(_ name: String) { self.name = name }
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    dogCount = try reader.read()
    isLoud = try reader.read()
  }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

private struct Dog: Entity {
  var id = RecordID<Dog>()
  var name: String
  var kennel: RecordID<Kennel>?

  static let schema = EntitySchema<Dog>(
    "Dog", attributes: [.init("name", \.name), .toOne("kennel", \.kennel)])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    kennel = try reader.read()
  }
  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(kennel)
  }
}

/// The dog as a program declared it before dogs had kennels.
private struct StrayDog: Entity {
  var id = RecordID<StrayDog>()
  var name: String

  static let schema = EntitySchema<StrayDog>("Dog", attributes: [.init("name", \.name)])

  init(_ name: String) { self.name = name }
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

/// A record that is older than an id attribute refers to another record by the attribute's initial
/// value.
@Suite struct `Salvage of initial ids` {
  private static func make(_ path: String) throws {
    let store = try Store(at: path, entities: [StrayDog.self])
    try store.insert((0..<5).map { StrayDog("\($0)") })
    store.close()
    let stage = MigrationStage(
      to: 1,
      .create(entity: "Kennel"), .add("name", to: "Kennel", String.self, initial: ""),
      .custom("two kennels") { tx in
        for name in ["loud", "quiet"] { _ = try tx.insert("Kennel") { $0["name"] = name } }
      },
      .add("kennel", to: "Dog", RecordID<Kennel>?.self, initial: .init(rawValue: 1)))
    try Store(at: path, entities: [Kennel.self, Dog.self], migrating: [stage]).close()
  }

  @Test(arguments: [false, true])
  func `salvage keeps links of initial ids, or empties them if the target is lost`(isLost: Bool)
    async throws
  {
    let folder = try StoreFolder()
    try Self.make(folder.store)
    #expect(try Verifier.verify(path: folder.store).isSound)
    if isLost {
      var body: [UInt8] = []
      try FaultFile.commit(to: folder.store) { raw in
        body = try required(raw.pairs(.records(entity: 2)).first).body
      }
      // The record is damaged in pages of earlier commits too, because salvage would restore it
      // from these.
      var pages = try FilePages(folder.store)
      for place in pages.bytes.indices where pages.bytes[place...].starts(with: body) {
        pages.bytes[place + 2] ^= 1
      }
      try pages.write(folder.store)
    }
    let memory = MemoryConsole()
    let out = folder.path + "/out.lodestore"
    let status = await KVDump.execute(["salvage", folder.store, out], on: memory.console)
    #expect(status == (isLost ? .negative : .success), "\(memory.messages.text)")
    #expect(try Verifier.verify(path: out).isSound)
    let store = try Store(at: out, entities: [Kennel.self, Dog.self])
    defer { store.close() }
    let kennels = try await store.fetch(Kennel.all)
    #expect(kennels.map(\.name) == (isLost ? ["quiet"] : ["loud", "quiet"]))
    #expect(kennels.map(\.dogCount) == (isLost ? [0] : [5, 0]))
    #expect(kennels.map(\.isLoud) == (isLost ? [false] : [true, false]))
    let dogs = try await store.fetch(Dog.all)
    #expect(dogs.map(\.name) == (0..<5).map(String.init))
    #expect(dogs.allSatisfy { $0.kennel == (isLost ? nil : .init(rawValue: 1)) })
  }
}
