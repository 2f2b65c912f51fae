import EntityStore
import Foundation
import Testing

@testable import KVDumpCommands

private struct Kennel: Entity {
  var id = RecordID<Kennel>()
  var name: String
  private(set) var sortName = ""
  private(set) var petCount = 0
  private(set) var length = 0

  static let pets = ToMany<Kennel, Pet>(inverse: \.kennel)

  init(_ name: String) { self.name = name }

  static let schema = EntitySchema<Kennel>(
    "Kennel",
    attributes: [
      .init("name", \.name), .derived("sortName", \.sortName, .canonical(\.name)),
      .derived("petCount", \.petCount, .count(pets)),
      .derived("length", \.length, .function(version: 3) { $0.name.count }),
    ],
    relationships: [.init("pets", pets)], rules: [RecordRule("has a name", format: "name != ''")])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    sortName = try reader.read()
    petCount = try reader.read()
    length = try reader.read()
  }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

private struct Pet: Entity {
  var id = RecordID<Pet>()
  var name: String
  var kennel: Kennel.ID?
  private(set) var shout = ""

  init(_ name: String, _ kennel: Kennel.ID?) {
    self.name = name
    self.kennel = kennel
  }

  static let schema = EntitySchema<Pet>(
    "Pet",
    attributes: [
      .init("name", \.name), .toOne("kennel", \.kennel),
      .derived("shout", \.shout, .uppercase(\.name)),
    ], unique: [[\.name]], rules: [RecordRule("has a name", format: "name != ''")])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    kennel = try reader.read()
    shout = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(kennel)
  }
}

private struct OldPet: Entity {
  var id = RecordID<OldPet>()
  var name: String
  var kennel: Int

  static let schema = EntitySchema<OldPet>(
    "Pet", attributes: [.init("name", \.name), .init("kennel", \.kennel)])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    kennel = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(kennel)
  }
}

@Suite struct `A model in kvdump` {
  private func folder() throws -> StoreFolder {
    let folder = try StoreFolder()
    let store = try Store(at: folder.store, entities: [Kennel.self, Pet.self])
    try store.write { tx throws in
      let kennel = try tx.insert(Kennel("Été"))
      try tx.insert(["Rex", "Ace"].map { Pet($0, kennel.id) })
    }
    store.close()
    return folder
  }

  @Test func `schema shows derived attributes and rules as sentences`() async throws {
    let folder = try folder()
    let outcome = await folder.run("schema", "--format", "table", "--color", "never")
    for note in [
      "Kennel.sortName: derived, canonical form of name",
      "Kennel.petCount: derived, count over pets",
      "Kennel.length: derived, function of a program, version 3",
      "Kennel: rule 'has a name': name != ''",
    ] {
      #expect(outcome.messages.contains(note), "\(outcome.messages)")
    }
    let objects = await folder.run("schema", "Kennel", "--format", "jsonl")
    #expect(objects.data.contains(#""derived":"count over pets""#), "\(objects.data)")
    #expect(objects.data.contains(#""rules":[{"name":"has a name","condition":"name != ''"}]"#))
  }

  @Test func `derived attributes and rules stay when kvdump writes`() async throws {
    let folder = try folder()
    let update = await folder.run("update", "Pet", "name == 'Rex'", "name=Max", "--yes")
    #expect(update.status == .success, "\(update.messages)")
    let derived = await folder.run("update", "Pet", "name == 'Max'", "shout=x", "--yes")
    #expect(derived.status != .success && derived.messages.contains("'shout' is derived"))
    let file = folder.path + "/pets.jsonl"
    let lines = #"{"name": "Zoe", "kennel": 1, "shout": "no"}"# + "\n" + #"{"name": ""}"# + "\n"
    try lines.write(toFile: file, atomically: true, encoding: .utf8)
    let imported = await folder.run("import", file, "--entity", "Pet", "--unique", "name")
    #expect(imported.messages.contains("has a name"), "\(imported.messages)")
    let pets = await folder.run("records", "Pet", "--format", "jsonl")
    #expect(pets.data.contains(#""name":"Zoe""#) && pets.data.contains(#""shout":"ZOE""#))
    #expect(pets.data.contains(#""shout":"MAX""#), "\(pets.data)")
    let kennels = await folder.run("records", "Kennel", "--format", "jsonl")
    #expect(kennels.data.contains(#""petCount":3"#), "\(kennels.data)")
    let refused = await folder.run("update", "Kennel", "--all", "name=x", "--yes")
    #expect(
      refused.status != .success && refused.messages.contains("'length' is derived by a function"))
    let deleted = await folder.run("delete", "Pet", "name == 'Ace'", "--yes")
    #expect(deleted.status == .success, "\(deleted.messages)")
    let verified = await folder.run("verify")
    #expect(verified.status == .success, "\(verified.messages)")
  }

  @Test func `schema lists the changes to another file's schema`() async throws {
    let folder = try folder()
    let older = try StoreFolder()
    try Store(at: older.store, entities: [OldPet.self]).close()
    let same = await folder.run("schema", "--diff", folder.store, "--format", "table")
    #expect(same.status == .success && same.messages.contains("nothing would change"))
    let refused = await folder.run("schema", "--diff", older.store, "--format", "jsonl")
    #expect(refused.status == .negative)
    #expect(refused.data.contains(#""cost":"refused""#) && refused.data.contains("Pet.kennel"))
    let added = await older.run("schema", "Kennel", "--diff", folder.store, "--format", "jsonl")
    #expect(added.data.contains(#"{"entity":"Kennel","change":"new entity","cost":"free"}"#))
  }

  @Test func `schema names the other file if it is unreadable or lacks the entity`()
    async throws
  {
    let folder = try folder()
    let older = try StoreFolder()
    try Store(at: older.store, entities: [OldPet.self]).close()
    let missing = folder.path + "/missing.lodestore"
    let absent = await folder.run("schema", "--diff", missing)
    #expect(absent.status == .noInput && absent.messages.contains("\(missing): no store there"))
    let noStore = folder.path + "/text.lodestore"
    try String(repeating: "text ", count: 10_000)
      .write(toFile: noStore, atomically: true, encoding: .utf8)
    let text = await folder.run("schema", "--diff", noStore)
    #expect(text.status == .damagedData && text.messages.contains(noStore), "\(text.messages)")
    #expect(!text.messages.contains(folder.store), "\(text.messages)")
    let unknown = await folder.run("schema", "Kennel", "--diff", older.store)
    #expect(unknown.status == .usage)
    #expect(unknown.messages.contains("\(older.store): has no entity \"Kennel\""))
  }
}
